"""What a task is: which samples a step takes, how much work a step did, and how a model's outputs are judged.

No framework is in it. A task's loss is in every engine that trains it (`LOSSES`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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

NOT_NUMBERS = "outputs are not numbers"
"""Why metrics are unknown where outputs are NaN or infinite."""

Outputs = NDArray[Any]
"""A model's outputs for the whole test set, one row per sample."""

Quality = Mapping[str, Mapping[str, Any]]
"""Quality as records hold it, see framewatt.tasks.quality."""


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
        """Return whether a value is within the metric's bounds."""
        above = self.lowest is None or value >= self.lowest
        return above and (self.highest is None or value <= self.highest)

    def is_share(self) -> bool:
        """Return whether values are shares, which are shown in percent."""
        return (self.unit, self.lowest, self.highest) == ("", 0.0, 1.0)


@dataclass(frozen=True)
class Step:
    """The samples of a step.

    Attributes:
        indices: shape (batch,), int64, into the split.
        units: planned units of work, see Task.unit; 0 where units are known only after the step.
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

    def samples_of(self, values: Any) -> Any:
        """Return the samples in a field of the split; of a mapped field a copy, which a slice would not be.

        A slice of a file's map would be read when the model uses it, and its values need not be aligned.

        Args:
            values: an array, or an object that takes rows as an array does.
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


class Mismatch(NamedTuple):
    """A value of a run's quality that does not fit the rest of its record or the data record.

    Attributes:
        key: of the value within the quality: metric, and perhaps a fact of it.
        stated: the value in the record.
        derived: what follows from the other values; None where that is not known.
        source: what it follows from, with its verb: `the data record gives`.
        sentence: the whole mismatch in words, where stated and derived cannot be compared as values.
    """

    key: str
    stated: Any = None
    derived: Any = None
    source: str = ""
    sentence: str | None = None


class Task(ABC):
    """What a model has to do with a data set.

    Attributes:
        name: as data sets name it.
        unit: the unit of work, in the singular: energy, time and throughput are given per unit.
        metrics: its metrics; the first is the one that choices are compared by.
        kinds: types of data that it takes.
        phases: where a step consists of phases, the unit of work of each by its name, in their order; engines then
            return PhasedOutputs (tasks.phases). Empty where a step has no phases.
        named_outputs: names of a model's outputs that are its answers, where a user's ONNX file has several; empty
            where only one output can be the answer.
        finds_objects: whether answers are detections (framewatt.tasks.boxes); examples of them are then stored.
    """

    name: str
    unit: str
    metrics: tuple[Metric, ...]
    kinds: tuple[type[Arrays], ...] = (Arrays,)
    phases: Mapping[str, str] = {}
    named_outputs: tuple[str, ...] = ("scores",)
    finds_objects: bool = False

    @property
    def primary(self) -> Metric:
        """The metric that choices are compared by."""
        return self.metrics[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(metric.name for metric in self.metrics)

    def check_data(self, data: Arrays) -> None:
        """Check that a data set is of a kind that the task takes.

        Raises:
            FramewattError: it is of another kind.
        """
        if not isinstance(data, self.kinds):
            wanted = " or ".join(kind.__name__ for kind in self.kinds)
            raise FramewattError(
                f"data set: the task {self.name} does not take {type(data).__name__}. Make {wanted}, or name another "
                "task."
            )

    def plan(self, split: str, data: Arrays, batch_size: int, seed: int = 0, epoch: int = 0) -> Iterator[Step]:
        """Yield the steps of one pass, the same in every framework.

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
        else:
            check_not_empty(count)
            order = np.random.default_rng([seed, epoch]).permutation(count)
            size = min(batch_size, count)
            last = count - size + 1
        for start in range(0, last, size):
            chosen = order[start : start + size]
            yield Step(chosen, self.units_of(split, data, chosen))

    def units_of(self, split: str, data: Arrays, indices: NDArray[np.int64]) -> int:
        """Return the planned units of work in some samples; here a sample is a unit."""
        return len(indices)

    @property
    def counts_afterwards(self) -> bool:
        """Whether the units of a step are known only after it, so that its outputs are needed to count them."""
        return type(self).units_done is not Task.units_done

    def units_done(self, step: Step, outputs: Any) -> int:
        """Return the units of work that a step did; here those that were planned.

        If units are known only afterwards, as the number of generated tokens, the task counts them in the outputs.
        It is called after the timed window. Training gives the planned units: it is given its answers.

        Args:
            step: the planned step.
            outputs: what the engine returned of it.
        """
        return step.units

    def units_by_phase(self, step: Step, outputs: Any) -> Mapping[str, int]:
        """Return the units of work that each phase of a step did, by its name; here there are no phases.

        Args:
            step: the planned step.
            outputs: what the engine returned of it, without its marks.
        """
        return {}

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """Return how many answers the primary metric is computed of, from a data record; here one per unit."""
        return int(data.get("test_units", data["test_samples"]))

    @abstractmethod
    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[Any] | None:
        """Return the model's answers for the test set, shape (n,); None where outputs are not single answers."""

    @abstractmethod
    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return the task's metrics of a model's outputs for the whole test set."""

    def problem_of(self, outputs: Outputs, data: Arrays) -> str | None:
        """Return why outputs cannot be judged, None where they can; here nothing is checked before `judge`."""
        return None

    @property
    def has_right_answers(self) -> bool:
        """Whether answers are right or wrong, so that the primary metric follows from which of them are right."""
        return type(self).recount is not Task.recount

    def recount(self, right: NDArray[np.bool_]) -> float:
        """Return the primary metric, from which answers are right.

        Raises:
            FramewattError: answers of the task are not right or wrong.
        """
        raise FramewattError(f"task {self.name}: its answers are not right or wrong. Keep no predictions of it.")

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Return the outputs of one pass over the test set as one row per sample, in the order of the samples."""
        rows = np.concatenate(list(outputs))
        order = np.concatenate([step.indices for step in steps])
        if len(rows) != len(order):
            # Not one row per sample, which `judge` reports.
            return rows
        ordered = np.empty_like(rows)
        ordered[order] = rows
        return ordered

    def same_share(self, outputs: Outputs, reference: Outputs) -> float | None:
        """Return the share of a reference's answers that other outputs have too; None where outputs are scores.

        It is NaN where neither has any answer: two models that find nothing cannot be compared.

        Scores of the same model differ by little, and are compared as numbers. An answer of a search is either the same
        or another: two that are nearly alike may change places.

        Args:
            outputs: as `judge` takes them.
            reference: of the same samples, from another form of the same model.
        """
        return None

    def meaningless(self, classes: int) -> dict[str, str]:
        """Return the metrics that have no meaning on any data set of so many classes, and why, by name; here none.

        Args:
            classes: of the data set; 0 where there are none.
        """
        return {}

    def unjudged(self, why: str) -> Judged:
        """Return every metric as unknown, for a reason."""
        return Judged(dict.fromkeys(self.names), why)

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which `judge` leaves the metrics of a data set unknown.

        Packages store these reasons, so that `verify` can tell whether a reason is possible.

        Args:
            data: the data record.
        """
        return NOT_NUMBERS

    def answer_flags(self, quality: Quality) -> list[str]:
        """Return flags of answers that make the energy of a unit misleading; here none.

        Args:
            quality: of a run that answered, as records hold it; facts may be missing in older records.
        """
        return []

    def mismatches(self, quality: Quality, data: Mapping[str, Any]) -> Iterator[Mismatch]:
        """Yield the values of a run's quality that do not fit each other or the data record; here none.

        Args:
            quality: as records hold it.
            data: the data record.
        """
        yield from ()


def check_not_empty(count: int) -> None:
    """Check that there is something to learn from.

    Raises:
        FramewattError: there are no training samples.
    """
    if not count:
        raise FramewattError(
            "data set: it has no training samples. Use a data set with some, or a study with weights: seeded."
        )
