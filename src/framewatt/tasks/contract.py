"""What a task is: which samples a step takes, and how a model's outputs are judged. No framework is in it.

A task's loss is in every engine that trains it (`LOSSES` in workloads/<framework>/engine.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.mapped import is_mapped

TRAIN, TEST = "train", "test"
"""The splits of a data set."""

HIGHER, LOWER = "higher", "lower"
"""Which values of a metric are better."""

ANSWERS = 0.99
"""Least share of answers of a search that are the same from another form of a model; see Task.same_share."""

NOTHING = "neither finds anything, so that no answers are compared"

Outputs = NDArray[Any]
"""A model's outputs for the whole test set, one row per sample."""


@dataclass(frozen=True)
class Metric:
    """A measure of how good a model's answers are.

    Attributes:
        name: its key in records, and its column in frames.
        title: its heading in tables.
        better: HIGHER or LOWER.
        unit: of its values; "" for a share.
        lowest: least possible value; None where there is none.
        highest: largest possible value; None where there is none.
        since: schema version of run records that have it.
    """

    name: str
    title: str
    better: str = HIGHER
    unit: str = ""
    lowest: float | None = 0.0
    highest: float | None = 1.0
    since: int = 1

    @property
    def words(self) -> str:
        """Its name within a sentence."""
        return self.title if self.title.isupper() else self.title[0].lower() + self.title[1:]

    def is_possible(self, value: float) -> bool:
        """Whether a value lies within the metric's bounds."""
        above = self.lowest is None or value >= self.lowest
        return above and (self.highest is None or value <= self.highest)

    def is_share(self) -> bool:
        """Whether values are shares, which are shown in percent."""
        return (self.unit, self.lowest, self.highest) == ("", 0.0, 1.0)


@dataclass(frozen=True)
class Step:
    """The samples of one step.

    Attributes:
        indices: shape (batch,), int64, into the split.
        units: units of work in them, see Task.unit.
        carries_state: whether the model's state goes on to the next step, as the memory of a language model does.
    """

    indices: NDArray[np.int64]
    units: int
    carries_state: bool = False

    @property
    def rows(self) -> "slice | NDArray[np.int64]":
        """What to index a field with: a slice where the samples follow each other, since it copies nothing."""
        first, count = int(self.indices[0]), len(self.indices)
        follow = np.array_equal(self.indices, np.arange(first, first + count))
        return slice(first, first + count) if follow else self.indices

    def of(self, values: Any) -> Any:
        """The samples in a field of the split; of a mapped one a copy, which a slice would not be.

        A slice of a file's map would be read when the model looks at it, and its values need not be aligned.

        Args:
            values: an array, or what takes rows as one.
        """
        return values[self.indices if is_mapped(values) else self.rows]


@dataclass(frozen=True)
class Judged:
    """How good a model's outputs are.

    Attributes:
        values: every metric of the task by name, in its order; None where it is unknown.
        unknown: why all are unknown; None where they are known.
        right: shape (Task.answers_in,), bool: which answers are right; None where that is unknown, or where answers are
            not right or wrong.
        method: how the metrics were counted, where there is more than one way; else None.
        facts: numbers without which the metrics cannot be judged, such as the length of answers, by name.
        hint: what the outputs may have been meant as, where they seem to be meant otherwise than they are judged.
        meaningless: why single metrics are None where the others are known, by name, see Task.meaningless.
    """

    values: dict[str, float | None]
    unknown: str | None
    right: NDArray[np.bool_] | None = field(default=None, compare=False)
    method: str | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    hint: str | None = None
    meaningless: Mapping[str, str] = field(default_factory=dict)


class Task(ABC):
    """What a model is asked.

    Attributes:
        name: as data sets name it.
        unit: the unit of work, in the singular: energy, time and throughput are given per unit.
        metrics: its metrics; the first is the one that choices are compared by.
    """

    name: str
    unit: str
    metrics: tuple[Metric, ...]

    @property
    def primary(self) -> Metric:
        """The metric that choices are compared by."""
        return self.metrics[0]

    def plan(self, split: str, data: Arrays, batch_size: int, seed: int = 0, epoch: int = 0) -> Iterator[Step]:
        """The steps of one pass, the same in every framework.

        The test set is taken in its order. The training set is shuffled by `seed` and `epoch`, and its last incomplete
        batch is left out.

        Args:
            split: TRAIN or TEST.
            data: the data set.
            batch_size: samples per step.
            seed: of the study.
            epoch: from 1.

        Raises:
            FramewattError: the training set is empty.
        """
        count = len(data.x_test if split == TEST else data.x_train)
        if split == TEST:
            order, size, last = np.arange(count), batch_size, count
        elif count:
            order = np.random.default_rng([seed, epoch]).permutation(count)
            size = min(batch_size, count)
            last = count - size + 1
        else:
            raise FramewattError("data set: found no training samples; allowed: some, or a study with weights: seeded")
        for start in range(0, last, size):
            chosen = order[start : start + size]
            yield Step(chosen, self.units_of(split, data, chosen))

    def units_of(self, split: str, data: Arrays, indices: NDArray[np.int64]) -> int:
        """Units of work in some samples; here a sample is a unit."""
        return len(indices)

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """How many answers the primary metric is of, from the record of a data set; here every unit is one."""
        return int(data.get("test_units", data["test_samples"]))

    @abstractmethod
    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[Any] | None:
        """The model's answers for the test set, shape (n,); None where outputs have another shape than answers."""

    @abstractmethod
    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """The task's metrics of a model's outputs for the whole test set."""

    @property
    def has_right_answers(self) -> bool:
        """Whether answers are right or wrong, so that the primary metric follows from which of them are."""
        return type(self).recount is not Task.recount

    def recount(self, right: NDArray[np.bool_]) -> float:
        """The primary metric, from which answers are right.

        Raises:
            FramewattError: answers of the task are not right or wrong.
        """
        raise FramewattError(f"task {self.name}: found answers that are right or wrong; allowed: none of it")

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Outputs of one pass over the test set, step by step, as one row per sample in the order of the samples."""
        rows = np.concatenate(list(outputs))
        order = np.concatenate([step.indices for step in steps])
        if len(rows) != len(order):
            # Not one row per sample, which `judge` tells.
            return rows
        ordered = np.empty_like(rows)
        ordered[order] = rows
        return ordered

    def same_share(self, outputs: Outputs, reference: Outputs) -> float | None:
        """Share of a reference's answers that other outputs have too; None where outputs are scores, not answers.

        It is NaN where neither has any answer: what finds nothing is like all else that does.

        Scores of the same model differ by little, and are compared as numbers. An answer that a search found is the
        same or another one: two that are nearly alike may change places.

        Args:
            outputs: as `judge` takes them.
            reference: of the same samples, from another form of the same model.
        """
        return None

    def meaningless(self, classes: int) -> dict[str, str]:
        """Metrics that say nothing on any data set of so many classes, and why, by name; here none.

        Args:
            classes: of the data set; 0 where there are none.
        """
        return {}

    def unjudged(self, why: str) -> Judged:
        """Every metric unknown, for a reason."""
        return Judged(dict.fromkeys(self.names), why)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(metric.name for metric in self.metrics)
