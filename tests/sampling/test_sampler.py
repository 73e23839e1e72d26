"""The real sampling process, on the estimate, which every Linux has: what becomes of it when something happens to it.

Nothing here depends on how busy the machine is; what needs real time is in tests/measured/test_sampler_in_time.py.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, Channel
from framewatt.sampling import client
from framewatt.sampling.client import Sampler
from framewatt.sampling.raw import RawRows

OPTIONS = {"period_s": 0.02, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}
HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""


@pytest.fixture
def sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sampler:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    # It starts and ends at its leisure: what it has written is synced to a disk that others may keep busy.
    for limit in ("_START_TIMEOUT_S", "_STOP_TIMEOUT_S"):
        monkeypatch.setattr(client, limit, HANGS_S)
    return Sampler(["estimate"], OPTIONS, tmp_path / "trace.bin")


def wait_until(happened: Callable[[], object]) -> None:
    """Return when something has happened, however long that takes; fail where it does not happen."""
    deadline = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def has_read_after(sampler: Sampler, instant_ns: int, count: int = 1) -> Callable[[], bool]:
    """Whether a sampler has written so many readings of after an instant."""
    return lambda: np.count_nonzero(sampler.trace().read_channel(0)[0] > instant_ns) >= count


def state_of(pid: int) -> str:
    """The letter by which the kernel shows what a process does: T where it is stopped (proc(5))."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_real_sampler_reads_on_and_reports_how_it_did(sampler: Sampler) -> None:
    sampler.start()
    wait_until(has_read_after(sampler, time.monotonic_ns(), 3))
    summary = sampler.stop()
    time_ns, joules = sampler.trace().read_channel(0)
    assert (np.diff(time_ns) > 0).all()
    assert (np.diff(joules[np.isfinite(joules)]) > 0).all()
    assert "error" not in summary
    assert summary["reads"] + 1 == len(time_ns)
    assert summary["core_share"] > 0
    assert summary["lateness_p50_s"] <= summary["lateness_p99_s"] <= summary["lateness_max_s"]


def test_a_killed_sampler_leaves_what_it_had_and_no_summary(sampler: Sampler) -> None:
    sampler.start()
    wait_until(has_read_after(sampler, 0, 11))
    os.kill(sampler.pid, signal.SIGKILL)
    assert sampler.stop() == {"error": "the sampling process died or hung"}
    assert len(sampler.trace().monotonic_ns) > 10


def test_a_sampler_stopped_for_a_while_shows_the_gap(sampler: Sampler) -> None:
    sampler.start()
    wait_until(has_read_after(sampler, 0))
    os.kill(sampler.pid, signal.SIGSTOP)
    wait_until(lambda: state_of(sampler.pid) == "T")
    time.sleep(1)
    continued_ns = time.monotonic_ns()
    os.kill(sampler.pid, signal.SIGCONT)
    wait_until(has_read_after(sampler, continued_ns))
    summary = sampler.stop()
    time_ns, joules = sampler.trace().read_channel(0)
    # Where it was stopped in the middle of a reading, that one has no time, and counts as failed.
    assert np.diff(time_ns[np.isfinite(joules)]).max() > 0.9e9
    assert "error" not in summary
    assert summary["missed_reads"] >= 40


def test_it_ends_when_its_parent_lets_go(sampler: Sampler) -> None:
    sampler.start()
    pid = sampler.pid
    assert "error" not in sampler.stop()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("opened", [True, False], ids=["while it samples", "before it could say why it does not"])
def test_a_sampler_whose_parent_died_ends_without_a_word(tmp_path: Path, opened: bool) -> None:
    meter = "estimate" if opened else "no-such-meter"
    request = json.dumps({"meters": [meter], "options": OPTIONS, "path": str(tmp_path / "trace.bin")})
    sampler = subprocess.Popen(
        [sys.executable, "-m", "framewatt.sampling", request],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if opened:
        sampler.stdout.readline()
    # What the kernel does when a parent is killed: both ends of its pipes go.
    sampler.stdout.close()
    sampler.stdin.close()
    assert sampler.stderr.read() == b""
    assert sampler.wait(timeout=HANGS_S) == (0 if opened else 1)


def test_ctrl_c_in_the_terminal_does_not_end_it_before_the_run_has_ended(sampler: Sampler) -> None:
    sampler.start()
    os.kill(sampler.pid, signal.SIGINT)
    # The kernel hands a signal over before a process goes on, so a later reading is one of after it.
    wait_until(has_read_after(sampler, time.monotonic_ns()))
    assert "error" not in sampler.stop()


def test_a_meter_that_cannot_be_opened_is_an_error_not_an_empty_trace(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    sampler = Sampler(["nvml"], OPTIONS, tmp_path / "trace.bin")
    with pytest.raises(FramewattError, match="meter nvml: "):
        sampler.start()
    assert not list(tmp_path.iterdir())


def test_a_reading_cut_short_is_left_out(sampler: Sampler) -> None:
    sampler.channels = (Channel("estimate", "cpu:estimate", "energy_j", COUNTER, 0.01),)
    file = RawRows(sampler.path, 0, 1)
    for second in (1, 2, 3):
        file.append(second, [10.0 * second])
    file.close()
    (written,) = sampler.path.parent.iterdir()
    written.write_bytes(written.read_bytes()[:-5])
    time_ns, joules = sampler.trace().read_channel(0)
    assert (list(time_ns), list(joules)) == ([1, 2], [10.0, 20.0])
