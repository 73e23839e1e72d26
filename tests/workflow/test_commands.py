"""Every command that README, docs and pages print is run as it stands there: Snakemake dry, make with stand-ins."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import authors_files
import numpy as np
import pytest
import yaml
from checkout import ROOT, Checkout, warm_snakemake
from documented_commands import DOCUMENTED, TEMPLATES, printed_in

from framewatt.deploying.inputs import taken
from framewatt.deploying.request import Request
from framewatt.deploying.study_file import study_of
from framewatt.report.about import commands_of

HEAD = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout
PLANS = [
    {"study": "smoke", "device": "cpu", "settings": {"device": "auto"}},
    {"study": "itu2023-options", "device": "cpu", "settings": {"device": "cuda"}},
    {"study": "georgiou2022-published", "device": "", "settings": {"files": {"root_config": "published_georgiou2022"}}},
]
"""Of what studies a report is: measured, on another device than the file says, read from files."""

COMMANDS = {command: source for source, command in DOCUMENTED}
COMMANDS |= {
    command: path.name for path in TEMPLATES for command in printed_in(path.read_text()) if "{{" not in command
}
COMMANDS |= {command: "a report" for plan in PLANS for command in commands_of(plan, HEAD.strip())}


def program_of(command: str) -> str:
    """The program that a command runs, whatever it takes out of the environment first."""
    return re.sub(r"^env (-u \S+ )*", "", command).split()[0]


OF_PROGRAM = {
    program: sorted(command for command in COMMANDS if program_of(command) == program)
    for program in map(program_of, COMMANDS)
}

MINE = {
    "title": "Mine",
    "weights": "seeded",
    "factors": [
        {"phase": ["infer"], "workload": ["bert_base"], "runtime": ["torch"], "dataset": ["imdb"], "batch_size": [1]},
        {
            "phase": ["infer"],
            "workload": ["resnet50"],
            "runtime": ["torch"],
            "dataset": ["imagenet-val-few"],
            "batch_size": [1],
        },
    ],
    "repetitions": 1,
    "instruments": {"meters": ["estimate"]},
}
FOREIGN = ("nvidia-smi", "perf", "npm", "apptainer")
"""Programs that are not the project's; what is printed of them must be a line that a shell understands."""


ELSEWHERE = ("cd", "../.venv/bin/python", "../resources/environments/locked/torch/bin/python")
"""What makes the files of an example, which test_your_model runs."""


def yaml_of(document: str) -> str:
    """The first study file that a document prints."""
    return re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / document).read_text(), re.DOTALL)[1]


def run(words: list[str] | str, folder: Path, **environment: str) -> str:
    """What a program printed; one that fails fails the test."""
    done = subprocess.run(
        words if isinstance(words, list) else ["bash", "-euc", words],
        **{"cwd": folder, "env": os.environ | environment, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT},
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What a reader of a command has in the places that it names, by the key of the configuration."""
    root = tmp_path_factory.mktemp("given")
    authors_files.write_georgiou2022(root / "georgiou2022")
    authors_files.write_itu2023(root / "itu2023")
    for name in ("cifar10", "imagenet", "imdb"):
        (root / name).mkdir()
    data = {f"data_{name}": root / name for name in ("cifar10", "imagenet", "imdb")}
    return data | {f"published_{name}": root / name for name in ("georgiou2022", "itu2023")}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project with the study files that the documents speak of, and what those start from."""
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    made.write_study("mine", **MINE)
    for name, document in (("my-gpu", "your-measurements.md"), ("my-model", "your-model.md")):
        (made.root / f"config/studies/{name}.yaml").write_text(yaml_of(document))
    pattern = yaml.safe_load(yaml_of("your-measurements.md"))["files"]["logs"][0]["pattern"]
    log = made.root / "my-logs" / pattern.format(model="small", run=1)
    log.parent.mkdir(parents=True)
    log.write_text("timestamp, power.draw [W]\n")
    models = made.root / "my-models"
    models.mkdir()
    for name in ("nets.py", "small.pt", "small.onnx"):
        (models / name).touch()
    np.savez(models / "digits.npz", image=np.zeros((1, 1, 8, 8), np.float32), labels=np.zeros(1, int))
    asked = Request("model", Path("my-models/small.onnx"))
    image = {"name": "image", "type": "float32", "shape": ["N", 1, 8, 8]}
    (made.root / "deploy").mkdir()
    study = study_of(asked, taken(asked, [image]), ("cpu",))
    (made.root / "deploy" / "model.yaml").write_text(yaml.safe_dump(study))
    program(made.root / "programs" / "apptainer", "echo apptainer version 1.3")
    program(made.root / "programs" / "scontrol", 'echo "NodeName=$5 CPUTot=8 Gres=(null)"')
    return made


def program(path: Path, line: str) -> None:
    """A program that is one line of shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def as_given(command: str, folders: dict[str, Path]) -> list[str]:
    """A command of Snakemake with what a reader puts in: folders after their keys, and those for an ellipsis."""
    words = shlex.split(re.sub(r"<[^>]*>", "FOLDER", command.replace("…", "ELLIPSIS")))
    published = [f"{key}={path}" for key, path in folders.items() if key.startswith("published_")]
    filled = []
    for word in words:
        key = word.partition("=")[0]
        # The reader's interpreter has frameworks, this one has none.
        filled += ["absent={}"] * (word == "environment=host")
        filled += published if word == "ELLIPSIS" else [f"{key}={folders[key]}"] if key in folders else [word]
    assert "FOLDER" not in filled, "a placeholder that this test does not know"
    return ["snakemake", "--cores", "1", *filled] if filled[0] == "--config" else filled[filled.index("snakemake") :]


@pytest.mark.parametrize("command", [*OF_PROGRAM["snakemake"], *OF_PROGRAM["--config"]])
def test_snakemake_plans_what_is_asked_for(command: str, checkout: Checkout, folders: dict[str, Path]) -> None:
    first, *others = as_given(command, folders)
    path = f"{checkout.root / 'programs'}:{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    words = [shutil.which(first, path=path), "--dry-run", "--cores", "1", *others]
    answer = warm_snakemake(checkout.root, words, os.environ | {"PATH": path})
    assert answer.code == 0, answer.text
    assert "This was a dry-run" in answer.text, answer.text


@pytest.fixture(scope="module")
def with_make(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is set up, whose programs do nothing."""
    root = tmp_path_factory.mktemp("make")
    shutil.copy(ROOT / "Makefile", root)
    program(root / "envs/lock.sh", ":")
    (root / "scripts").mkdir()
    (root / "scripts/from_wheels.py").touch()
    for name in ("python", "snakemake", "uv", "ruff", "snakefmt", "mypy"):
        program(root / ".venv/bin" / name, ":")
    for name in ("orchestrator", "development"):
        (root / "envs" / name).mkdir()
        (root / "envs" / name / "requirements.txt").touch()
    for name in ("ready", "ready-development"):
        (root / ".venv" / name).touch()
    return root


@pytest.mark.parametrize("command", OF_PROGRAM["make"])
def test_make_has_the_target_and_what_is_given_to_it(command: str, with_make: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    _, target, *given = shlex.split(command)
    for word in (word for word in given if word != "…"):
        assert f"$${word.partition('=')[0]}" in makefile.replace("{", ""), f"no recipe reads {word}"
    if given in ([], ["…"]):
        # A mention, or the rest of the line above it.
        needs = re.search(rf"^{target}:.*\n\t\$\(call needed,(.*)\)", makefile, re.MULTILINE)
        given = [f"{name}=x.zip" for name in needs[1].split()] if needs else []
    run(["make", target, *given], with_make)


@pytest.mark.parametrize("command", OF_PROGRAM["git"])
def test_a_commit_of_a_page_can_be_checked_out(command: str, tmp_path: Path) -> None:
    run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), "clone"], tmp_path)
    run(shlex.split(command), tmp_path / "clone")


@pytest.mark.parametrize("command", OF_PROGRAM["source"])
def test_a_shell_takes_what_is_sourced(command: str) -> None:
    assert str(ROOT / ".venv") in run(f"{command}; command -v snakemake", ROOT)


@pytest.mark.parametrize("command", [command for name in FOREIGN for command in OF_PROGRAM[name]])
def test_a_line_for_another_program_is_one_for_a_shell(command: str) -> None:
    run(["bash", "-nc", command], ROOT)


def test_every_command_has_a_test_that_runs_it() -> None:
    placed = {"snakemake", "--config", "make", "git", "source", *FOREIGN, *ELSEWHERE}
    assert {command: COMMANDS[command] for command in COMMANDS if program_of(command) not in placed} == {}


GRANTS = [
    line
    for path in sorted((ROOT / "src").rglob("*.py"))
    for line in re.findall(r"(?:sudo|cpupower) [^\"]+", path.read_text())
]


@pytest.mark.parametrize("command", GRANTS)
def test_a_line_that_grants_reading_is_one_for_a_shell(command: str) -> None:
    run(["bash", "-nc", command.replace("{self.root}", "/sys/class/powercap")], ROOT)


def test_targets_stand_before_settings_which_take_all_that_follows(checkout: Checkout) -> None:
    answer = checkout.snakemake("--dry-run", "report", config="study=smoke")
    assert answer.code == 0
    words = ("--dry-run", "--config", "study=smoke", "report")
    assert checkout.snakemake(*words).code != 0, "Snakemake takes a target for a setting no more; docs may say so"
