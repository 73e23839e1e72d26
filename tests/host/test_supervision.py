"""Children that end well, badly, never, or leave others behind."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from checkout import heed_interrupts

from framewatt.host import supervision
from framewatt.host.supervision import Outcome, children, scrub, supervise
from framewatt.privacy.secrets import Secrets

HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""


@pytest.fixture
def child(tmp_path: Path):
    """Run a line of Python under supervision."""

    def run(code: str, timeout_s: float = HANGS_S, **environment: str) -> Outcome:
        command = [sys.executable, "-c", code]
        return supervise(command, log=tmp_path / "log", timeout_s=timeout_s, environment=environment)

    return run


def alive(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(happened: Callable[[], object]) -> None:
    """Return when something has happened, however long that takes; fail where it does not happen."""
    deadline = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def pid_in(note: Path) -> int | None:
    """The process id in a file; None until it is there."""
    return int(text) if note.exists() and (text := note.read_text()) else None


def test_a_child_that_ends_well_has_no_reason(child) -> None:
    before_ns = time.monotonic_ns()
    outcome = child("import time; time.sleep(0.2)")
    after_ns = time.monotonic_ns()
    assert outcome.reason is None
    assert before_ns <= outcome.started_ns <= outcome.ended_ns - 0.2e9 <= after_ns - 0.2e9


def test_a_crash_is_reported_with_the_last_line_that_it_printed(child) -> None:
    assert child("raise ValueError('no such layer')").reason == "ended with exit code 1: ValueError: no such layer"


def test_a_killed_child_is_reported_by_its_signal(child) -> None:
    reason = child("import os; os.kill(os.getpid(), 9)").reason
    assert reason is not None
    assert reason.startswith("killed by SIGKILL")
    assert "out of" not in reason


def test_a_child_that_hangs_is_ended(child) -> None:
    others = children()
    outcome = child("import time; time.sleep(86_400)", timeout_s=0.5)
    assert outcome.reason.startswith("took longer than 0.5 s and was ended")
    assert outcome.ended_ns - outcome.started_ns >= 0.5e9
    assert children() <= others


def test_a_child_that_ignores_the_polite_signal_is_ended_too(
    child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TakesTooLong(subprocess.Popen):
        """A child whose time is over once it has said that it hears nothing."""

        def wait(self, timeout: float | None = None) -> int:
            if timeout is None:
                return super().wait()
            wait_until(lambda: (tmp_path / "log").read_text() == "deaf\n")
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(supervision.subprocess, "Popen", TakesTooLong)
    monkeypatch.setattr(supervision, "_KILL_AFTER_S", 0.1)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True);"
        "time.sleep(86_400)"
    )
    assert child(code, timeout_s=1).reason == "took longer than 1 s and was ended: deaf"


def test_children_of_the_child_do_not_outlive_it(child, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child(
        "import subprocess, sys, pathlib;"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"pathlib.Path({str(note)!r}).write_text(str(p.pid))"
    )
    wait_until(lambda: not alive(pid_in(note)))


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


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_telling_the_supervisor_to_stop_or_killing_it_ends_the_child(tmp_path: Path, sign: signal.Signals) -> None:
    note = tmp_path / "pid"
    code = (
        "import sys; from pathlib import Path; from framewatt.host.supervision import supervise;"
        "child = 'import os, sys, time, pathlib;"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)';"
        f"supervise([sys.executable, '-c', child, {str(note)!r}], log=Path({str(tmp_path / 'log')!r}), timeout_s=600)"
    )
    source = Path(__file__).parents[2] / "src"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(source)},
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_interrupts,  # noqa: PLW1509  # nothing here has threads
    )
    wait_until(lambda: pid_in(note))
    supervisor.send_signal(sign)
    assert supervisor.wait(timeout=HANGS_S) != 0
    wait_until(lambda: not alive(pid_in(note)))


def test_the_child_holds_what_it_is_to_keep(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code = f"import os; os.write({file.fileno()}, b'mine')"
        outcome = supervise([sys.executable, "-c", code], log=tmp_path / "log", timeout_s=HANGS_S, keep=[file.fileno()])
    assert outcome.reason is None
    assert (tmp_path / "lock").read_text() == "mine"


CRASH = """
import base64, os
key = os.environ["WANDB_KEY"]
print("layer 3 of 50 is ready")
print("login as JANE_DOE on MyHost-17.Example, mail jane@uni-x.de, from 10.20.30.40")
print("index https://jane:in-dex-pw@index.corp/simple and in base64", base64.b64encode(b"?" + key.encode()).decode())
raise RuntimeError("x" * 290 + " no GPU 0 at https://api.corp/?key=" + key)
"""


def test_what_a_crash_prints_about_its_owner_is_in_neither_log_nor_reason(
    child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "myhost-17.example")
    monkeypatch.setattr("getpass.getuser", lambda: "jane_doe")
    monkeypatch.setenv("WANDB_KEY", "0123abcdef89")
    (tmp_path / "log").write_text("said before\n")
    reason = child(CRASH).reason
    log = (tmp_path / "log").read_text()
    assert log.startswith("said before\nlayer 3 of 50 is ready\nlogin as <user> on <host>, mail <e-mail>, from <IP>\n")
    assert "https://<login>@index.corp/simple and in base64 <secret: WANDB_KEY> in base64\n" in log
    assert log.endswith(" no GPU 0 at https://api.corp/?key=<secret: WANDB_KEY>\n")
    assert reason is not None
    assert not any(part in (log + reason).lower() for part in ("0123", "jane", "myhost", "in-dex", "10.20"))


def test_a_log_stays_the_file_that_others_append_to(child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_KEY", "0123abcdef89")
    with (tmp_path / "log").open("a") as held:
        child("import os; print(os.environ['WANDB_KEY'])")
        held.write("afterwards\n")
    assert (tmp_path / "log").read_text() == "<secret: WANDB_KEY>\nafterwards\n"


def test_a_log_of_any_size_is_scrubbed_at_both_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framewatt.host.supervision._LARGEST_LOG_B", 40)
    log = tmp_path / "log"
    log.write_text("before hunter22 is first hunter22" + "." * 100 + "hunter22 last hunter22")
    scrub(log, 7, Secrets({"hunter22": "<secret: X>"}))
    assert log.read_text() == "before <secret: X> is first\n[framewatt: 118 bytes left out]\nlast <secret: X>"


def test_a_traceback_of_framewatts_own_shows_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_KEY", "0123abcdef89")
    code = "import os; from framewatt.base.cli import run; run(lambda: {}[os.environ['WANDB_KEY'].upper()])"
    path = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **path}, stderr=-1, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("KeyError: '<secret: WANDB_KEY>'\n\n")
