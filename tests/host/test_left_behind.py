"""What a killed Snakemake leaves in its folder: swept, or told with the command that mends it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framewatt.base.files import write_atomically, write_text
from framewatt.workflow.folder import FILE, Presence, sweep, unlock_command

SOURCE = Path(__file__).parents[2] / "src"


def writer(path: Path) -> "subprocess.Popen[str]":
    """A process that is in the middle of writing a file."""
    code = (
        "import pathlib, sys, time; from framewatt.base.files import write_atomically\n"
        "def write(partial):\n"
        "    partial.write_text('half'); print('half', flush=True); sys.stdin.readline()\n"
        "write_atomically(pathlib.Path(sys.argv[1]), write)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, path],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    return process


def test_what_a_killed_process_was_writing_is_swept(tmp_path: Path) -> None:
    with writer(tmp_path / "tables" / "energy.csv") as process:
        (partial,) = (tmp_path / "tables").iterdir()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert sweep(tmp_path) == [partial]
    assert not list((tmp_path / "tables").iterdir())


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    with writer(tmp_path / "run.json") as process:
        assert sweep(tmp_path) == []
        process.communicate("go on\n")
        assert process.returncode == 0
    assert (tmp_path / "run.json").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_folders_are_swept_and_what_others_named_alike_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "export" / ".onnx-abc.4711.partial"
    write_text(folder / "made" / "model.onnx", "half")
    (tmp_path / ".mine.partial").touch()
    (tmp_path / ".link.4711.partial").symlink_to(tmp_path / ".mine.partial")
    assert sweep(tmp_path) == [folder]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".link.4711.partial", ".mine.partial", "export"]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"):
        write_atomically(tmp_path / "x", lambda _: (_ for _ in ()).throw(ValueError("no")))
    assert not list(tmp_path.iterdir())


def test_a_lock_that_a_killed_snakemake_left_names_what_mends_it(tmp_path: Path) -> None:
    presence = Presence(tmp_path / ".snakemake", "snakemake --unlock")
    assert presence.explain_lock() == (
        "a snakemake that was killed here left its lock. If no other machine works in this folder, remove the lock "
        "with snakemake --unlock, and then start again as before."
    )


def test_a_lock_of_another_process_names_its_holder(tmp_path: Path) -> None:
    other = Presence(tmp_path / ".snakemake", "")
    presence = Presence(tmp_path / ".snakemake", "snakemake --unlock")
    assert presence.explain_lock().startswith("another snakemake makes files here that this one would. ")
    other.tell("demo")
    assert f"another snakemake (process {os.getpid()}, study demo, since 20" in presence.explain_lock()
    (tmp_path / ".snakemake" / FILE).write_text('{"pid": "\x1b[2J"')
    assert "\x1b" not in presence.explain_lock()


@pytest.mark.parametrize(
    ("program", "config", "command"),
    [
        ("/a b/.venv/bin/snakemake", {"study": "demo"}, ".venv/bin/snakemake --unlock --config study=demo"),
        ("/usr/bin/snakemake", {}, "/usr/bin/snakemake --unlock"),
        (
            "/a b/.venv/bin/snakemake",
            {"study": "x", "data_imagenet": "/my $(images)"},
            ".venv/bin/snakemake --unlock --config study=x 'data_imagenet=/my $(images)'",
        ),
    ],
)
def test_the_command_is_the_one_to_paste(program: str, config: dict[str, str], command: str) -> None:
    assert unlock_command(program, config, Path("/a b")) == command
