"""Which models a framework has, and what they are. No framework is imported to answer this."""

import importlib
from collections.abc import Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.study.runtimes import RUNTIMES
from framewatt.tasks import TASKS
from framewatt.workloads.contract import Spec
from framewatt.workloads.families import FAMILIES
from framewatt.workloads.families.contract import Family, Implementation

DETECTORS = tuple(sorted(name for one in FAMILIES if AnnotatedImages in TASKS[one.task].kinds for name in one.sizes))
"""The models that find objects."""

PARTS: Mapping[str, tuple[str, ...]] = {
    name: size.inputs for one in FAMILIES for name, size in one.sizes.items() if size.inputs is not None
}
"""The models that are a part of another model, each with the names of the inputs that it takes."""


def engine_facts(name: str) -> dict[str, Any]:
    """Return what the `__init__.py` of engines' folders state under a name, by engine; engines without it are left out.

    Args:
        name: such as `LIBRARIES`.
    """
    engines = dict.fromkeys(runtime.engine for runtime in RUNTIMES.values())
    packages = {engine: importlib.import_module(f"framewatt.workloads.{engine}") for engine in engines}
    return {engine: getattr(package, name) for engine, package in packages.items() if hasattr(package, name)}


def implementations(framework: str) -> tuple[Implementation, ...]:
    """Return the families that a framework has, as the `__init__.py` of its folder lists them."""
    listed: tuple[Implementation, ...] = importlib.import_module(f"framewatt.workloads.{framework}").FAMILIES
    return listed


def registered_models(framework: str) -> list[str]:
    """Return the names of the models that a framework has, sorted."""
    names = {implementation.family for implementation in implementations(framework)}
    return sorted(model for family in FAMILIES if family.name in names for model in family.sizes)


def find_family(model: str) -> Family[Any] | None:
    """Return the family of a model; None for a name that is not a registered model, such as a user's own model."""
    return next((family for family in FAMILIES if model in family.sizes), None)


def family_of(framework: str, model: str) -> Family[Any]:
    """Return the family of a model that a framework has.

    Raises:
        FramewattError: the framework does not have the model.
    """
    family = find_family(model)
    if family is None or family.name not in {one.family for one in implementations(framework)}:
        raise FramewattError(
            f"workload {model!r} is not a model of {framework}. Use one of: {', '.join(registered_models(framework))}."
        )
    return family


def has_official_weights(framework: str, model: str) -> bool:
    """Return whether the framework's zoo publishes weights of a model for ImageNet."""
    return any(model in implementation.official for implementation in implementations(framework))


def models_with_body() -> list[str]:
    """Return the models for which published weights without a head exist, sorted."""
    return sorted(model for family in FAMILIES if family.has_body for model in family.sizes)


def inputs_of(spec: Spec) -> tuple[str, ...] | None:
    """Return the names of the inputs that a model takes; None if it takes all inputs of its data set."""
    return None if spec.own is not None else PARTS.get(spec.model)


def check_trains(spec: Spec) -> None:
    """Check that a model can be trained.

    Raises:
        FramewattError: it is only a part of a model.
    """
    if inputs_of(spec) is not None:
        raise FramewattError(
            f"workload {spec.model} is a part of a model and cannot be trained. Use it for inference, with "
            "weights: seeded."
        )
