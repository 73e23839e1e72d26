"""Real meters on scripted hardware in real time: what needs the real process, the real programs and the real clock.

Every case is played on simulated time in tests/energy/test_cases_simulated.py; here, one play takes some 12 s.
"""

import pytest
from hardware.case import play_case
from hardware.cases import IN_REAL_TIME
from hardware.namespaces import namespaces_allowed
from hardware.powercap import STEP_S
from hardware.right import assert_right

EVERY_METER = {"rapl", "perf", "pyrapl", "nvml", "nvml power", "nvml average", "nvidia-smi", "external", "estimate"}
EVERY_METER.add("nvidia-smi 1 Hz")

LONGEST_HOLD_S = 0.08
"""Counters may be held up for so long, and as much of their power may be missing; after 0.1 s they would be frozen."""

pytestmark = pytest.mark.skipif(
    not namespaces_allowed(), reason="this machine does not let a user make namespaces (unshare --map-root-user)"
)


def played(name: str) -> dict:
    """Play a case, and demand of every meter that it is right or says why it is not."""
    assert name in [case.name for case in IN_REAL_TIME]
    found = play_case(name, longest_hold_s=LONGEST_HOLD_S)
    assert {row["meter"] for row in found["rows"]} == EVERY_METER
    for row in found["rows"]:
        assert_right(row, max(STEP_S, found["delayed_s"]))
    return found


@pytest.mark.measured(twin="tests/energy/test_cases_simulated.py::test_every_meter_is_right_or_states_why_it_is_not")
def test_every_meter_is_right_whatever_the_wall_clock_shows_and_a_divided_gpu_is_flagged() -> None:
    found = played("every meter, constant 100 W, a divided GPU, and the wall clock set ahead")
    for row in found["rows"]:
        if row["domain"] == "gpu:0":
            assert "the GPU is divided (MIG): its energy is all its instances'" in row["flags"], row["meter"]


@pytest.mark.measured(twin="tests/energy/test_cases_simulated.py::test_every_meter_is_right_or_states_why_it_is_not")
def test_every_meter_follows_a_load_that_changes_each_second() -> None:
    played("every meter, bursts of 1 s")


@pytest.mark.measured(
    twin="tests/energy/test_cases_simulated.py::test_a_sampling_process_that_ends_reports_it_in_the_run"
)
def test_a_killed_sampler_gives_no_energy_and_reports_it_in_the_run() -> None:
    assert played("the sampler is killed")["errors"] == ["the sampling process died or hung"] * 2


@pytest.mark.measured(
    twin="tests/energy/test_cases_simulated.py::test_it_does_not_matter_when_the_sampling_process_does_not_run"
)
def test_a_stopped_sampler_costs_the_energy_of_gauges_alone() -> None:
    assert played("the sampler is stopped for 1.5 s")["errors"] == []


@pytest.mark.measured(
    twin="tests/energy/test_cases_simulated.py::test_it_does_not_matter_when_the_sampling_process_does_not_run"
)
def test_a_starved_sampler_is_right_or_states_why_it_is_not() -> None:
    assert played("the sampler is starved")["errors"] == []


@pytest.mark.measured(
    twin="tests/energy/test_cases_simulated.py::test_a_sampling_process_that_ends_reports_it_in_the_run"
)
def test_a_full_disk_gives_no_energy_and_reports_it_in_the_run() -> None:
    (error, *_) = played("the disk is full")["errors"]
    assert "No space left on device" in error
