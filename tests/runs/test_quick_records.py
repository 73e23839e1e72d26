"""The quick validator of run records never lets through what the one that is told by refuses."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from records_factory import energy, run_record, window

from framewatt.runs import records

VALUES = (
    None,
    -1,
    0,
    1.5,
    2**70,
    True,
    "",
    "x",
    "a\n",
    "2026-01-01T00:00:00+00:00\n",
    "0" * 64,
    "0" * 64 + "\n",
    [],
    {},
)
_TRIED = 600


def places(content: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*here, key)
        yield from places(value, (*here, key))


def with_value(record: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at a place; of `KeyError`, with none there; of `NameError`, with a key more."""
    found = copy.deepcopy(record)
    *above, last = place
    inside = found
    for key in above:
        inside = inside[key]
    if value is KeyError:
        del inside[last]
    elif value is NameError:
        (inside if isinstance(inside, dict) else found)["one more"] = 1
    else:
        inside[last] = value
    return found


def test_both_validators_agree_on_every_kind_of_damage() -> None:
    pytest.importorskip("jsonschema_rs")
    record = run_record({"cpu:package-0": energy(100.0), "cpu:dram-0": energy(None)})
    record["windows"]["epoch-1"] = window({"cpu:package-0": energy(3.0)})
    quick, told = records._quick_validator(), records._validator()
    assert quick.is_valid(record)
    assert told.is_valid(record)
    damages = [(place, value) for place in places(record) for value in (*VALUES, KeyError, NameError)]
    tried = [damages[number] for number in np.random.default_rng(1).permutation(len(damages))[:_TRIED]]
    refused = 0
    for place, value in tried:
        damaged = with_value(record, place, value)
        valid = told.is_valid(damaged)
        refused += not valid
        assert quick.is_valid(damaged) == valid, (place, value)
    assert refused > _TRIED // 3


def test_what_the_quick_validator_refuses_is_told_by_the_other(tmp_path: Any) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"schema_version": 5}')
    with pytest.raises(
        records.FramewattError, match=r"the record: .* is a required property\. Use what config/schemas/run\.schema"
    ):
        records.read_run(path)
