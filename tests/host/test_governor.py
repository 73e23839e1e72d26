"""The governor is put back however the process that set it ends."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import heed_interrupts

from framewatt.base.errors import FramewattError
from framewatt.host.governor import governor

SOURCE = Path(__file__).parents[2] / "src"
HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""

PATIENT = f"from framewatt.host import governor as module; module._ANSWER_S = {HANGS_S}; governor = module.governor\n"
"""For a process of its own: a guardian may take its time to start, on a machine that others keep busy."""


@pytest.fixture
def cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two processors, one saving power, one on demand."""
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.setattr("framewatt.host.governor._ANSWER_S", HANGS_S)
    for number, name in enumerate(("powersave", "ondemand")):
        folder = tmp_path / f"cpu{number}" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{name}\n")
    return tmp_path


def governors(cpus: Path) -> list[str]:
    return [(cpus / f"cpu{number}/cpufreq/scaling_governor").read_text().strip() for number in (0, 1)]


def test_it_holds_inside_the_block_and_not_after_it(cpus: Path) -> None:
    with governor("performance", cpus):
        assert governors(cpus) == ["performance", "performance"]
    assert governors(cpus) == ["powersave", "ondemand"]


def test_none_leaves_it_as_it_is(cpus: Path) -> None:
    with governor(None, cpus):
        assert governors(cpus) == ["powersave", "ondemand"]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_is_put_back_when_the_process_is_killed(cpus: Path, sign: signal.Signals) -> None:
    code = (
        f"import sys, time; from pathlib import Path; {PATIENT}"
        f"with governor('performance', Path({str(cpus)!r})): print('set', flush=True); time.sleep(86_400)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_interrupts,  # noqa: PLW1509  # nothing here has threads
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert governors(cpus) == ["performance", "performance"]
        os.kill(process.pid, sign)
        process.wait()
    deadline = time.monotonic() + HANGS_S
    while governors(cpus) != ["powersave", "ondemand"] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert governors(cpus) == ["powersave", "ondemand"]


def test_a_killed_process_keeps_the_lock_until_the_governor_is_put_back(cpus: Path) -> None:
    path = cpus / "lock"
    path.touch()
    code = (
        "import fcntl, sys, time; from pathlib import Path; from framewatt.host.supervision import children\n"
        f"{PATIENT}"
        f"lock = open({str(path)!r}); fcntl.flock(lock, fcntl.LOCK_EX)\n"
        f"with governor('performance', Path({str(cpus)!r}), keep=[lock.fileno()]):\n"
        "    print(*children(), flush=True); time.sleep(86_400)"
    )
    with (
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process,
        path.open() as lock,
    ):
        assert process.stdout is not None
        guardian = int(process.stdout.readline())
        os.kill(guardian, signal.SIGSTOP)
        process.kill()
        process.wait()
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.kill(guardian, signal.SIGCONT)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert governors(cpus) == ["powersave", "ondemand"]


def test_a_machine_without_one_reports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.setattr("framewatt.host.governor._ANSWER_S", HANGS_S)
    refused = pytest.raises(FramewattError, match=r"preflight\.set_governor: no scaling_governor is")
    with refused, governor("performance", tmp_path):
        pass
