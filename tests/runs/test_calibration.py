"""Idle power, and whose it is."""

import re
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.host.machine import describe_machine
from framewatt.runs.calibration import check_apart, idle_here, measure_idle, same_meters
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


IDLE = {"job_sha256": "a", "machine": describe_machine(), "meters": [], "idle_s": 1, "domains": {}}


def test_a_calibration_of_this_session_is_taken() -> None:
    assert idle_here(IDLE, None) == IDLE
    assert idle_here({**IDLE, "node": "a"}, "a") == {**IDLE, "node": "a"}


@pytest.mark.parametrize(
    ("idle", "node", "told"),
    [
        ({"machine": {"session": "another"}}, None, "start snakemake again on this machine"),
        (
            {"machine": {"session": "another"}, "node": "a"},
            "a",
            "--forcerun results/<study>/calibrate/a/idle.json",
        ),
        ({"node": "b"}, "a", "found that of node b; allowed: that of node a"),
        ({}, "a", "found that of no node; allowed: that of node a"),
        ({"node": "b"}, None, "found that of node b; allowed: that of no node"),
    ],
)
def test_a_run_is_never_corrected_by_the_idle_power_of_another(idle: dict, node: str | None, told: str) -> None:
    with pytest.raises(FramewattError, match=re.escape(told)):
        idle_here({**IDLE, **idle}, node)


def test_nodes_with_other_meters_do_not_share_a_study() -> None:
    rapl, estimate = {"meters": ["rapl"], "node": "a"}, {"meters": ["estimate"], "node": "b"}
    assert same_meters(rapl, [rapl, {**rapl, "node": "b"}]) == ["rapl"]
    with pytest.raises(FramewattError, match="found rapl on node a and estimate on node b; allowed: the same"):
        same_meters(rapl, [rapl, estimate])


def test_two_names_of_one_machine_are_not_two_nodes() -> None:
    a, b, c = ({"node": node, "machine": {"session": boot}} for node, boot in (("a", "1"), ("b", "1"), ("c", "2")))
    check_apart(a, [a, c])
    with pytest.raises(FramewattError, match="found that a and b are one machine; allowed: one alias each"):
        check_apart(a, [a, c, b])


def test_an_image_and_its_host_are_one_node(tmp_path: Path) -> None:
    sessions = []
    for root, system, boot in (("host", "Debian 12", "1"), ("image", "Debian 13", "1"), ("rebooted", "Debian 12", "2")):
        for name, text in (("etc/os-release", f"PRETTY_NAME={system}"), ("proc/sys/kernel/random/boot_id", boot)):
            (tmp_path / root / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / root / name).write_text(text)
        sessions.append(describe_machine(tmp_path / root)["session"])
    host, image, rebooted = sessions
    assert host == image != rebooted
