"""Idle power, and whose it is."""

import re
from pathlib import Path

import numpy as np
import pytest
from disturbed import SAMPLER, Kernel, kernel
from simulated_time import S, SimulatedTime
from witness_scenes import play

from framewatt.base.errors import FramewattError
from framewatt.host.machine import describe_machine
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.runs import calibration
from framewatt.runs.calibration import check_apart, idle_here, measure_idle, same_meters
from framewatt.witness.window import others_at_rest

OPTIONS = {"period_s": 0.01, "estimate_idle_w_per_core": 2.0, "estimate_busy_w_per_core": 2.0}


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


class Read:
    """A sampler that has read an estimate of 4 W, and the witness of a machine at rest, on simulated time.

    Args:
        clock: the time.
        folder: where the witness finds /proc and /sys.
    """

    settle_s = 0.2

    def __init__(self, clock: SimulatedTime, folder: Path) -> None:
        self._clock, self._folder = clock, folder

    def start(self) -> None: ...

    def stop(self) -> dict:
        return {"reads": 100}

    def trace(self) -> Trace:
        seen = play(kernel(self._folder), at_rest, step_s=0.1, until_s=2.0)
        time_ns = np.arange(0, 2 * S + 1, S // 100)
        estimate = Channel("estimate", "cpu:estimate", "energy_j", COUNTER, 0.01, period_s=0.01, estimated=True)
        return Trace(
            (estimate, *seen.channels),
            self._clock.start_ns + np.concatenate([time_ns, seen.monotonic_ns]),
            np.concatenate([np.zeros(len(time_ns), np.int32), seen.channel + 1]),
            np.concatenate([4.0 * time_ns / S, seen.value]),
        )


def at_rest(scene: Kernel, _: float) -> None:
    """A tenth of a second in which only the sampling process works, for a hundredth, and others for two."""
    scene.processes[SAMPLER].cpu += 1
    scene.idle += 10 * scene.processors - 3
    scene.ticked += 3


def idle_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idle_s: float) -> dict:
    clock = SimulatedTime()
    monkeypatch.setattr(calibration, "time", clock)
    monkeypatch.setattr(calibration, "Sampler", lambda *_, **__: Read(clock, tmp_path))
    idle = measure_idle(["estimate"], OPTIONS, idle_s, tmp_path / "trace.bin")
    assert clock.sleeps_s == [0.2, idle_s, 0.2]
    return idle


def test_idle_power_is_that_of_the_time_in_which_nothing_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = idle_of(tmp_path, monkeypatch, 0.5)
    (domain,) = idle["domains"].values()
    assert domain["mean_power_w"] == pytest.approx(4.0)
    assert domain["sd_power_w"] == pytest.approx(0, abs=0.01)
    assert (domain["valid"], domain["reasons"], domain["estimated"]) == (True, [], True)
    assert (idle["meters"], idle["idle_s"], idle["duration_s"]) == (["estimate"], 0.5, pytest.approx(0.5))
    assert (tmp_path / "idle-events").read_text() == "start\nend\n"


def test_whoever_measures_idle_power_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = idle_of(tmp_path, monkeypatch, 1.0)
    witness = idle["witness"]
    assert witness["run_cpu_s"] == pytest.approx(0)
    assert witness["own_cpu_s"] == pytest.approx(0.1)
    assert witness["others_cpu_s"] == pytest.approx(0.2)
    assert others_at_rest(idle) == witness["others_cpu_s"] / idle["duration_s"]


def test_the_real_sampler_measures_idle_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a busy machine makes of it: whether that is valid is told, and why not."""
    for limit in ("_START_TIMEOUT_S", "_STOP_TIMEOUT_S"):
        monkeypatch.setattr(f"framewatt.sampling.client.{limit}", 600.0)
    idle = measure_idle(["estimate"], OPTIONS, 0.5, tmp_path / "trace.bin")
    (domain,) = idle["domains"].values()
    assert domain["valid"] == (domain["reasons"] == []) == (domain["mean_power_w"] is not None)
    assert idle["duration_s"] >= 0.5
    # Where the witness began to read too late, nobody knows.
    own_s = idle["witness"]["own_cpu_s"]
    assert own_s is None or own_s >= 0


IDLE = {"job_sha256": "a", "machine": describe_machine(), "meters": [], "idle_s": 1, "domains": {}}


def test_a_calibration_of_this_session_is_taken() -> None:
    assert idle_here(IDLE, None) == IDLE
    assert idle_here({**IDLE, "node": "a"}, "a") == {**IDLE, "node": "a"}


@pytest.mark.parametrize(
    ("idle", "node", "told"),
    [
        ({"machine": {"session": "another"}}, None, "Start snakemake again on this machine"),
        (
            {"machine": {"session": "another"}, "node": "a"},
            "a",
            "--forcerun results/<study>/calibrate/a/idle.json",
        ),
        ({"node": "b"}, "a", "it was measured on node b, and this run is measured on node a"),
        ({}, "a", "it was measured on no node, and this run is measured on node a"),
        ({"node": "b"}, None, "it was measured on node b, and this run is measured on no node"),
    ],
)
def test_a_run_is_never_corrected_by_the_idle_power_of_another(idle: dict, node: str | None, told: str) -> None:
    with pytest.raises(FramewattError, match=re.escape(told)):
        idle_here({**IDLE, **idle}, node)


def test_nodes_with_other_meters_do_not_share_a_study() -> None:
    rapl, estimate = {"meters": ["rapl"], "node": "a"}, {"meters": ["estimate"], "node": "b"}
    assert same_meters(rapl, [rapl, {**rapl, "node": "b"}]) == ["rapl"]
    with pytest.raises(FramewattError, match=r"rapl on node a and estimate on node b\. Name the same"):
        same_meters(rapl, [rapl, estimate])


def test_two_names_of_one_machine_are_not_two_nodes() -> None:
    a, b, c = ({"node": node, "machine": {"session": boot}} for node, boot in (("a", "1"), ("b", "1"), ("c", "2")))
    check_apart(a, [a, c])
    with pytest.raises(FramewattError, match="a and b are one machine, and would count as two"):
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
