"""Records held small are the records, and going over them keeps none."""

import gc
import json
import tracemalloc
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from records_factory import run_record

from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.runs.clocks import steps_between
from framewatt.runs.records import StoredRecord, StoredRecords

RUNS = 300

AT_HAND = 3
"""Records that may be there at once: the one that is read, and what the loop before it still names."""


def records() -> dict[Path, dict[str, Any]]:
    """Of one cell, each as its file gives it: no text of one is shared with another."""
    text = json.dumps(run_record(cell_id="a"))
    return {Path("a", str(n)): json.loads(text) | {"repetition": n, "position": RUNS - n} for n in range(1, RUNS + 1)}


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"n": 2**64 - 1, "x": 0.1 + 0.2, "null": None, "no": False},
        {"text": "Ж 漢 \ud800 \x00"},
        {"deep": [[{"": []}]]},
    ],
)
def test_a_record_is_made_as_it_was(told: dict[str, Any]) -> None:
    made = StoredRecord(told).load()
    assert made == told
    assert [type(value) for value in made.values()] == [type(value) for value in told.values()]


def test_what_is_changed_in_a_record_that_was_made_is_changed_in_that_one_alone() -> None:
    held = StoredRecords.from_records(records().items())
    path = next(iter(held))
    held[path]["windows"].clear()
    assert held[path] == records()[path]


def test_records_are_those_of_a_dictionary_in_its_order_or_in_another() -> None:
    held = StoredRecords.from_records(records().items())
    assert held == records()
    assert list(held) == list(records())
    ordered = held.sorted(lambda record: record["position"])
    assert [record["position"] for record in ordered.values()] == list(range(RUNS))
    assert ordered == held


def test_they_take_a_fifth_of_the_memory_of_dictionaries() -> None:
    def taken_b(make: Callable[[], Any]) -> int:
        # Once before, so that what is made only once, such as caches of libraries, is not counted.
        make()
        gc.collect()
        tracemalloc.start()
        try:
            kept = make()
            gc.collect()
            return tracemalloc.get_traced_memory()[0] if kept else 0
        finally:
            tracemalloc.stop()

    assert taken_b(lambda: StoredRecords.from_records(records().items())) < taken_b(records) / 5


def test_frames_of_held_records_are_those_of_dictionaries() -> None:
    held = StoredRecords.from_records(records().items()).values()
    for frame_of in (runs_frame, epochs_frame):
        assert frame_of(held).equals(frame_of(list(records().values())))


class Seen(dict[str, Any]):
    """A record of which one can ask whether it is still there."""

    __hash__ = object.__hash__  # type: ignore[assignment] # each is one of its own


class Counted:
    """Records that are made when they are gone over, and how many of them were there at once."""

    def __init__(self) -> None:
        self.most = 0
        self._there: weakref.WeakSet[Seen] = weakref.WeakSet()

    def __len__(self) -> int:
        return RUNS

    def __contains__(self, record: object) -> bool:
        return any(record == one for one in self)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for record in records().values():
            one = Seen(record)
            self._there.add(one)
            self.most = max(self.most, len(self._there))
            yield one


@pytest.mark.parametrize("frame_of", [runs_frame, epochs_frame, steps_between])
def test_what_goes_over_all_records_keeps_none(frame_of: Callable[[Collection[Mapping[str, Any]]], Any]) -> None:
    counted = Counted()
    frame_of(counted)
    assert 0 < counted.most <= AT_HAND


@pytest.mark.parametrize("frame_of", [runs_frame, epochs_frame])
def test_records_that_can_be_gone_over_once_give_no_frame_without_rows(frame_of: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="records: a generator can be read once only"):
        frame_of(record for record in records().values())
