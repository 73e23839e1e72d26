"""Idle power, and whose it is."""

import json
from pathlib import Path

import pytest

from framewatt.host.machine import describe_machine
from framewatt.runs.calibration import idle_here, measure_idle
from framewatt.witness.window import others_at_rest

OPTIONS = {"period_s": 0.01, "estimate_idle_w_per_core": 2.0, "estimate_busy_w_per_core": 2.0}


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


def test_idle_power_is_measured_with_its_spread(tmp_path: Path) -> None:
    idle = measure_idle(["estimate"], OPTIONS, 0.5, tmp_path / "trace.bin")
    (domain,) = idle["domains"].values()
    # Busy or not, the estimate books 2 W a processor.
    assert domain["mean_power_w"] == pytest.approx(2.0 * (describe_machine()["processors"]), rel=0.02)
    assert domain["valid"]
    assert domain["sd_power_w"] is not None
    assert (idle["meters"], idle["idle_s"]) == (["estimate"], 0.5)


def test_idle_power_has_a_witness_to_whom_whoever_measures_is_no_other(tmp_path: Path) -> None:
    idle = measure_idle(["estimate"], OPTIONS, 1.0, tmp_path / "trace.bin")
    witness = idle["witness"]
    assert witness["run_cpu_s"] == pytest.approx(0, abs=0.02)
    assert witness["own_cpu_s"] > 0
    assert others_at_rest(idle) == witness["others_cpu_s"] / idle["duration_s"]


def test_a_calibration_of_this_node_is_taken(tmp_path: Path) -> None:
    idle = {"job_sha256": "a", "machine": describe_machine(), "meters": [], "idle_s": 1, "domains": {}}
    assert idle_here(idle, OPTIONS, tmp_path) == idle
    assert not list(tmp_path.iterdir())


def test_another_node_is_measured_once(tmp_path: Path) -> None:
    about = {"machine": {"session": "another"}, "meters": ["estimate"], "idle_s": 0.3, "domains": {}}
    elsewhere = {"job_sha256": "a", **about}
    here = idle_here(elsewhere, OPTIONS, tmp_path)
    assert here["machine"]["session"] == describe_machine()["session"]
    assert here["domains"]["cpu:estimate"]["mean_power_w"] > 0
    (kept,) = tmp_path.iterdir()
    assert kept.name == f"idle_{here['machine']['session']}.json"
    kept.write_text(json.dumps({**here, "idle_s": 99}))
    assert idle_here(elsewhere, OPTIONS, tmp_path)["idle_s"] == 99
    assert idle_here({**elsewhere, "job_sha256": "b"}, OPTIONS, tmp_path)["idle_s"] == 0.3


def test_an_image_and_its_host_are_one_node(tmp_path: Path) -> None:
    sessions = []
    for root, system, boot in (("host", "Debian 12", "1"), ("image", "Debian 13", "1"), ("rebooted", "Debian 12", "2")):
        for name, text in (("etc/os-release", f"PRETTY_NAME={system}"), ("proc/sys/kernel/random/boot_id", boot)):
            (tmp_path / root / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / root / name).write_text(text)
        sessions.append(describe_machine(tmp_path / root)["session"])
    host, image, rebooted = sessions
    assert host == image != rebooted
