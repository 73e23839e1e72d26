"""The study that `make deploy` measures, as a file that can be edited and run like any other."""

import math
import os
from pathlib import Path
from typing import Any

import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text
from framewatt.base.validation import load_yaml
from framewatt.deploying.inputs import Taken
from framewatt.deploying.request import Factory, Request
from framewatt.study.runtimes import exported_from

FOLDER = Path("deploy")
"""Folder of these studies, which git ignores."""

COMPARED = ("runtime", "provider", "batch_size", "threads")
_AT_LEAST, _AT_MOST, _ALONE = 3, 100, 5
_WINDOW_S, _IDLE_S = 1, 5

_HEAD = """\
# Written by `make deploy`, which writes it again when it is called for this model. Copy it to config/studies/ under
# another name (and give it another one below) to change what it measures: docs/your-model.md.
"""


def path_of(request: Request) -> Path:
    """Return the path of the study file of a request."""
    return FOLDER / f"{request.name}.yaml"


def name_of(request: Request) -> str:
    """Return the name of the study of a request."""
    return f"deploy-{request.name.replace('_', '-')}"


def write_study(request: Request, model: Taken, providers: tuple[str, ...]) -> Path:
    """Write the study file and return its path.

    Args:
        request: the model and the choices.
        model: what the model takes.
        providers: ONNX Runtime's execution providers.

    Raises:
        FramewattError: the file belongs to another model.
    """
    path = path_of(request)
    study = study_of(request, model, providers)
    _check_same_model(request, path, study)
    write_text(path, _HEAD + yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=120))
    return path


def study_of(request: Request, model: Taken, providers: tuple[str, ...]) -> dict[str, Any]:
    """Return the content of the study file."""
    factors = _factors(request, model, providers)
    return {
        "study": name_of(request),
        "title": f"Which choice costs least for {request.name}?",
        "description": "Written by make deploy: short windows, block by block until the answer is known or time is up.",
        "models": {request.name: _model(request, model)},
        "factors": factors,
        "repetitions": _repetitions(request, factors),
        "device": "auto",
        "instruments": {"meters": "auto", "fallback": "estimate"},
        "window": {"minimum_s": _WINDOW_S},
        "calibration": {"idle_s": _IDLE_S},
        "cool_down": {"rest_s": 0},
        "statistics": {"compare": [name for name in COMPARED if name != "threads" or request.threads]},
        "accept_unavailable": True,
    }


def _repetitions(request: Request, factors: list[dict[str, Any]]) -> dict[str, Any] | int:
    """Return when to stop; a single choice is compared with nothing, and is measured a few times."""
    choices = sum(math.prod(len(levels) for levels in cross.values()) for cross in factors)
    if choices == 1:
        return _ALONE
    return {"at_least": _AT_LEAST, "at_most": _AT_MOST, "minutes": request.minutes, "until": {"best": "energy"}}


def _model(request: Request, model: Taken) -> dict[str, Any]:
    entry: dict[str, Any] = {"inputs": model.inputs, "metric": "accuracy" if model.labelled else "none"}
    if isinstance(request.model, Factory):
        entry["factory"] = {request.model.framework: request.model.name}
        entry["folder"] = _relative(request.model.folder)
        entry |= {"reads": list(request.reads)} if request.reads else {}
    else:
        entry["onnx"] = _relative(request.model)
    if request.data:
        return entry | {"arrays": _relative(request.data)}
    # One batch of the largest size, so that a pass over all samples is short.
    return entry | {"samples": max(model.batches)}


def _factors(request: Request, model: Taken, providers: tuple[str, ...]) -> list[dict[str, Any]]:
    common: dict[str, Any] = {
        "phase": ["infer"],
        "workload": [request.name],
        "dataset": ["own" if request.data else "synthetic"],
        "batch_size": list(model.batches),
        **({"threads": list(request.threads)} if request.threads else {}),
    }
    if isinstance(request.model, Path):
        return [{**common, "runtime": ["onnx"], "provider": list(providers)}]
    framework = request.model.framework
    exported = {"runtime": [exported_from(framework)], "provider": list(providers)}
    return [{**common, "runtime": [framework]}, {**common, **exported}]


def _relative(path: Path) -> str:
    """Return a path relative to the folder of the study file."""
    return Path(os.path.relpath(path.resolve(), FOLDER.resolve())).as_posix()


def _check_same_model(request: Request, path: Path, study: dict[str, Any]) -> None:
    """Make sure that the study of another model is not overwritten, since its results would be lost.

    Raises:
        FramewattError: the file belongs to another model.
    """
    if not path.is_file():
        return
    try:
        (present,) = load_yaml(path)["models"].values()
    except (FramewattError, KeyError, ValueError, AttributeError, TypeError) as error:
        raise FramewattError(
            f"{path} is not a study of make deploy. Move it away, or use STUDY=… for another name."
        ) from error
    (wanted,) = study["models"].values()
    which = ("onnx", "factory", "folder")
    if [present.get(key) for key in which] != [wanted.get(key) for key in which]:
        other = present.get("onnx") or present.get("factory")
        raise FramewattError(f"{path} is the study of another model, {other}. Use STUDY=… for another name.")
