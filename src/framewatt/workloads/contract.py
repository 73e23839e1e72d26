"""What a workload is: a model, its data and one way to run it, with the timed part apart from the rest.

Only `run` and `synchronize` are called inside a timed window.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.study.options import OPTIONS, Level

ONNX_FILE = "model.onnx"
"""In the folder of an exported model."""

BODY = ("config.json", "model.safetensors")
"""Files of published weights that come without a head, as hubs have them: what the model is, and its weights."""

ADAM = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}
"""Adam's constants, as in its paper (Kingma and Ba, 2015), in every framework; the frameworks' own epsilons differ."""

Scores = NDArray[np.float32]

Inputs = tuple[Any, ...]
"""What a model takes at once: an array for each of the data set's inputs, in their order, as the framework has them."""


def example_inputs(data: Arrays, samples: int) -> tuple[NDArray[Any], ...]:
    """A batch to trace a model or to count its work with: the first test sample, so often."""
    return tuple(np.repeat(values[:1], samples, axis=0) for values in data.inputs_test.values())


@dataclass(frozen=True)
class Spec:
    """How a workload is to be run.

    Attributes:
        model: name of the model, a file in the framework's folder or a key of the study's `models`.
        batch_size: samples handed over at once.
        device: `cpu` or `cuda`.
        provider: ONNX Runtime's execution provider, or `native`.
        threads: threads the framework may use on the CPU.
        seed: of initial weights and shuffling.
        artefact: folder with trained weights or an ONNX file; None where the workload trains.
        training: the study's `training` settings.
        options: levels of options that are not the default ones, by name (see options.OPTIONS).
        own: of a model that is the user's own and built here, its `factory` and the `folder` of its module; else None.
        pretrained: whether a zoo's model is built with published weights, in place of random ones.
        body: folder with published weights of the model without a head, where the zoo has none with one; else None.
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

    def level(self, option: str) -> Any:
        """Level of an option, as it is by default where nothing else was chosen."""
        return self.options.get(option, OPTIONS[option].default)


class Workload(ABC):
    """A model on a data set. Made without work; `setup` does that."""

    def __init__(self, spec: Spec, data: Arrays) -> None:
        self.spec = spec
        self.data = data

    @abstractmethod
    def setup(self) -> None:
        """Build the model, load its weights and move all inputs to where the model reads them."""

    @abstractmethod
    def batches(self, epoch: int = 0) -> Iterator[Any]:
        """Ready batches of one pass over the data: `Inputs` for inference, `(Inputs, labels)` for training.

        Inference passes over the test set in its order; training over the training set, shuffled alike in every
        framework by `seed` and `epoch`, without the last incomplete batch.
        """

    @abstractmethod
    def run(self, batch: Any) -> Any:
        """One step over a batch.

        Returns:
            Inference: the scores on the host, shape (batch, classes), or whatever tensor a user's model gives, with a
            row a sample. Training: the loss, in any form that `loss_of` understands.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until everything handed to the device is done."""

    @abstractmethod
    def evaluate(self) -> Scores:
        """Class scores of the whole test set, shape (n, classes)."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Parameters, FLOPs of one sample's forward pass, input shape, library versions, and options `in_force`.

        The options are as the framework itself tells them, not as the study asked for them.
        """

    def close(self) -> None:  # noqa: B027  # most frameworks have nothing to let go of
        """Let go of what `setup` took."""


class Inference(Workload):
    """A trained model that scores the test set."""

    def compile(self) -> None:
        """Run a batch of every size, for compilers that work at the first one; a last batch may be smaller."""
        for batch in {len(batch[0]): batch for batch in self.batches()}.values():
            self.run(batch)
        self.synchronize()

    def warm_up(self, batches: int) -> None:
        """Run some batches, starting over where the data are short, and wait for them."""
        ready = list(self.batches())
        for index in range(batches):
            self.run(ready[index % len(ready)])
        self.synchronize()

    def evaluate(self) -> Scores:
        """Class scores of the whole test set, shape (n, classes)."""
        return np.concatenate([self.run(batch) for batch in self.batches()])


class Training(Workload):
    """A model that learns from random weights."""

    @abstractmethod
    def loss_of(self, step: Any) -> float:
        """The mean loss of a step, from what `run` gave."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the weights to a folder, for the framework's inference workload and exporter."""

    def shuffled(self, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Indices of the epoch's batches, the same for every framework.

        Yields:
            shape (batch,), indices into the training set.

        Raises:
            FramewattError: there is nothing to train on.
        """
        count = len(self.data.x_train)
        if not count:
            raise FramewattError("data set: found no training samples; allowed: some, or a study with weights: seeded")
        order = np.random.default_rng([self.spec.seed, epoch]).permutation(count)
        size = min(self.spec.batch_size, count)
        for start in range(0, count - size + 1, size):
            yield order[start : start + size]


def spec_of(job: Mapping[str, Any]) -> Spec:
    """The workload's part of a job."""
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
    )
