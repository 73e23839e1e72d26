"""Operators that fail when they are called: each has its reason, even where it ends the process; others go on."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from framewatt.host.supervision import Outcome
from framewatt.runs import repeat_worker, repeated
from framewatt.workloads.repeaters import Case, UnrepeatableError, make_repeater

ENDS = "ends the process"


class EndedError(BaseException):
    """As a signal would."""


class Repeater:
    def make_call(self, case: Case) -> Callable[[], object]:
        if case.name == "unknown":
            raise UnrepeatableError("its arguments are unknown")

        def call() -> None:
            if case.name == "raises":
                raise RuntimeError("CUDA error: device-side assert\nCompile with TORCH_USE_CUDA_DSA")
            if case.name == ENDS:
                raise EndedError

        return call

    def synchronize(self) -> None: ...


def tried(monkeypatch: pytest.MonkeyPatch, *names: str) -> tuple[dict[int, str | None], list[list[int]]]:
    """What becomes of operators of some names, and those that each process was asked for."""
    monkeypatch.setattr(repeat_worker, "make_repeater", lambda *_: Repeater())
    monkeypatch.setattr(repeat_worker, "spec_of", lambda job: None)
    asked: list[list[int]] = []

    def work(job: Mapping[str, Any], environment: Any, scratch: Path, *_: Any) -> Outcome:
        path = scratch / "job.json"
        path.write_text(json.dumps({**job, "engine": "", "captured": "", "result": str(scratch / "result")}))
        asked.append(list(job["left"]))
        try:
            repeat_worker.try_each(str(path))
        except EndedError:
            return Outcome("killed by signal 11", 0, 0)
        return Outcome(None, 0, 0)

    monkeypatch.setattr(repeated, "work", work)
    cases = [Case(name, "[]", {}, (1,)) for name in names]
    return repeated._tried({}, cases, {}, Path("log"), None), asked  # type: ignore[arg-type]


def test_one_that_cannot_be_made_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = tried(monkeypatch, "fine", "unknown", "fine")
    assert found == {0: None, 1: "cannot be repeated: its arguments are unknown", 2: None}
    assert asked == [[0, 1, 2]]


def test_after_one_that_raises_the_rest_is_called_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = tried(monkeypatch, "fine", "raises", "fine")
    assert found == {0: None, 1: "cannot be repeated: RuntimeError: CUDA error: device-side assert", 2: None}
    assert asked == [[0, 1, 2], [2]]


def test_one_that_ends_the_process_ends_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = tried(monkeypatch, ENDS, "fine", ENDS)
    ended = "cannot be repeated: killed by signal 11"
    assert found == {0: ended, 1: None, 2: ended}
    assert asked == [[0, 1, 2], [1, 2]]


def test_a_process_that_cannot_even_begin_is_not_started_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = []

    def work(*_: Any) -> Outcome:
        starts.append(1)
        return Outcome("timed out after 3 s", 0, 0)

    monkeypatch.setattr(repeated, "work", work)
    found = repeated._tried({}, [Case("a", "", {}, ())] * 2, {}, Path("log"), None)  # type: ignore[arg-type]
    assert found == dict.fromkeys((0, 1), "cannot be repeated: timed out after 3 s")
    assert len(starts) == 1


def test_an_engine_without_a_way_says_so() -> None:
    with pytest.raises(UnrepeatableError, match="framewatt has no way to call operators of mxnet alone"):
        make_repeater("mxnet", None, Path())  # type: ignore[arg-type]
