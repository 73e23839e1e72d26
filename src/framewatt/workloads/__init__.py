"""Workloads: a model on a data set in a framework, run by workloads/<engine>/engine.py."""

import importlib
from dataclasses import replace
from types import ModuleType

from framewatt.datasets.contract import Arrays
from framewatt.workloads.contract import Inference, Spec, Training
from framewatt.workloads.registry import inputs_of, registered_models

__all__ = ["make_inference", "make_training", "registered_models"]


def make_inference(engine: str, spec: Spec, data: Arrays) -> Inference:
    """Return the inference workload of a framework or of `onnxruntime`."""
    workload = _engine(engine).make_inference(spec, _with_inputs_of(spec, data))
    assert isinstance(workload, Inference)
    return workload


def make_training(engine: str, spec: Spec, data: Arrays) -> Training:
    """Return the training workload of a framework."""
    workload = _engine(engine).make_training(spec, _with_inputs_of(spec, data))
    assert isinstance(workload, Training)
    return workload


def _with_inputs_of(spec: Spec, data: Arrays) -> Arrays:
    """Return the data set with only the inputs that the model takes."""
    takes = inputs_of(spec)
    return data if takes is None else replace(data, takes=takes)


def _engine(engine: str) -> ModuleType:
    return importlib.import_module(f"framewatt.workloads.{engine}.engine")
