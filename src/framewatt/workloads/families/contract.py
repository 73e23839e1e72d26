"""Types that describe a model family: its models and their dimensions, in no framework of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

D = TypeVar("D")


@dataclass(frozen=True)
class Size(Generic[D]):
    """A model of a family.

    Attributes:
        dimensions: what the builders of the family need to know about the model.
        differing: by framework, the dimensions of a model that is not the same in every framework.
        inputs: names of the data set's inputs that a part of a model takes; None for a whole model. A part gives no
            answers and is not trained.
    """

    dimensions: D
    differing: Mapping[str, D] = field(default_factory=dict)
    inputs: tuple[str, ...] | None = None

    def in_framework(self, framework: str) -> "Size[D]":
        """Return the size with the dimensions that the model has in a framework."""
        return replace(self, dimensions=self.differing.get(framework, self.dimensions))


@dataclass(frozen=True)
class Family(Generic[D]):
    """Models of one architecture.

    Attributes:
        name: the name of the module that builds the family, in the folder of each framework that has it.
        task: the task that its models are built for, a name of framewatt.tasks.
        sizes: the models, by the name that studies use.
        has_body: whether published weights without a head exist, from which the models can start. Then the module of
            each framework has the function `with_body(facts, size, folder)`.
    """

    name: str
    task: str
    sizes: Mapping[str, Size[D]]
    has_body: bool = False


@dataclass(frozen=True)
class Implementation:
    """A family in a framework. `FAMILIES` in `workloads/<framework>/__init__.py` lists those of the framework.

    Attributes:
        family: its name. The module of this name in the framework's folder has the function `build(facts, size)`.
        official: the models for which the framework's zoo publishes weights for ImageNet. Then the module has the
            function `pretrained(facts, size)`.
    """

    family: str
    official: tuple[str, ...] = ()
