"""Which runs are set aside: by what others did and by the order of the runs, never by what a run came to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from records_factory import run_record, window

from framewatt.runs.aside import ASIDE, is_aside, set_aside
from framewatt.runs.verdict import counts
from framewatt.witness.judgement import Seen, judge_window

ASIDE_STUDY = {"disturbance": "set_aside"}
BUSY = [{"topic": "load", "found": "1.0 processors busy", "meaning": "", "remedy": ""}]


def witness(others: float = 0.0, steal: float = 0.0, memory: float = 0.0, io: float = 0.0) -> dict[str, Any]:
    """What is said of a window of 10 s on two processors, of which others take these shares."""
    seen = Seen(
        10.0, 0.0, 2.0, 20 * others, 20 * steal, {"cpu": 0.0, "memory": 10 * memory, "io": 10 * io}, 0.0, 0.0, 0.0
    )
    return judge_window(seen)


def run_of(sequence: int, found: Mapping[str, Any] | None = None, **change: Any) -> tuple[Path, dict[str, Any]]:
    """The run of that number in the order of a study, with its path; of the first block, if no other is given."""
    name, repetition = change.pop("cell", f"cell-{sequence}"), change.get("repetition", 1)
    steady = window({"cpu:package-0": run_record()["windows"]["process"]["domains"]["cpu:package-0"]})
    windows = {"process": steady, "steady": steady | {"witness": found or witness()}}
    chain = {"sequence": sequence, "previous_sha256": "0" * 64}
    path = Path("results/some/measure", name, str(repetition), "run.json")
    return path, run_record(windows=windows, chain=chain, cell_id=name, **change)


def reasons(*runs: tuple[Path, dict[str, Any]], settings: Mapping[str, Any] = ASIDE_STUDY) -> dict[str, str]:
    """Why runs are set aside, by cell; those that are must not count, and all others stay as they are."""
    held = set_aside(runs, settings)
    assert list(held) == [path for path, _ in runs]
    told = {}
    for path, record in runs:
        if is_aside(held[path]):
            assert not counts(held[path])
            (reason,) = [one for one in held[path]["reasons"] if one.startswith(ASIDE)]
            told[record["cell_id"]] = reason.removeprefix(ASIDE)
        else:
            assert held[path] == record
    return told


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (witness(others=0.3), "other work took 30 % of the processors"),
        (witness(steal=0.3), "the hypervisor took 30 % of the processors"),
        (
            witness(others=0.15, steal=0.15),
            "other work took 15 % of the processors; the hypervisor took 15 % of the processors",
        ),
        (witness(memory=0.4), "tasks waited for memory for 40 % of the time"),
        (witness(io=0.4), "tasks waited for disks for 40 % of the time"),
        (witness(others=0.5, memory=0.02), "other work took 50 % of the processors"),
        (witness(others=0.24), None),
        (witness(memory=0.2, io=0.2), None),
        ({**witness(others=0.9), "disturbed": None}, None),
    ],
)
def test_a_run_is_set_aside_where_others_took_more_than_a_quarter(found: dict, reason: str | None) -> None:
    assert reasons(run_of(1, found)) == ({"cell-1": reason} if reason else {})


@pytest.mark.parametrize("policy", ["flag", "repeat", "invalid"])
def test_other_studies_set_nothing_aside(policy: str) -> None:
    assert reasons(run_of(1, witness(others=0.9)), settings={"disturbance": policy}) == {}


def test_neighbours_are_set_aside_unless_the_machine_was_quiet_in_between() -> None:
    busy = witness(others=0.5)
    by = "a run that others disturbed (other work took 50 % of the processors)"
    before, after = f"measured just before {by}", f"measured just after {by}"
    assert set(reasons(run_of(1), run_of(2, busy), run_of(3))) == {"cell-2"}
    assert reasons(run_of(1), run_of(2, busy, preflight=BUSY), run_of(3))["cell-1"] == before
    assert reasons(run_of(1), run_of(2, busy), run_of(3, preflight=BUSY))["cell-3"] == after
    # The order is that of measuring, not that of the plan, and runs beside neighbours stay.
    runs = [run_of(4), run_of(3, preflight=BUSY), run_of(2, busy, preflight=BUSY), run_of(1)]
    assert set(reasons(*runs)) == {"cell-1", "cell-2", "cell-3"}


def test_what_is_known_after_a_block_stays_known() -> None:
    """A run of a later block says nothing of an earlier one: the study may have stopped between them."""
    busy = witness(others=0.5)
    late = run_of(2, busy, preflight=BUSY, repetition=2)
    assert set(reasons(run_of(1), late)) == {"cell-2"}
    assert set(reasons(run_of(1, repetition=2), run_of(2, busy, preflight=BUSY))) == {"cell-1", "cell-2"}


def test_a_first_try_that_was_disturbed_has_neighbours_too() -> None:
    first = {"attempt": 1, "sequence": 2, "run_sha256": "0" * 64, "duration_s": 10.0, "energy_gross_j": {}}
    told = first | witness(others=0.5) | {"after_load": True}
    assert set(reasons(run_of(1), run_of(3, first_try=told), run_of(4))) == {"cell-1"}
    # The machine was not quiet between the tries.
    assert set(reasons(run_of(1), run_of(3, first_try=told, preflight=BUSY))) == {"cell-1", "cell-3"}
    # Of little disturbance, which a run is repeated for, too, the neighbours have nothing.
    assert reasons(run_of(1), run_of(3, first_try=first | witness(others=0.1) | {"after_load": True})) == {}
    # Records from before say neither how much it was, nor whether others were busy before it.
    assert set(reasons(run_of(1), run_of(3, first_try={**first, "disturbed": ["x"]}))) == {"cell-1"}


def test_runs_of_other_nodes_and_runs_that_do_not_count_are_left_alone() -> None:
    busy = witness(others=0.5)
    assert set(reasons(run_of(1, node="n1"), run_of(2, busy, preflight=BUSY, node="n2"))) == {"cell-2"}
    assert reasons(run_of(1, busy, valid=False, reasons=["no meter gave energy"])) == {}
    path, record = run_of(1, busy)
    del record["chain"]  # of an imported run
    assert reasons((path, record)) == {}
