"""Children that end well, badly, never, or leave others behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import heed_interrupts

from framewatt.supervision import Outcome, supervise


@pytest.fixture
def child(tmp_path: Path):
    """Run a line of Python under supervision."""

    def run(code: str, timeout_s: float = 20, **environment: str) -> Outcome:
        command = [sys.executable, "-c", code]
        return supervise(command, log=tmp_path / "log", timeout_s=timeout_s, environment=environment)

    return run


def alive(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_that_ends_well_has_no_reason(child) -> None:
    outcome = child("import time; time.sleep(0.2)")
    assert outcome.reason is None
    assert 0.2 < (outcome.ended_ns - outcome.started_ns) * 1e-9 < 10


def test_a_crash_is_told_with_the_last_line_that_it_said(child) -> None:
    assert child("raise ValueError('no such layer')").reason == "ended with exit code 1: ValueError: no such layer"


def test_a_killed_child_is_told_by_its_signal(child) -> None:
    reason = child("import os; os.kill(os.getpid(), 9)").reason
    assert reason is not None
    assert reason.startswith("killed by SIGKILL")
    assert "out of" not in reason


def test_a_child_that_hangs_is_ended(child) -> None:
    begun = time.monotonic()
    assert child("import time; time.sleep(600)", timeout_s=0.5).reason.startswith(
        "took longer than 0.5 s and was ended"
    )
    assert time.monotonic() - begun < 10


def test_a_child_that_ignores_the_polite_signal_is_ended_too(child) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    assert child(code, timeout_s=1).reason == "took longer than 1 s and was ended: deaf"


def test_children_of_the_child_do_not_outlive_it(child, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child(
        "import subprocess, sys, pathlib;"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"pathlib.Path({str(note)!r}).write_text(str(p.pid))"
    )
    deadline = time.monotonic() + 5
    while alive(int(note.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(int(note.read_text()))


def test_a_child_that_has_left_its_group_does_not_outlive_it_either(child, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    outcome = child(
        "import subprocess, sys, pathlib;"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True);"
        f"pathlib.Path({str(note)!r}).write_text(str(p.pid))"
    )
    assert outcome.strays == 1
    assert not alive(int(note.read_text()))


def test_a_child_that_tidies_up_has_left_nothing(child) -> None:
    assert child("import subprocess; subprocess.run(['true'])").strays == 0


def test_the_environment_is_added_to(child, tmp_path: Path) -> None:
    child("import os; print(os.environ['OMP_NUM_THREADS'], 'PATH' in os.environ)", OMP_NUM_THREADS="3")
    assert (tmp_path / "log").read_text() == "3 True\n"


def test_a_program_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    outcome = supervise([tmp_path / "nowhere"], log=tmp_path / "log", timeout_s=1)
    assert outcome.reason == f"could not start {tmp_path / 'nowhere'}: No such file or directory"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_telling_the_supervisor_to_stop_ends_the_child(tmp_path: Path, sign: signal.Signals) -> None:
    note = tmp_path / "pid"
    code = (
        "import sys; from pathlib import Path; from framewatt.supervision import supervise;"
        "child = 'import os, sys, time, pathlib;"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)';"
        f"supervise([sys.executable, '-c', child, {str(note)!r}], log=Path({str(tmp_path / 'log')!r}), timeout_s=60)"
    )
    source = Path(__file__).parents[2] / "src"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(source)},
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_interrupts,  # noqa: PLW1509  # nothing here has threads
    )
    deadline = time.monotonic() + 20
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    supervisor.send_signal(sign)
    assert supervisor.wait(timeout=15) != 0
    assert not alive(int(note.read_text()))
