"""Idle power as the real sampling process measures it, and whose it is."""

from pathlib import Path

import pytest

from framewatt.host.machine import describe_machine
from framewatt.runs.calibration import measure_idle
from framewatt.witness.window import others_at_rest

OPTIONS = {"period_s": 0.01, "estimate_idle_w_per_core": 2.0, "estimate_busy_w_per_core": 2.0}


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


@pytest.mark.measured(
    twin="tests/runs/test_calibration.py::test_idle_power_is_that_of_the_time_in_which_nothing_was_begun"
)
def test_idle_power_is_measured_with_its_spread(tmp_path: Path) -> None:
    idle = measure_idle(["estimate"], OPTIONS, 0.5, tmp_path / "trace.bin")
    (domain,) = idle["domains"].values()
    # Busy or not, the estimate books 2 W a processor.
    assert domain["mean_power_w"] == pytest.approx(2.0 * (describe_machine()["processors"]), rel=0.02)
    assert domain["valid"]
    assert domain["sd_power_w"] is not None
    assert (idle["meters"], idle["idle_s"]) == (["estimate"], 0.5)


@pytest.mark.measured(twin="tests/runs/test_calibration.py::test_whoever_measures_idle_power_is_no_other")
def test_idle_power_has_a_witness_to_whom_whoever_measures_is_no_other(tmp_path: Path) -> None:
    idle = measure_idle(["estimate"], OPTIONS, 1.0, tmp_path / "trace.bin")
    witness = idle["witness"]
    assert witness["run_cpu_s"] == pytest.approx(0, abs=0.02)
    assert witness["own_cpu_s"] > 0
    assert others_at_rest(idle) == witness["others_cpu_s"] / idle["duration_s"]
