"""Builds models by name: those of a family by the framework's module, a user's own by the study's factory."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.workloads.contract import Facts, Spec
from framewatt.workloads.registry import family_of, has_official_weights, models_with_body

IMAGENET_CLASSES = 1000


def build_model(framework: str, kind: type, spec: Spec, facts: Facts) -> Any:
    """Build the model of a workload, with the initial weights from its zoo or factory.

    Args:
        framework: the model's framework.
        kind: class of the framework's models.
        spec: the model's name, its weights, and `own` for a user's model.
        facts: what a model of a family is built for.

    Raises:
        FramewattError: the user's factory does not exist, raises, or returns something else than a model; the framework
            does not have the model, or the model is for another task; a zoo has no official weights for the model or
            for the classes, or they cannot be loaded.
    """
    if spec.own is not None:
        return _built_by_factory(spec.own["factory"], Path(spec.own["folder"]), kind)
    return _with_official_weights(framework, spec, facts) if spec.pretrained else build(framework, spec.model, facts)


def build(framework: str, model: str, facts: Facts) -> Any:
    """Build a model of a family with random weights.

    Raises:
        FramewattError: the framework does not have the model, or the model is for another task.
    """
    family = family_of(framework, model)
    if family.task != facts.task:
        raise FramewattError(
            f"workload {model} is for {family.task}, and the data set is for {facts.task}. Use a data set for "
            f"{family.task}."
        )
    return _builder(framework, family.name).build(facts, family.sizes[model].in_framework(framework))


def _builder(framework: str, family: str) -> ModuleType:
    """Return the module that builds a family in a framework; it imports the framework."""
    return importlib.import_module(f"framewatt.workloads.{framework}.{family}")


def _with_official_weights(framework: str, spec: Spec, facts: Facts) -> Any:
    """Return a model with its zoo's official weights, or with published weights without a head and a new head."""
    model, family = spec.model, family_of(framework, spec.model)
    size = family.sizes[model].in_framework(framework)
    if spec.body is not None:
        if not family.has_body:
            raise FramewattError(
                f"weights of {model}: no published weights without a head exist for it, only for "
                f"{', '.join(models_with_body())}. Use one of these models, or weights: trained."
            )
        return _builder(framework, family.name).with_body(facts, size, spec.body)
    if not has_official_weights(framework, model):
        raise FramewattError(
            f"weights of {model}: {framework} has no official ones for this task. Use weights: trained, seeded, or "
            f"fine-tuned for {' and '.join(models_with_body())}."
        )
    if facts.classes != IMAGENET_CLASSES:
        raise FramewattError(
            f"weights of {model}: the official ones are for the {IMAGENET_CLASSES} classes of ImageNet, and the data "
            f"set has {facts.classes} classes. Use a data set with ImageNet's classes, or weights: trained."
        )
    try:
        return _builder(framework, family.name).pretrained(facts, size)
    except FramewattError:
        raise
    except Exception as error:
        raise FramewattError(
            f"weights of {model}: the official ones cannot be loaded: {one_line(error)}. Run where there is a network, "
            "or put their file into resources/weights (docs/workloads.md)."
        ) from error


def _built_by_factory(factory: str, folder: Path, kind: type) -> Any:
    """Return the model that a user's factory returns; only the user's folder is searched for the factory."""
    module_name, _, name = factory.partition(":")
    # At the end of the path, so that a user's file cannot shadow a framework's.
    sys.path.append(str(folder.resolve()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise _problem(factory, f"its module cannot be imported: {one_line(error)}", "Repair the module") from error
    if folder.resolve() not in Path(module.__file__ or "/").resolve().parents:
        advice = "Give the module in the study's folder another name"
        raise _problem(factory, f"another module of the name {module_name} is imported first", advice)
    function = getattr(module, name, None)
    if not callable(function):
        have = ", ".join(key for key, value in vars(module).items() if callable(value) and key[0] != "_") or "none"
        raise _problem(factory, f"the module has no function {name}", f"Use one of its functions: {have}")
    try:
        model = function()
    except Exception as error:
        advice = "It has to be a function without arguments that returns a model"
        raise _problem(factory, f"it raised {one_line(error)}", advice) from error
    if not isinstance(model, kind):
        raise _problem(factory, f"it returned a {type(model).__name__}", f"Return a {kind.__module__}.{kind.__name__}")
    return model


def one_line(error: BaseException) -> str:
    """Return an error in one line, as at the end of a traceback; messages of some frameworks fill pages."""
    words = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {words[:200]}"


def _problem(factory: str, problem: str, advice: str) -> FramewattError:
    return FramewattError(f"factory {factory}: {problem}. {advice}.")
