"""What a workload is: a model with its data in one framework, with the timed part separate from the rest.

Only `run` and `synchronize` are called inside a timed window, and `loss_of` where the option `loss_read` has losses
read after each step.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import Pairs
from framewatt.study.options import OPTIONS, Level
from framewatt.tasks import task_for, task_of
from framewatt.tasks.contract import TEST, TRAIN, Outputs, Step
from framewatt.tasks.phases import without_marks
from framewatt.workloads.detector import check_learns
from framewatt.workloads.outputs import in_order
from framewatt.workloads.schedule import rates
from framewatt.workloads.state import linked

EVALUATED = 64
"""Samples of a batch when a training's test set is evaluated, between its timed epochs."""

ONNX_FILE = "model.onnx"
"""File name in the folder of an exported model."""

BODY = ("config.json", "model.safetensors")
"""Files of published weights without a head, as on model hubs: the model's configuration, and its weights."""

BETAS = (0.9, 0.999)
"""Adam's, as in its paper (Kingma and Ba, 2015), and LAMB's, where the study has no `betas`."""

EPSILON = 1e-8
"""Adam's, as in its paper, in every framework; the frameworks' own differ."""

Inputs = tuple[Any, ...]
"""One batch: an array of the framework for each of the data set's inputs, in their order."""


def example_inputs(data: Arrays, samples: int) -> tuple[NDArray[Any], ...]:
    """Return a batch for tracing a model or counting its FLOPs: the first test sample, `samples` times."""
    return tuple(np.repeat(values[:1], samples, axis=0) for values in data.inputs_test.values())


@dataclass(frozen=True)
class Facts:
    """What a model is built for.

    Attributes:
        task: its task, a name of framewatt.tasks.
        classes: number of classes of a sample, or of a token; 0 where there are no labels.
        input_shape: shape of one sample of the first input, in the framework's layout.
        categories: where samples are ids, how many there are of each, see Arrays.
    """

    task: str
    classes: int
    input_shape: tuple[int, ...]
    categories: tuple[int, ...] = ()


@dataclass(frozen=True)
class Spec:
    """How a workload is to be run.

    Attributes:
        model: name of the model: one of a family (framewatt.workloads.registry), or a key of the study's `models`.
        batch_size: samples per batch.
        device: `cpu` or `cuda`.
        provider: ONNX Runtime's execution provider, or `native`.
        threads: threads the framework may use on the CPU.
        seed: seed of initial weights and shuffling.
        artefact: folder with trained weights or an ONNX file; None where the workload trains.
        training: the study's `training` settings.
        options: levels of options that are not at their default, by name (see options.OPTIONS).
        own: for a user's own model, its `factory` and the `folder` of its module; else None.
        pretrained: whether a zoo's model is built with published weights instead of random ones.
        body: folder with published weights of the model without a head, if the zoo has none with a head; else None.
        outputs: of a user's ONNX file, names of those that are answers (see framewatt.workloads.onnxruntime.named).
        classes: how that file counts classes.
    """

    model: str
    batch_size: int
    device: str
    provider: str
    threads: int
    seed: int
    artefact: Path | None
    training: Mapping[str, Any]
    options: Mapping[str, Level] = field(default_factory=dict)
    own: Mapping[str, str] | None = None
    pretrained: bool = False
    body: Path | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    classes: str = "from_0"

    def level(self, option: str) -> Any:
        """Return the level of an option: the chosen one, else its default."""
        return self.options.get(option, OPTIONS[option].default)


class Workload(ABC):
    """A model on a data set. The constructor does no work; `setup` does.

    Attributes:
        spec: how it is to be run.
        data: the data set.
        task: the task of the model.
        split: the split that it goes through.
    """

    split: str

    def __init__(self, spec: Spec, data: Arrays) -> None:
        self.spec = spec
        self.data = data
        self.task = task_for(data)

    def steps(self, epoch: int = 0) -> list[Step]:
        """Return the steps of one pass over the data, one for each of `batches`."""
        return list(self.task.plan(self.split, self.data, self.spec.batch_size, self.spec.seed, epoch))

    def in_order(self, outputs: Iterable[Any], steps: Iterable[Step]) -> Outputs:
        """Return outputs of one pass over the test set, step by step, as one array that the task judges."""
        return in_order(self.task, self.data, outputs, steps)

    def check_apart(self, requested: str, instead: str) -> None:
        """Check that every step can be taken by itself.

        Args:
            requested: the option that needs it, and its level, as in a study file.
            instead: the option with a level that does not need it.

        Raises:
            FramewattError: steps go on from each other, as segments of a text.
        """
        if any(step.carries_state for step in self.steps()):
            raise FramewattError(
                f"{requested} does not take a data set in which samples follow each other. Use {instead}."
            )

    @abstractmethod
    def setup(self) -> None:
        """Build the model and load its weights."""

    @abstractmethod
    def tensors(self, arrays: Iterable[NDArray[Any]]) -> Inputs:
        """Arrays of the data set as the model takes them: on the device, in the framework's layout and format."""

    @abstractmethod
    def batches(self, epoch: int = 0) -> Iterator[Any]:
        """Batches of one pass over the data, on the device; each is made when it is requested.

        Args:
            epoch: from 1, in training.

        Returns:
            One a step: `Inputs` for inference, `(Inputs, labels)` for training.
        """

    @abstractmethod
    def run(self, batch: Any) -> Any:
        """Return one step over a batch.

        Returns:
            Inference: the outputs on the host, a tensor with one row per sample, or where nothing is judged any (see
            framewatt.workloads.outputs); of a task with phases, PhasedOutputs (framewatt.tasks.phases).
            Training: the loss, in any form that `loss_of` understands.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all work queued on the device is done."""

    @abstractmethod
    def evaluate(self) -> Outputs:
        """Return outputs for the whole test set, one row per sample."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Parameters, FLOPs of one sample's forward pass, input shape, library versions, and options `in_force`.

        The options are read back from the framework, not copied from the study, and in its own words.
        """

    def levels(self) -> dict[str, Level | None]:
        """Return the level in force of every option that the engine acts on (runtimes.Runtime.honours).

        They are read back from the framework after the run, in the words of the study (options.OPTIONS), None where the
        framework has no way to report it. A run is invalid where a level is another one, or one that is not the default
        is not reported.
        """
        return {}

    def close(self) -> None:  # noqa: B027  # most frameworks have nothing to let go of
        """Release what `setup` acquired."""


class Inference(Workload):
    """Inference: a trained model that answers for the test set."""

    split = TEST

    def batches(self, epoch: int = 0) -> Iterator[Inputs]:
        """Batches of the test set, in the order of the task's plan."""
        for step in self.task.plan(TEST, self.data, self.spec.batch_size):
            yield linked(self.tensors(step.samples_of(values) for values in self.data.inputs_test.values()), step)

    def compile(self) -> None:
        """Run one batch of each shape (the last may be smaller), since compilers work at the first batch of a shape."""
        for batch in {tuple(values.shape for values in batch): batch for batch in self.batches()}.values():
            self.run(batch)
        self.synchronize()

    def warm_up(self, batches: int) -> None:
        """Run some warm-up batches, repeating the data if there are too few, and wait for them.

        Sentences come in batches of many widths; one of each is met first, since libraries prepare at the first.
        """
        if isinstance(self.data, Pairs):
            self.compile()
        ready = list(itertools.islice(self.batches(), batches))
        for index in range(batches):
            self.run(ready[index % len(ready)])
        self.synchronize()

    def whole_batches(self, size: int, most: int) -> list[tuple[Inputs, Step]]:
        """Return the first batches of some size, whatever that of the spec is, each with its step; at most `most`.

        Raises:
            RuntimeError: the test set is smaller.
        """
        spec, self.spec = self.spec, replace(self.spec, batch_size=size)
        try:
            first = itertools.islice(zip(self.batches(), self.steps(), strict=True), most)
            whole = [(batch, step) for batch, step in first if len(step.indices) == size]
        finally:
            self.spec = spec
        if not whole:
            raise RuntimeError(f"batch_size: the test set has fewer than {size} samples. Use a smaller batch size.")
        return whole

    def evaluate(self) -> Outputs:
        """Return outputs for the whole test set, one row per sample."""
        returned = [without_marks(self.task, self.run(batch)) for batch in self.batches()]
        return self.in_order(returned, self.steps())


class Training(Workload):
    """Training: a model that learns from its initial weights."""

    split = TRAIN

    def batches(self, epoch: int = 0) -> Iterator[tuple[Inputs, Any]]:
        """Batches of the training set and their labels, in the order of an epoch."""
        for step in self.task.plan(TRAIN, self.data, self.spec.batch_size, self.spec.seed, epoch):
            # By numbers also where a slice would do: a slice of a mapped file would be read when the model looks at it.
            inputs = self.tensors(values[step.indices] for values in self.data.inputs_train.values())
            yield linked(inputs, step), self.labels(self.data.y_train[step.indices])

    @abstractmethod
    def labels(self, values: NDArray[np.int64]) -> Any:
        """Labels of a batch on the device."""

    def check_learns(self) -> None:
        """Check of what is set up that it can learn from its data set.

        Raises:
            FramewattError: it works out no loss of it.
        """
        check_learns(getattr(self, "model", None), self.data)

    def test_steps(self) -> list[Step]:
        """Return the steps in which the test set is evaluated."""
        return list(self.task.plan(TEST, self.data, EVALUATED))

    def rates(self) -> NDArray[np.float64]:
        """Return the learning rate of every step of the whole training; empty where the study has no schedule.

        Raises:
            FramewattError: the schedule does not fit into the training.
        """
        training = self.spec.training
        if not training.get("schedule"):
            return np.zeros(0)
        return rates(training, len(self.steps(1)) * training["epochs"])

    @abstractmethod
    def loss_of(self, step: Any) -> float:
        """Return the mean loss of a step, from the result of `run`."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the weights to a folder, for the framework's inference workload and exporter."""


def facts_of(data: Arrays, input_shape: tuple[int, ...] | None = None) -> Facts:
    """Return what a model of a data set is built for.

    Args:
        data: the data set.
        input_shape: shape of one sample in the framework's layout; None where it is the data set's.
    """
    return Facts(task_of(data.task).name, data.classes, input_shape or data.input_shape, data.categories)


def adam_of(training: Mapping[str, Any]) -> dict[str, float]:
    """Constants `beta_1`, `beta_2` and `epsilon` of Adam and LAMB, from the study's `training` settings."""
    first, second = training.get("betas", BETAS)
    return {"beta_1": first, "beta_2": second, "epsilon": EPSILON}


def spec_of(job: Mapping[str, Any]) -> Spec:
    """Return the workload's part of a job."""
    return Spec(
        model=job["model"],
        batch_size=job["batch_size"],
        device=job["device"],
        provider=job["provider"],
        threads=job["threads"],
        seed=job["seed"],
        artefact=Path(job["artefact"]) if job.get("artefact") else None,
        training=job["training"],
        options=job.get("options", {}),
        own=job.get("own"),
        outputs=job.get("outputs", {}),
        classes=job.get("classes", Spec.classes),
    )
