"""Runs the stages of the workflow that lie between a model and its measured export, without the workflow."""

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from checkout import ROOT, python_of
from warm import Ended, Warm

from framewatt.study.cell import environment_of
from framewatt.workloads.contract import EVALUATED

STAGES = ("train", "export", "check")

THREADS = 1
"""Of a stage: tests run two beside each other on two cores, where threads of one wait for those of the other."""

_IMPORTED = {
    "torch": ("torch", "torchvision", "torch._dynamo"),
    "tensorflow": ("tensorflow", "keras"),
    "mxnet": (),
    "onnxruntime": ("onnx",),
}
"""By framework, the modules that a stage finds imported. Importing them starts no thread, which a fork would lose."""

_VARIABLES = {
    "PYTHONPATH": str(ROOT / "src"),
    **dict.fromkeys(("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"), str(THREADS)),
}
"""Without them, frameworks take as many threads as the machine has processors, where a test sets no number."""


def run_stages(framework: str, model: dict[str, Any], folder: Path) -> tuple[dict, dict]:
    """Make weights, export them and check the export.

    Args:
        framework: the model's.
        model: the job's keys `model`, `weights`, of a user's own one `own`, and any others that differ.
        folder: with data.npz; `train`, `export` and `check` will be in it.

    Returns:
        records of the weights and of the check.
    """
    run_until("check", framework, model, folder)
    trained, found = (json.loads((folder / name / f"{name}.json").read_text()) for name in ("train", "check"))
    return trained, found


def run_until(last: str, framework: str, model: dict[str, Any], folder: Path) -> None:
    """Run the stages up to one of STAGES; for what else see `run_stages`."""
    wanted = STAGES[: STAGES.index(last) + 1]
    folders = {name: folder / name for name in wanted}
    for one in folders.values():
        one.mkdir()
    job = _job(framework, model, folder)
    home = environment_of(framework, "cpu")
    run_stage("framewatt.prepare.training", home, job | {"folder": str(folders["train"])})
    if "export" in wanted:
        source = job | {"artefact": str(folders["train"]), "folder": str(folders["export"])}
        run_stage(f"framewatt.prepare.exporters.{framework}", home, source)
    if "check" in wanted:
        run_check(framework, model, folder)


def run_check(framework: str, model: dict[str, Any], made: Path, **changes: Any) -> dict[str, Any]:
    """Check an export, for the first time or once more; for what else see `run_stages`.

    Args:
        framework: the model's.
        model: as for `run_stages`.
        made: folder with data.npz, `export` and `check`.
        changes: keys of the job that differ; its provider's environment of ONNX Runtime is taken.

    Returns:
        the record.
    """
    whole = {"provider": "cpu", "batch_size": EVALUATED}
    places = {"artefact": str(made / "export"), "folder": str(made / "check")}
    job = _job(framework, model, made) | whole | places | changes
    run_stage("framewatt.prepare.exporters.check", f"onnxruntime/{job['provider']}", job)
    found: dict[str, Any] = json.loads((Path(job["folder"]) / "check.json").read_text())
    return found


def _job(framework: str, model: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What all stages are told."""
    return {
        **{"engine": framework, "device": "cpu", "provider": "native", "threads": THREADS, "seed": 0, "batch_size": 4},
        **{"data": str(folder / "data.npz"), "body": None, "tolerance": 1e-3},
        "training": {"epochs": 1, "learning_rate": 0.001, "momentum": 0.9},
        **model,
    }


def run_stage(module: str, environment: str, job: dict[str, Any], *, anew: bool = False) -> None:
    """Run a stage in an environment, as the workflow does.

    Args:
        module: of the stage.
        environment: name of it.
        job: with `folder`, where the job file is written.
        anew: whether the process imports its framework itself, as a measured process does.
    """
    path = Path(job["folder"]) / "job.json"
    path.write_text(json.dumps(job))
    ended = end_of(environment, "-m", module, path, anew=anew)
    assert ended.code == 0, ended.err


def run_program(environment: str, *words: str | Path) -> str:
    """What a program printed in an environment, whose framework it need not import; one that fails fails the test."""
    ended = end_of(environment, *words)
    assert ended.code == 0, ended.err
    return ended.out


def end_of(environment: str, *words: str | Path, anew: bool = False, **variables: str) -> Ended:
    """How a program ended in an environment.

    Args:
        environment: name of it.
        words: a file of Python, or `-m` and a module, and its arguments.
        anew: whether it imports its framework itself; what sets how a framework is imported does.
        variables: environment variables of the program, next to those of every stage.
    """
    if not anew:
        return _warm(environment).run(words, Path.cwd(), _variables() | variables)
    python = python_of(environment)
    done = subprocess.run([python, *words], env=_variables() | variables, capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


@functools.cache
def _warm(environment: str) -> Warm:
    return Warm(python_of(environment), _IMPORTED[environment.partition("/")[0]], _variables())


def _variables() -> dict[str, str]:
    return {**os.environ, **_VARIABLES}
