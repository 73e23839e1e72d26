"""The processes that put a machine under load, in real time: they begin and end when they are to."""

import itertools
import time

import pytest

from framewatt.base.errors import FramewattError
from framewatt.characterisation.loads import loads, planned
from framewatt.characterisation.schedule import ALL_CORES, GPU, ONE_CORE


@pytest.mark.measured(
    twin="tests/characterisation/test_characterisation_summary.py::test_loads_run_when_they_are_planned_and_no_longer"
)
def test_loads_burn_when_they_are_to_and_no_longer() -> None:
    with loads([ONE_CORE, ALL_CORES, GPU], ["/nowhere/python"]) as load:
        assert "/nowhere/python" in load.missing[GPU]
        plan = planned(load.names, 2, 0.5)
        stretches = load.run(plan)
    assert [stretch.load for stretch in stretches] == [name for name, _ in plan]
    for before, after in itertools.pairwise(stretches):
        assert 0 <= after.start_ns - before.end_ns < 300_000_000
    assert all(stretch.duration_s == pytest.approx(0.5, abs=0.35) for stretch in stretches)
    with (
        loads([ALL_CORES]) as load,
        pytest.raises(FramewattError, match=r"begin_ns is .* s in the past"),
    ):
        load.run(plan, time.monotonic_ns() - 10**9)
