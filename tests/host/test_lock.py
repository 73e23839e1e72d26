"""The lock of the machine: taken by real processes, which end well, are killed, or leave others behind."""

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.host import lock
from framewatt.host.lock import MEASUREMENT, STUDIES, VARIABLE, announce_study, machine_lock

SOURCE = Path(__file__).parents[2] / "src"
HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""

HOLD = """
import sys, time
from framewatt.host.lock import machine_lock
with machine_lock(sys.argv[1]) as held:
    print("holds", flush=True)
    {body}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the machine's, as those are: everybody may write there."""
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(lock, "FOLDERS", (tmp_path,))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator:
    """Start a process that measures a study; it has the lock when it has said so, or waits for it."""
    started = []

    def process(study: str, body: str = "time.sleep(86_400)") -> "subprocess.Popen[str]":
        code = f"from framewatt.host import lock; import pathlib; lock.FOLDERS = (pathlib.Path({str(folder)!r}),)"
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", code + HOLD.format(body=body), study],
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield process
    for one in started:
        one.kill()
        one.communicate()


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def wait_until(happened: Callable[[], object]) -> None:
    """Return when something has happened, however long that takes; fail where it does not happen."""
    deadline = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def has_open(process: "subprocess.Popen[str]", path: Path) -> bool:
    """Whether a process has this very file open, and not one that had its name before."""
    opened = list(Path(f"/proc/{process.pid}/fd").iterdir())
    return any(link.exists() and link.samefile(path) for link in opened)


def test_the_second_waits_and_names_the_first(start) -> None:
    first = start("demo")
    assert said(first) == "holds\n"
    second = start("mine", body="pass")
    line = said(second)
    assert re.fullmatch(
        rf"waiting for study demo \(process {first.pid}, since 20..-..-.. ..:..:.. UTC\): one measurement .*\n", line
    )
    assert second.poll() is None
    first.kill()  # as kill -9 does: nothing of it runs any more
    assert said(second) == "holds\n"
    assert second.wait(timeout=HANGS_S) == 0


def test_who_must_not_wait_ends_with_one_line(start) -> None:
    first = start("demo")
    said(first)
    with pytest.raises(FramewattError, match=rf"measures study demo \(process {first.pid}, since .*Start again "):
        machine_lock("mine", wait=False).__enter__()


def test_how_long_it_waited_is_known(start, monkeypatch: pytest.MonkeyPatch) -> None:
    first = start("demo")
    assert said(first) == "holds\n"
    told = []

    def end_first(line: str, **_: object) -> None:
        """The lock is free once somebody has said that it waits, and has waited for a while."""
        told.append(line)
        time.sleep(0.3)
        first.kill()

    monkeypatch.setattr(lock, "print", end_first, raising=False)
    began = time.monotonic()
    with machine_lock("mine") as held:
        assert 0.3 <= held.waited_s <= time.monotonic() - began
    assert len(told) == 1
    with machine_lock("mine") as held:
        assert held.facts() == {"waited_s": 0.0, "machine_wide": True}


def test_another_user_may_lock_it_whatever_the_first_ones_umask(folder: Path) -> None:
    mask = os.umask(0o077)
    try:
        with machine_lock("demo"):
            pass
    finally:
        os.umask(mask)
    assert stat.S_IMODE((folder / MEASUREMENT).stat().st_mode) == 0o666


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be two other users")
def test_two_users_take_turns() -> None:
    with tempfile.TemporaryDirectory() as shared:
        Path(shared).chmod(0o1777)
        code = (
            "import os, pathlib, sys; from framewatt.host import lock; user = int(sys.argv[1])\n"
            f"lock.FOLDERS = (pathlib.Path({shared!r}),)\n"
            "os.setgroups([]); os.setgid(user); os.setuid(user); os.umask(0o077)\n"
        )
        users = [
            subprocess.Popen(
                [sys.executable, "-c", code + HOLD.format(body="sys.stdin.readline()"), str(user)],
                env={"PYTHONPATH": str(SOURCE)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for user in (12001, 12002)
        ]
        # Each holds the lock until it is told to end, so that the other says that it waits.
        first_lines = [said(user) for user in users]
        answers = sorted(
            line + user.communicate("end\n", timeout=HANGS_S)[0]
            # First the one that holds the lock.
            for line, user in sorted(zip(first_lines, users, strict=True), key=lambda pair: pair[0])
        )
    assert answers[0] == "holds\n"
    # Whoever comes between the other's lock and its name does not learn the name.
    assert re.fullmatch(r"waiting for (study 1200[12]|a study without a name).*\nholds\n", answers[1])


def test_a_child_that_is_left_behind_keeps_the_machine_until_it_ends(start, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    body = (
        "import subprocess, pathlib; "
        "child = subprocess.Popen(['sleep', '600'], pass_fds=held.files); "
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid)); print('started', flush=True); time.sleep(86_400)"
    )
    first = start("demo", body)
    assert [said(first), said(first)] == ["holds\n", "started\n"]
    first.kill()
    first.wait()
    second = start("mine", body="pass")
    left = int(note.read_text())
    line = said(second)
    assert f"process {first.pid}, since" in line
    assert f"it has ended, but left process {left}, which you may end" in line
    os.kill(left, signal.SIGKILL)
    assert said(second) == "holds\n"


@pytest.mark.parametrize(
    ("trap", "why"),
    [
        (lambda path, victim: path.symlink_to(victim), "Too many levels of symbolic links"),
        (lambda path, victim: path.hardlink_to(victim), "has a second name"),
        (lambda path, victim: path.mkdir(), "Is a directory"),
        (lambda path, victim: os.mkfifo(path), "another kind of file"),
    ],
    ids=["symbolic link", "hard link", "folder", "pipe"],
)
def test_a_trap_under_the_locks_name_is_refused_and_nothing_written(folder: Path, trap, why: str) -> None:
    victim = folder / "victim"
    victim.write_text("precious")
    trap(folder / MEASUREMENT, victim)
    with pytest.raises(FramewattError, match=f"{MEASUREMENT} cannot be .*{why}.*Run rm "):
        machine_lock("demo").__enter__()
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    "told",
    [
        "",
        "\0" * 5000,
        "[" * 4000,
        '{"study": "\\u001b[2Jowned", "pid": 1, "since_utc": "2026-01-01"}',
        '{"study": "x", "pid": "1\\u001b[2J", "since_utc": "2026-01-01"}',
        '{"study": "x", "pid": 1e999, "since_utc": "2026-01-01"}',
    ],
    ids=["nothing", "zeros", "deep", "control characters", "a pid that is none", "infinite"],
)
def test_what_others_wrote_into_the_lock_is_not_shown_unchecked(folder: Path, told: str) -> None:
    with machine_lock("demo") as held:
        os.ftruncate(held.files[0], 0)
        os.pwrite(held.files[0], told.encode(), 0)
        with pytest.raises(FramewattError, match="measures a study without a name,"):
            machine_lock("mine", wait=False).__enter__()


def test_a_lock_with_a_removed_file_locks_nobody_out(folder: Path, start) -> None:
    first = start("demo")
    said(first)
    second = start("mine", body="pass")
    assert said(second).startswith("waiting for study demo")
    (folder / MEASUREMENT).unlink()
    third = start("new")  # holds the file that has the name now
    assert said(third) == "holds\n"
    first.kill()
    # It got the removed file's lock, saw that it is none, and turned to the file that has the name now.
    wait_until(lambda: has_open(second, folder / MEASUREMENT))
    assert second.poll() is None
    third.kill()
    assert said(second).startswith("holds")


def test_processes_that_see_different_folders_take_turns_by_one_that_both_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    for path in (own, shared):
        path.mkdir()
        path.chmod(0o1777)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(lock, "FOLDERS", (own, tmp_path / "nowhere", shared, own))
    with machine_lock("demo"):
        monkeypatch.setattr(lock, "FOLDERS", (shared,))
        with pytest.raises(FramewattError, match="measures study demo"):
            machine_lock("mine", wait=False).__enter__()
        (own / MEASUREMENT).stat()


def test_a_machine_without_a_folder_for_all_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(lock, "FOLDERS", (tmp_path,))
    with pytest.raises(FramewattError, match="no folder for the lock of this machine: every user must "):
        machine_lock("demo").__enter__()


def test_a_tests_own_lock_states_that_it_is_one(
    folder: Path, tmp_path_factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    with machine_lock("demo"):
        monkeypatch.setenv(VARIABLE, str(other))
        with machine_lock("test", wait=False) as held:
            assert held.facts()["machine_wide"] is False


def test_a_study_that_may_not_wait_begins_only_where_no_other_does(folder: Path) -> None:
    files = announce_study("demo", wait=False)
    with pytest.raises(FramewattError, match="measures study demo"):
        announce_study("mine", wait=False)
    assert announce_study("patient", wait=True)
    assert (folder / STUDIES).exists()
    for file in files:
        os.close(file)


def test_between_two_runs_of_a_study_the_machine_is_not_taken_by_one_that_may_not_wait(folder: Path, start) -> None:
    said(start("demo"))
    with pytest.raises(FramewattError, match="measures study demo"):
        announce_study("mine", wait=False)
