"""Workloads, found by their files: workloads/<engine>/<model>.py, run by workloads/<engine>/engine.py.

To add a model to a framework, add one file with a function `build`.
"""

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.workloads.contract import Inference, Spec, Training

__all__ = ["check_trains", "make_inference", "make_training", "registered_models"]


def registered_models(framework: str) -> list[str]:
    """Names of the models that a framework has."""
    return sorted(path.stem for path in (Path(__file__).parent / framework).glob("[!_]*.py") if path.stem != "engine")


def make_inference(engine: str, spec: Spec, data: Arrays) -> Inference:
    """The inference workload of a framework or of `onnxruntime`, whose graphs name the inputs that they take."""
    workload = _engine(engine).make_inference(spec, _taken(engine, spec, data))
    assert isinstance(workload, Inference)
    return workload


def make_training(engine: str, spec: Spec, data: Arrays) -> Training:
    """The training workload of a framework."""
    workload = _engine(engine).make_training(spec, _taken(engine, spec, data))
    assert isinstance(workload, Training)
    return workload


def check_trains(engine: str, spec: Spec) -> None:
    """Check that a model can be trained; a part of one, that gives no answers, cannot.

    Raises:
        FramewattError: its file says that it is none to be trained (`TRAINS = False`).
    """
    if not getattr(_file_of(engine, spec), "TRAINS", True):
        raise FramewattError(
            f"workload {spec.model}: found training of a part of a model; allowed: inference with weights: seeded"
        )


def _taken(engine: str, spec: Spec, data: Arrays) -> Arrays:
    """The data set with those inputs alone that a model's file names, where it names any."""
    takes = getattr(_file_of(engine, spec), "INPUTS", None)
    return data if takes is None else replace(data, takes=takes)


def _file_of(engine: str, spec: Spec) -> ModuleType | None:
    """The file of a zoo's model; None of a user's own, and of a graph."""
    if spec.own is not None or spec.model not in registered_models(engine):
        return None
    return importlib.import_module(f"framewatt.workloads.{engine}.{spec.model}")


def _engine(engine: str) -> ModuleType:
    return importlib.import_module(f"framewatt.workloads.{engine}.engine")
