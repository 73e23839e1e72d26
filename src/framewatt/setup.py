"""Configuration of this machine plus the study it names, checked and put together for the workflow."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.datasets.catalogue import Catalogue, load_catalogue
from framewatt.errors import FramewattError
from framewatt.meters.nvml import Nvml
from framewatt.study import Study, load_study
from framewatt.validation import load_yaml, validate
from framewatt.workloads import FRAMEWORKS, registered_models


@dataclass(frozen=True)
class Setup:
    """A study on this machine, and the data sets that exist."""

    study: Study
    datasets: Catalogue


def load_setup(config: dict[str, Any], root: Path) -> Setup:
    """Check the configuration, fill in its defaults in place, and load the study it names.

    Args:
        config: Snakemake's config.
        root: the project's folder.

    Raises:
        FramewattError: one line that names file, key, found and allowed.
    """
    schemas = root / "config" / "schemas"
    config.update(validate(config, load_yaml(schemas / "config.schema.yaml"), "config/config.yaml or --config"))
    datasets = load_catalogue(root / "config" / "datasets.yaml", schemas / "datasets.schema.yaml")
    known = {"dataset": datasets.names, **{f"workload/{name}": registered_models(name) for name in FRAMEWORKS}}
    path = study_path(config["study"])
    wanted = config["device"] or load_yaml(path).get("device", "cpu")
    study = load_study(path, schemas / "study.schema.yaml", known, resolve_device(wanted))
    for cell in study.cells:
        datasets.arrays_of(cell.dataset, cell.framework, cell.workload)
    return Setup(study, datasets)


def share_interpreter(root: Path) -> None:
    """Let every job find this interpreter as `python`, and this checkout's library.

    It works whether or not the virtual environment is activated.

    Args:
        root: the project's folder.
    """
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(root / "src")


def study_path(name: str) -> Path:
    """The study file of that name, or at that path (relative to the project's folder)."""
    return Path(name) if name.endswith((".yaml", ".yml")) else Path("config/studies") / f"{name}.yaml"


def resolve_device(wanted: str) -> str:
    """`cpu` or `cuda`; `auto` asks the NVIDIA driver. Anything else is left for the study's schema to refuse.

    That there is a GPU where the study names `cuda` is looked at before anything is measured (see require_device); a
    study can be planned, and a package rebuilt, without one.
    """
    if wanted == "auto":
        return "cuda" if Nvml().available()[0] else "cpu"
    return "cuda" if wanted == "cuda" else "cpu"


def require_device(device: str) -> None:
    """Make sure that the device is there.

    Raises:
        FramewattError: it is `cuda`, and no GPU is visible.
    """
    available, reason = Nvml().available()
    if device == "cuda" and not available:
        raise FramewattError(f"device: found cuda, but {reason}; allowed: cpu, auto, or a machine with a GPU")
