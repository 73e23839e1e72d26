"""Validates configuration files by their JSON schemas: fills in defaults, and reports a wrong value in one line."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import ValidationError

from framewatt.base.errors import FramewattError
from framewatt.base.schema import Validator, unseen_text
from framewatt.base.yaml_text import parse_yaml


def load_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping.

    Raises:
        FramewattError: the file is missing, is not YAML, is too large, or holds something other than a mapping.
    """
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml"))) or "none"
        raise FramewattError(f"{path}: no such file. Name a YAML file; in that folder: {known}.")
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except (FramewattError, UnicodeDecodeError) as error:
        raise FramewattError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise FramewattError(f"{path} is {type(content).__name__}, not a mapping. Write lines of `key: value`.")
    return content


def validate(content: Mapping[str, Any], schema: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return `content` with the schema's defaults filled in.

    Args:
        content: content of the file.
        schema: JSON schema, draft 2020-12; its keys have `description` and `default`.
        source: name of the file, for the message.

    Raises:
        FramewattError: a value is wrong; the message has the file, the key, the value and what to write.
    """
    unseen = unseen_text(content)
    if unseen:
        raise FramewattError(f"{source}: {unseen[0]}: {unseen[1]!r} has invisible characters. Remove them.")
    errors = sorted(Validator(dict(schema)).iter_errors(content), key=lambda e: [str(p) for p in e.path])
    if errors:
        raise FramewattError(f"{source}: {_describe(errors[0])}")
    filled: dict[str, Any] = _with_defaults(content, schema)
    return filled


def _with_defaults(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        properties: Mapping[str, Any] = schema.get("properties", {})
        others = schema.get("additionalProperties")
        rest = others if isinstance(others, Mapping) else {}
        filled = {key: _with_defaults(item, properties.get(key, rest)) for key, item in value.items()}
        for key, sub in properties.items():
            if key not in filled and "default" in sub:
                filled[key] = _with_defaults(sub["default"], sub)
        return filled
    if isinstance(value, list):
        return [_with_defaults(item, schema.get("items", {})) for item in value]
    return value


def _describe(error: ValidationError) -> str:
    schema: Any = error.schema
    value: Any = error.validator_value
    instance: Any = error.instance
    key = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "anyOf" and (nearer := _error_in_mapping(error)):
        return _describe(nearer)
    if error.validator == "additionalProperties":
        allowed = sorted(schema["properties"])
        unknown = next(name for name in instance if name not in allowed)
        near = difflib.get_close_matches(str(unknown), allowed, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        where = f"{key}.{unknown}" if key else str(unknown)
        return f"{where} is not a known key. Use one of: {', '.join(allowed)}{hint}."
    if error.validator == "required":
        missing = next(name for name in value if name not in instance)
        where = f"{key}.{missing}" if key else missing
        described = schema.get("properties", {}).get(missing, {}).get("description", "a value")
        return f"{where} is missing. Add it: {described.rstrip('.')}."
    return f"{key or 'the file'}: {instance!r} is not allowed. Use {_allowed(schema)}."


def _error_in_mapping(error: ValidationError) -> ValidationError | None:
    """If a mapping fails an `anyOf` with one alternative that is a mapping of known keys: the error in that one."""
    several: Any = error.validator_value
    options = [number for number, option in enumerate(several) if "properties" in option]
    if not isinstance(error.instance, Mapping) or len(options) != 1:
        return None
    inside = [one for one in error.context or () if one.schema_path[0] == options[0]]
    return min(inside, key=lambda one: [str(part) for part in one.path], default=None)


def _allowed(schema: Mapping[str, Any]) -> str:
    """Return the values that a schema allows, in words."""
    if "anyOf" in schema:
        return " or ".join(_allowed(option) for option in schema["anyOf"])
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return ", ".join(repr(v) if v == "" else str(v) for v in schema["enum"])
    words = {
        "minimum": "at least {}",
        "exclusiveMinimum": "above {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "below {}",
        "pattern": "matching {}",
        "minItems": "with at least {} entry",
        "minLength": "with at least {} character",
        "minProperties": "with at least {} key",
        "maxProperties": "and at most {}",
    }
    kinds = {"array": "a list", "integer": "a whole number", "object": "a mapping", "string": "text"}
    parts = [kinds.get(schema.get("type", ""), f"a {schema.get('type', 'value')}")]
    parts += [f"of {', '.join(schema['properties'])}"] if "properties" in schema else []
    parts += [text.format(schema[name]) for name, text in words.items() if name in schema]
    if schema.get("uniqueItems"):
        parts.append("each once")
    return " ".join(parts)
