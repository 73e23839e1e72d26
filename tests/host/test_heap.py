"""A heap that is kept: what is asked of glibc, and what a process really has."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from framewatt.base.errors import FramewattError
from framewatt.host.memory import KEEPING, RETURNED, heap_settings
from framewatt.runs import worker
from framewatt.runs.conditions import set_in
from framewatt.study.options import HEAP_STAYS

FILLING = """
import sys
from framewatt.host.memory import heap_in_force, _faults_of_filling
print(heap_in_force(), heap_in_force(), _faults_of_filling())
"""
"""Asked twice: the first question must not change the answer to the second."""


def asked(**variables: str) -> tuple[str, str, int]:
    """What a process with such variables says of its heap, twice, and its page faults over a block of 64 MiB."""
    source = str(Path(__file__).parents[2] / "src")
    plain = {name: value for name, value in os.environ.items() if name not in KEEPING}
    done = subprocess.run(
        [sys.executable, "-c", FILLING],
        env={**plain, "PYTHONPATH": source, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, faults = done.stdout.split()
    return first, second, int(faults)


def test_by_default_memory_goes_back_and_is_faulted_in_again() -> None:
    first, second, faults = asked()
    assert (first, second) == (RETURNED, RETURNED)
    assert faults >= 31, "a page of 2 MiB each at most"


def test_a_heap_that_is_kept_has_no_page_faults() -> None:
    first, second, faults = asked(**heap_settings({"options": {"heap": HEAP_STAYS}}))
    assert (first, second) == (HEAP_STAYS, HEAP_STAYS)
    assert faults < 16


@pytest.mark.parametrize("name", KEEPING)
def test_either_variable_alone_does_not_keep_it(name: str) -> None:
    assert asked(**{name: KEEPING[name]})[0] == RETURNED


@pytest.mark.parametrize("job", [{}, {"options": {}}, {"options": {"threads": 1}}])
def test_a_cell_that_names_no_heap_has_no_variables(job: dict[str, Any]) -> None:
    assert heap_settings(job) == {}


def test_a_run_under_another_allocator_fails_and_a_run_without_a_request_reports_its_allocator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "heap_in_force", lambda: RETURNED)
    assert worker.checked_heap({"options": {}}) == RETURNED
    with pytest.raises(FramewattError, match=r"heap: freed memory is returned .*cell requests kept") as raised:
        worker.checked_heap({"options": {"heap": HEAP_STAYS}})
    assert "\n" not in str(raised.value)


def test_variables_that_a_user_set_are_reported_and_those_of_the_cell_are_not() -> None:
    assert set_in(KEEPING) == KEEPING
    assert set_in({**KEEPING, "MALLOC_ARENA_MAX": "1"}, KEEPING) == {"MALLOC_ARENA_MAX": "1"}
