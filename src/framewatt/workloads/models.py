"""Builds models by name: a zoo's from workloads/<framework>/<model>.py, a user's from the study's factory."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.tasks import task_of
from framewatt.workloads.contract import Facts, Spec

IMAGENET_CLASSES = 1000

_WITH_BODY = ("bert_base", "bert_tiny")
"""The models that can start from published weights without a head."""


def build_model(framework: str, kind: type, spec: Spec, facts: Facts) -> Any:
    """Build the model of a workload, with the initial weights from its zoo or factory.

    Args:
        framework: the model's framework.
        kind: class of the framework's models.
        spec: holds the model's name, and `own` for a user's model.
        facts: what a zoo's model is built for.

    Raises:
        FramewattError: the user's factory is not there, raises, or returns something else than a model; a zoo has no
            official weights for the model or for the classes, or they cannot be had; the model is for another task.
    """
    if spec.own is None:
        zoo = importlib.import_module(f"framewatt.workloads.{framework}.{spec.model}")
        task = task_of(getattr(zoo, "TASK", None)).name
        if task != facts.task:
            raise FramewattError(
                f"workload {spec.model}: it is for {task}, the data set for {facts.task}. Use a data set for {task}."
            )
        return _official(zoo, spec, facts) if spec.pretrained else zoo.build(facts)
    return _made(spec.own["factory"], Path(spec.own["folder"]), kind)


def _official(zoo: ModuleType, spec: Spec, facts: Facts) -> Any:
    """A zoo's model with its official weights, or with published weights without a head and a new head."""
    model = spec.model
    if spec.body is not None:
        if not hasattr(zoo, "with_body"):
            raise FramewattError(f"weights of {model}: found those of a body; allowed: for {', '.join(_WITH_BODY)}")
        return zoo.with_body(facts, spec.body)
    if not hasattr(zoo, "pretrained"):
        raise FramewattError(
            f"weights of {model}: found no official ones for this task; allowed: fine-tuned ones of "
            f"{_WITH_BODY[0]}, trained, seeded"
        )
    if facts.classes != IMAGENET_CLASSES:
        raise FramewattError(
            f"weights of {model}: found a data set of {facts.classes} classes; allowed: ImageNet's {IMAGENET_CLASSES}, "
            "which the official weights tell apart"
        )
    try:
        return zoo.pretrained(facts)
    except FramewattError:
        raise
    except Exception as error:
        raise FramewattError(
            f"weights of {model}: found that the official ones cannot be had: {one_line(error)}; allowed: a network, "
            "or their file in resources/weights (docs/workloads.md)"
        ) from error


def _made(factory: str, folder: Path, kind: type) -> Any:
    """The model that a user's factory returns; the factory is looked for in the user's folder only."""
    module_name, _, name = factory.partition(":")
    # At the end of the path, so that a user's file cannot shadow a framework's.
    sys.path.append(str(folder.resolve()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise _problem(factory, f"a module that cannot be imported: {one_line(error)}", "one that can") from error
    if folder.resolve() not in Path(module.__file__ or "/").resolve().parents:
        raise _problem(factory, f"a module {module_name} elsewhere", "one in the study's folder, of another name")
    function = getattr(module, name, None)
    if not callable(function):
        have = ", ".join(key for key, value in vars(module).items() if callable(value) and key[0] != "_") or "nothing"
        raise _problem(factory, f"no function {name}", have)
    try:
        model = function()
    except Exception as error:
        raise _problem(factory, one_line(error), "a function without arguments that returns a model") from error
    if not isinstance(model, kind):
        raise _problem(factory, f"that it returns a {type(model).__name__}", f"a {kind.__module__}.{kind.__name__}")
    return model


def one_line(error: BaseException) -> str:
    """An error in one line, as at the end of a traceback; messages of some frameworks fill pages."""
    words = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {words[:200]}"


def _problem(factory: str, found: str, allowed: str) -> FramewattError:
    return FramewattError(f"factory {factory}: found {found}; allowed: {allowed}")
