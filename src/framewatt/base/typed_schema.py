"""JSON schemas made from TypedDict classes, so that a file format is defined once, for mypy and for validation.

A field's annotation gives its type. `Annotated` adds what types cannot say: a text is the description, `Keywords` are
keywords of JSON schema, `UNCHECKED` leaves the content of an object or array to mypy, and `Any` leaves everything open.
"""

import json
import types
from collections.abc import Iterable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]

WIDTH = 120
"""Longest line of a schema file."""


class Keywords:
    """Keywords of JSON schema for an annotation, such as `Keywords(minimum=0)`."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords


OPEN = Keywords(additionalProperties=True)
"""An object that may have further keys."""

UNCHECKED = object()
"""An object or array with content that the schema does not check."""

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(annotation: Any) -> Schema:
    """Return the JSON schema of an annotation.

    Args:
        annotation: `str`, `int`, `float`, `bool`, `None`, `Literal`, `list`, `dict` with keys of text, a TypedDict, a
            union of these, each perhaps `Annotated`.

    Raises:
        TypeError: an annotation of another kind.
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    schema: Schema | None = {} if annotation is Any else None
    if origin in (NotRequired, Required):
        schema = schema_of(arguments[0])
    elif origin is Annotated:
        schema = _annotated(schema_of(arguments[0]), arguments[1:])
    elif origin in (Union, types.UnionType):
        schema = _union([schema_of(argument) for argument in arguments])
    elif origin is Literal:
        schema = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    elif origin is list:
        schema = {"type": "array"} | ({} if arguments[0] is Any else {"items": schema_of(arguments[0])})
    elif origin is dict and arguments[0] is str:
        schema = {"type": "object"}
        schema |= {} if arguments[1] is Any else {"additionalProperties": schema_of(arguments[1])}
    elif is_typeddict(annotation):
        schema = _object(annotation)
    elif annotation in _NAMES:
        schema = {"type": _NAMES[annotation]}
    if schema is None:
        raise TypeError(f"{annotation!r} has no JSON schema. Use a type that schema_of lists.")
    return schema


def _annotated(schema: Schema, metadata: Iterable[Any]) -> Schema:
    for entry in metadata:
        if entry is UNCHECKED:
            schema = {"type": schema["type"]}
        elif isinstance(entry, str):
            schema = {**schema, "description": entry}
        elif isinstance(entry, Keywords):
            schema = {**schema, **entry.keywords}
    if schema.get("additionalProperties") is True:
        del schema["additionalProperties"]
    return schema


def _union(schemas: list[Schema]) -> Schema:
    """Return one schema with several types where at most one of them has further keywords; else `oneOf`."""
    plain = [schema for schema in schemas if schema.keys() == {"type"}]
    others = [schema for schema in schemas if schema not in plain]
    if len(others) > 1:
        return {"oneOf": [*others, *plain]}
    names = [schema["type"] for schema in plain]
    if not others:
        return {"type": names}
    if "enum" in others[0] and names == ["null"]:
        return {**others[0], "enum": [*others[0]["enum"], None]}
    return {**others[0], "type": [others[0]["type"], *names]}


def _object(definition: Any) -> Schema:
    hints = get_type_hints(definition, include_extras=True)
    required = [name for name in hints if name in definition.__required_keys__]
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": {name: schema for name, hint in hints.items() if (schema := schema_of(hint))},
    }


def schema_text(schema: Schema) -> str:
    """Return a schema as the text of its file: what fits into a line is on one line."""
    return _text(schema, "") + "\n"


def _text(value: Any, indent: str, before: int = 0) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + before + len(line) < WIDTH or not isinstance(value, Mapping | list) or not value:
        return line
    inner = f"{indent} "
    if isinstance(value, Mapping):
        heads = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        parts = [f"{head}{_text(part, inner, len(head))}" for head, part in zip(heads, value.values(), strict=True)]
    else:
        parts = [_text(part, inner) for part in value]
    start, end = "{}" if isinstance(value, Mapping) else "[]"
    return f"{start}\n" + ",\n".join(f"{inner}{part}" for part in parts) + f"\n{indent}{end}"
