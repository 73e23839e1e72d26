"""What a run and what others worked is told apart on a simulated kernel, as tests/measured/test_neighbour.py does.

A worker works 2 s, half a second of it in a child, and then rests; a neighbour may start in the middle.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from disturbed import RUNNER, SAMPLER, TICKS, WORKER, Kernel, Process, kernel
from witness_scenes import S, play

from framewatt.energy.accounting import spans_of, windows_of
from framewatt.meters.trace import Trace

pytestmark = pytest.mark.usefixtures("two_processors")

STEP_S = 0.1
"""Seconds between two readings of the witness."""

TICK_S = 1 / TICKS
START_S, END_S = 0.995, 3.505
"""The window, of a worker that starts at second 1 and ends at 3.5; the sampler reads the witness soon after an edge."""

CHILD = 201


def worker(scene: Kernel, time_s: float, others: float) -> None:
    """Let a step pass: the worker burns 0.7 s, waits for a child that burns 0.5 s, burns 0.8 s and sleeps 0.5 s."""
    step = round(STEP_S * TICKS)
    since_s = round(time_s - 1.0, 6)
    busy = step if 0 < since_s <= 2.0 else 0
    if 0.7 < since_s <= 1.2:
        scene.processes.setdefault(CHILD, Process(WORKER, started=2000)).cpu += busy
    else:
        if CHILD in scene.processes:
            scene.processes[WORKER].waited += scene.processes.pop(CHILD).cpu
        scene.processes[WORKER].cpu += busy
    # The sampling process works, too, and its runner waits.
    own = 1 if round(time_s / STEP_S) % 2 == 0 else 0
    scene.processes[SAMPLER].cpu += own
    scene.idle += 2 * step - busy - own - round(others * step)


def window_of(trace: Trace) -> dict:
    """Return the worker's window as a run record has it."""
    edges = (("start", START_S), ("end", END_S))
    events = [{"window": "steady", "edge": edge, "monotonic_ns": round(second * S)} for edge, second in edges]
    return windows_of(spans_of(events), trace, {"domains": {}})["steady"]


def played(folder: Path, others: Callable[[float], float]) -> dict:
    """Return the window's witness; `others` is the share of a processor that others take up to a second."""
    scene = kernel(folder)
    trace = play(scene, lambda scene, time_s: worker(scene, time_s, others(time_s)), STEP_S, until_s=3.8)
    assert {RUNNER, SAMPLER, WORKER} <= set(scene.processes)
    return window_of(trace)["witness"]


def test_the_work_of_a_run_and_of_all_others_is_separated_to_a_few_ticks(tmp_path: Path) -> None:
    witness = played(tmp_path, lambda _: 0.0)
    assert witness["unknown"] is None
    assert witness["run_cpu_s"] == pytest.approx(2.0, abs=TICK_S)
    assert witness["others_cpu_s"] == pytest.approx(0.0, abs=TICK_S)
    whole_s = witness["run_cpu_s"] + witness["own_cpu_s"] + witness["others_cpu_s"]
    assert whole_s == pytest.approx(witness["machine_cpu_s"], abs=TICK_S)
    assert witness["own_cpu_s"] == pytest.approx((END_S - START_S) / (2 * STEP_S) * TICK_S, abs=TICK_S)
    assert witness["disturbed"] == []


@pytest.mark.parametrize("since_s", [0.0, 1.5, 3.0])
def test_a_neighbour_that_starts_in_the_middle_does_not_pass_unflagged(since_s: float, tmp_path: Path) -> None:
    witness = played(tmp_path, lambda time_s: 1.0 if time_s > since_s else 0.0)
    inside_s = END_S - max(since_s, START_S)
    assert witness["others_cpu_s"] == pytest.approx(inside_s, abs=2 * TICK_S)
    assert witness["run_cpu_s"] == pytest.approx(2.0, abs=TICK_S)
    share = 100 * inside_s / 2 / (END_S - START_S)
    (cause,) = witness["disturbed"]
    assert cause.startswith("other work took ")
    assert float(cause.split()[3]) == pytest.approx(share, abs=1.0)


def test_a_neighbour_that_ends_before_the_window_is_not_flagged(tmp_path: Path) -> None:
    witness = played(tmp_path, lambda time_s: 1.0 if time_s < 0.9 else 0.0)
    assert witness["others_cpu_s"] == pytest.approx(0.0, abs=TICK_S)
    assert witness["disturbed"] == []
