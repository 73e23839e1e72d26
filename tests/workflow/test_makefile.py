"""What a user gives `make` is text: neither make nor a shell runs what is in it, and programs get it as it is."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from checkout import ROOT

HOSTILE = "a`touch m1`$(touch m2)$(shell touch m3)${shell touch m4};touch m5 & b\" ' $$HOME # %.zip"
"""Commands in the shell's form and in make's own, and what either reads as something else than text."""

DEPLOYED = ("BATCH", "PROVIDERS", "THREADS", "DATA", "AXES", "FRAMEWORK", "FOLDER", "INPUTS", "READS")
"""Options of `make deploy` that may be left out."""

GIVEN = {
    "ARCHIVE": ["verify", "rebuild", "deposit"],
    "TARGET": ["rebuild"],
    "SERVER": ["deposit"],
    "KEY": ["sign"],
    "SIGNERS": ["verify"],
    "TIME_S": ["verify", "merge", "compare"],
    "MEMORY_GB": ["verify", "merge", "compare"],
    "DISK_GB": ["verify", "merge", "compare"],
    "ARCHIVES": ["merge", "compare"],
    "FAIL_ABOVE": ["compare"],
    "QUANTITY": ["compare"],
    "TABLE": ["compare"],
    "PAPER": ["fetch"],
    "URL": ["fetch"],
    "CHECKSUM": ["fetch"],
    "SIZE_B": ["fetch"],
    "MINUTES": ["soak", "deploy"],
    "MODEL": ["deploy"],
    **{name: ["deploy"] for name in DEPLOYED},
    "GPU_PYTHON": ["characterise"],
    "STUDY": ["images", "deploy", "merge"],
    "BASE": ["images"],
}
"""What a program gets of a user's, and the targets that hand it on."""

SWITCHES = [
    *(("deposit", "CONFIRM"), ("preflight", "STRICT"), ("preflight", "METERS")),
    *(("verify", "REBUILD"), ("compare", "STRICT"), ("test", "STRICT")),
]
"""What is on or off, by target."""

INTERNAL = {"VENV", "BIN", "SCRIPTS", "INSTALL", "CHECKED", "STUDIES", "MEASURING", "PARALLEL", "name"}
"""What the Makefile itself says, and what the command line cannot change."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the Makefile, set up with programs that only keep their arguments."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for name in ("python", "snakemake", "uv", "ruff", "snakefmt", "mypy", "lint-imports", "codespell"):
        program = tmp_path / ".venv/bin" / name
        program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" >arguments\n")
        program.chmod(0o755)
    for name in ("orchestrator", "development"):
        lock = tmp_path / "envs" / name / "requirements.txt"
        lock.parent.mkdir(parents=True)
        lock.touch()
    for name in ("ready", "ready-development"):
        (tmp_path / ".venv" / name).touch()
    return tmp_path


def run_make(checkout: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run make there, as if none had started it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *words], cwd=checkout, env=kept | environment, capture_output=True, text=True, check=False
    )


def make(checkout: Path, *words: str, **environment: str) -> list[str]:
    """Run make; the arguments that its program got."""
    done = run_make(checkout, *words, **environment)
    assert done.returncode == 0, done.stderr
    assert list(checkout.glob("m[0-9]*")) == []
    arguments = checkout / "arguments"
    return arguments.read_text().split("\0")[:-1] if arguments.exists() else []


@pytest.mark.parametrize(("name", "target"), [(name, target) for name in GIVEN for target in GIVEN[name]])
def test_a_program_gets_the_text_and_nothing_runs_it(checkout: Path, name: str, target: str) -> None:
    others = [f"{other}=x.zip" for other in GIVEN if other != name]
    for arguments in (
        make(checkout, target, *others, f"{name}={HOSTILE}"),
        make(checkout, target, *others, **{name: HOSTILE}),
        make(checkout, "-e", target, *others, f"{name}={HOSTILE}", **{name: HOSTILE}),
    ):
        assert [word for word in arguments if word.endswith(HOSTILE)], arguments


@pytest.mark.parametrize("name", [*sorted(INTERNAL - {"name"}), "STRICT", "CONFIRM", "SOMETHING_ELSE", "MAKEFILE_LIST"])
@pytest.mark.parametrize("target", ["help", "preflight", "deposit", "lint", "clean", "setup"])
def test_no_other_variable_runs_either(checkout: Path, name: str, target: str) -> None:
    if (target, name) in SWITCHES:
        for words, environment in (([f"{name}={HOSTILE}"], {}), (["-e"], {name: HOSTILE})):
            done = run_make(checkout, target, "ARCHIVE=x.zip", *words, **environment)
            assert f"allowed: {name}=1, or without it" in done.stderr
            assert list(checkout.glob("m[0-9]*")) == []
    else:
        make(checkout, target, "ARCHIVE=x.zip", f"{name}={HOSTILE}")
        make(checkout, "-e", target, "ARCHIVE=x.zip", **{name: HOSTILE})


def test_recipes_name_no_variable_of_a_user() -> None:
    named = re.findall(r"(?<!\$)\$[({]([A-Za-z_]+)[)}]", (ROOT / "Makefile").read_text())
    assert set(named) <= INTERNAL


def test_an_interpreter_is_one_word(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    for words, environment in (([f"PYTHON={HOSTILE}"], {}), ([], {"PYTHON": HOSTILE})):
        done = run_make(checkout, "setup", *words, **environment)
        assert done.returncode != 0
        assert list(checkout.glob("m[0-9]*")) == []
        assert "allowed: Python 3.11 or newer; name one with PYTHON=" in done.stderr


@pytest.mark.parametrize(
    ("target", "given"), [("verify", []), ("merge", []), ("fetch", ["PAPER=itu2023", "URL=http://127.0.0.1"])]
)
def test_what_is_not_given_is_asked_for_in_one_line(checkout: Path, target: str, given: list[str]) -> None:
    done = run_make(checkout, target, *given)
    assert done.returncode != 0
    said, _ = done.stderr.splitlines()
    assert re.fullmatch(rf"framewatt: make {target}: found no [A-Z]+; allowed: make {target}( [A-Z_]+=…)+", said)


def test_what_is_rebuilt_lies_beside_its_package(checkout: Path) -> None:
    assert "--target=some.folder/x-rebuilt" in make(checkout, "rebuild", "ARCHIVE=some.folder/x.zip")
    assert "--strict" not in make(checkout, "preflight")
    assert "--strict" in make(checkout, "preflight", "STRICT=1")


@pytest.mark.parametrize(("target", "switch"), SWITCHES)
@pytest.mark.parametrize("value", ["0", "no", "false"])
def test_a_switch_that_is_said_to_be_off_is_not_on(checkout: Path, target: str, switch: str, value: str) -> None:
    done = run_make(checkout, target, "ARCHIVE=x.zip", "ARCHIVES=x.zip y.zip", f"{switch}={value}")
    assert done.returncode != 0
    assert f"--{switch.lower()}" not in done.stdout
    said = f"framewatt: make {target}: found {switch}={value}; allowed: {switch}=1, or without it"
    assert said in done.stderr.splitlines()


@pytest.mark.parametrize("target", ["verify", "rebuild", "sign", "deposit"])
def test_what_ends_make_ends_its_script(checkout: Path, target: str) -> None:
    note = checkout / "pid"
    (checkout / ".venv/bin/python").write_text("#!/bin/sh\necho $$ >pid.new; mv pid.new pid; exec sleep 3600\n")
    with subprocess.Popen(["make", target, "ARCHIVE=x", "KEY=k"], cwd=checkout, stdout=-3, stderr=-3) as process:
        while not note.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        assert process.wait(timeout=600) != 0
    state = Path("/proc", note.read_text().strip(), "stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
