"""Workloads, found by their files: workloads/<engine>/<model>.py, run by workloads/<engine>/engine.py.

To add a model to a framework, add one file with a function `build`.
"""

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from framewatt.datasets.contract import Arrays
from framewatt.workloads.contract import Inference, Spec, Training
from framewatt.workloads.parts import inputs_of

__all__ = ["make_inference", "make_training", "registered_models"]


def registered_models(framework: str) -> list[str]:
    """Names of the models that a framework has."""
    return sorted(path.stem for path in (Path(__file__).parent / framework).glob("[!_]*.py") if path.stem != "engine")


def make_inference(engine: str, spec: Spec, data: Arrays) -> Inference:
    """The inference workload of a framework or of `onnxruntime`."""
    workload = _engine(engine).make_inference(spec, _taken(spec, data))
    assert isinstance(workload, Inference)
    return workload


def make_training(engine: str, spec: Spec, data: Arrays) -> Training:
    """The training workload of a framework."""
    workload = _engine(engine).make_training(spec, _taken(spec, data))
    assert isinstance(workload, Training)
    return workload


def _taken(spec: Spec, data: Arrays) -> Arrays:
    """The data set with those inputs alone that a model takes."""
    takes = inputs_of(spec)
    return data if takes is None else replace(data, takes=takes)


def _engine(engine: str) -> ModuleType:
    return importlib.import_module(f"framewatt.workloads.{engine}.engine")
