"""The schema of run records is made from their type, and holds what the type cannot say."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from checkout import ROOT
from records_factory import as_then, run_record

from framewatt.base.schema import Validator
from framewatt.base.typed_schema import OPEN, UNCHECKED, Keywords, schema_of, schema_text
from framewatt.runs.records import SCHEMA_VERSION
from framewatt.study.records import VERSIONS, run_schema

VALIDATOR = Validator(run_schema())


def test_the_committed_schema_is_that_of_the_type() -> None:
    committed = (ROOT / "config" / "schemas" / "run.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(run_schema()), "run `make schemas`"


def test_what_is_written_is_of_the_last_version() -> None:
    assert max(VERSIONS) == SCHEMA_VERSION


class Inner(TypedDict):
    share: Annotated[float, Keywords(minimum=0, maximum=1), "Of the whole."]


class Outer(TypedDict):
    kind: Literal["a", "b"] | None
    only: NotRequired[Literal[True]]
    inner: Inner | None
    many: dict[str, list[int]]
    open: Annotated[Inner, OPEN]
    unchecked: Annotated[Inner | None, UNCHECKED]
    either: Inner | dict[str, bool]


def test_every_form_of_a_type_has_its_schema() -> None:
    share = {"type": "number", "minimum": 0, "maximum": 1, "description": "Of the whole."}
    inner = {"required": ["share"], "properties": {"share": share}}
    closed = {"type": "object", "additionalProperties": False, **inner}
    assert schema_of(Outer) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["kind", "inner", "many", "open", "unchecked", "either"],
        "properties": {
            "kind": {"enum": ["a", "b", None]},
            "only": {"const": True},
            "inner": {**closed, "type": ["object", "null"]},
            "many": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
            "open": {"type": "object", **inner},
            "unchecked": {"type": ["object", "null"]},
            "either": {"oneOf": [closed, {"type": "object", "additionalProperties": {"type": "boolean"}}]},
        },
    }


def test_a_type_without_a_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="has no JSON schema"):
        schema_of(tuple[int, int])


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_earlier_record_has_its_own_names_and_no_others(version: int) -> None:
    record = as_then(run_record(), version)
    assert VALIDATOR.is_valid(record)
    assert not VALIDATOR.is_valid({**record, "units": None})
    assert not VALIDATOR.is_valid({**record, "schema_version": 4})


@pytest.mark.parametrize("version", [4, 5, 6])
def test_a_record_since_version_4_has_the_new_names_and_no_others(version: int) -> None:
    record: dict[str, Any] = run_record(schema_version=version)
    assert VALIDATOR.is_valid(record)
    assert not VALIDATOR.is_valid({**record, "metrics": {}})
    epoch = {"epoch": 1, "loss_mean": 0.5, "units": 3, "quality": {}}
    assert VALIDATOR.is_valid({**record, "epochs": [epoch]})
    assert not VALIDATOR.is_valid({**record, "epochs": [{**epoch, "metrics": {}}]})


def test_only_a_record_of_version_1_lacks_the_hash_of_its_job() -> None:
    first = as_then(run_record(), 1)
    del first["job_sha256"]
    assert VALIDATOR.is_valid(first)
    assert not VALIDATOR.is_valid({**first, "schema_version": 2})
