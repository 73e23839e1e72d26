"""A process that reads what anyone may have written: however it ends, the caller gets an answer or one line."""

import subprocess
import time
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.package.confined import Limits, confined

WORK = """
import ctypes, os, signal, subprocess, sys, time
from framewatt.base.errors import FramewattError

def answer(x): return [x, "é"]
def refuse(): raise FramewattError("x.zip: found\\nnothing")
def grow(): return len(bytearray(2**31))
def mistaken(): raise SystemError("error return without exception set")
def lost(): kept = bytearray(700 * 2**20); mistaken()
def abort(): print("terminate called after throwing an instance of 'std::bad_alloc'", flush=True); os.abort()
def crash(): ctypes.string_at(0)
def turn():
    while True: pass
def wait(pid):
    open(pid, "w").write(str(subprocess.Popen(["sleep", "86400"]).pid))
    time.sleep(86_400)
def fill(path): open(path, "wb").write(b"0" * 2_000_000)
def slip(): return {}["joules"]
def talk(): return "x" * 2**25
"""


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work.py").write_text(WORK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_what_the_function_returns_comes_back() -> None:
    assert confined("work:answer", {"x": 1}, Limits(), "x.zip") == [1, "é"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("refuse", "x.zip: found nothing"),
        (
            "grow",
            r"x.zip: its content needs more than 1 GB of memory\. If you trust it, raise the limit with MEMORY_GB=",
        ),
        ("abort", "x.zip: its content needs more than 1 GB of memory"),
        ("lost", "x.zip: its content needs more than 1 GB of memory"),
        ("mistaken", r"x.zip: its content has another form than packages have \(SystemError: error return without exc"),
        ("crash", "x.zip: its content ended its reader by SIGSEGV. .* more than 1 GB of memory. .*MEMORY_GB="),
        ("turn", "x.zip: its content takes more than 1 s to read. .* TIME_S="),
        ("slip", r"x.zip: its content has another form than packages have \(KeyError: 'joules'\)"),
        ("talk", "x.zip: reading it gives more than 16777216 bytes"),
    ],
)
def test_every_other_end_is_one_line(name: str, reason: str) -> None:
    # Only the one that never ends may run into its limit, which is of processor time and, twice as long, of time.
    limits = Limits(seconds=1) if name == "turn" else Limits()
    with pytest.raises(FramewattError, match=f"^{reason}"):
        confined(f"work:{name}", {}, limits, "x.zip")


def test_a_file_that_grows_too_large_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"(needs more than .* of disk|File too large)"):
        confined("work:fill", {"path": str(tmp_path / "large")}, Limits(disk_b=1_000_000), "x.zip")
    assert (tmp_path / "large").stat().st_size <= 1_000_000


def test_what_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class TakesTooLong(subprocess.Popen):
        """A process whose time is over once it has started another one."""

        def wait(self, timeout: float | None = None) -> int:
            if timeout is None:
                return super().wait()
            while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
                assert self.poll() is None
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(subprocess, "Popen", TakesTooLong)
    with pytest.raises(FramewattError, match="takes more than 1 s"):
        confined("work:wait", {"pid": str(tmp_path / "pid")}, Limits(seconds=1), "x.zip")
    stat = Path("/proc") / (tmp_path / "pid").read_text() / "stat"
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
