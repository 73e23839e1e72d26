"""Told to end, by whichever signal, a script leaves nothing behind: no folder, no process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import heed_interrupts
from package_factory import ROOT, pack, results_tree

LINES = {
    "verify": ["--rebuild"],
    "rebuild": ["--target", "rebuilt"],
    "deposit": [],
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("package")
    return pack(root, results_tree(root))


HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""

AT_WORK = """
import pathlib, sys, tempfile, time
if "framewatt.package.confined" in sys.orig_argv:
    pathlib.Path(tempfile.gettempdir(), "half").touch()
    time.sleep(86_400)
"""
"""Python imports it at its start: a confined process has begun to write, and does not come to its end."""


def started(package: Path, folder: Path, script: str) -> "subprocess.Popen[str]":
    """A script at work in folders of its own, once its confined process is there."""
    (folder / "tmp").mkdir()
    (folder / "at_work").mkdir()
    (folder / "at_work" / "sitecustomize.py").write_text(AT_WORK)
    process = subprocess.Popen(
        [sys.executable, "-P", ROOT / "scripts" / f"{script}.py", "--archive", package, *LINES[script]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{folder / 'at_work'}", "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_all,  # noqa: PLW1509  # nothing here has threads
    )
    deadline = time.monotonic() + HANGS_S
    while not (processes_in(folder) and list((folder / "tmp").rglob("half"))):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it does not get to work"
        time.sleep(0.01)
    return process


def heed_all() -> None:
    """Undo that nohup, or a background shell, lets its children ignore what these tests send."""
    heed_interrupts()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def processes_in(folder: Path) -> list[int]:
    """Confined processes, and what they have started, that were told a folder here."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if b"framewatt.package.confined" in words and str(folder).encode() in words:
            found.append(int(path.parts[2]))
    return found


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("script", sorted(LINES))
def test_a_script_that_is_told_to_end_leaves_nothing(
    package: Path, tmp_path: Path, script: str, sign: signal.Signals
) -> None:
    process = started(package, tmp_path, script)
    process.send_signal(sign)
    if sign != signal.SIGINT:
        # As make and timeout do, which pass on what their whole group has got already.
        process.send_signal(sign)
    said = process.communicate(timeout=HANGS_S)[1]
    assert (process.returncode, said) == (128 + sign, f"framewatt: ended by {sign.name}\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert processes_in(tmp_path) == []


def test_what_is_said_again_on_the_way_out_is_not_heard() -> None:
    code = (
        "import os, signal\n"
        "from framewatt.base.ending import endings_heeded\n"
        "try:\n"
        "    with endings_heeded(): os.kill(os.getpid(), signal.SIGTERM)\n"
        "except KeyboardInterrupt:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('tidied up')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "tidied up\n")


def test_a_killed_script_leaves_no_process(package: Path, tmp_path: Path) -> None:
    process = started(package, tmp_path, "verify")
    process.kill()
    process.communicate(timeout=HANGS_S)
    deadline = time.monotonic() + HANGS_S
    while processes_in(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes_in(tmp_path) == []


def test_a_script_under_nohup_goes_on(package: Path, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from framewatt.base.cli import run; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "run(lambda: (os.kill(os.getpid(), signal.SIGHUP), print('went on')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "went on\n")
