"""What the training loops of `make bench` train, and on what: the same in every framework."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets import synthetic_language, synthetic_ratings, synthetic_shapes, synthetic_text
from framewatt.datasets.contract import Images
from framewatt.tasks import task_of
from framewatt.tasks.contract import TRAIN

THREADS = 1
MOMENTUM = 0.9
SEED = 1
"""Of weights, too: where a framework draws them alike, both loops begin with the same ones."""


@dataclass(frozen=True)
class Case:
    """What is trained.

    Attributes:
        model: its name.
        data: makes its samples.
        batch: samples a step; all steps are whole, since framewatt leaves a smaller last one out.
        rate: learning rate.
        options: levels of options that are not at their default.
    """

    model: str
    data: Callable[[], Images]
    batch: int
    rate: float
    options: dict[str, str] = field(default_factory=dict)

    def order(self, data: Images) -> list[NDArray[np.int64]]:
        """Samples of each step of the epoch that framewatt's loop repeats, so that a plain one does the same work."""
        return [step.indices for step in task_of(data.task).plan(TRAIN, data, self.batch, SEED, epoch=1)]


@dataclass(frozen=True)
class Plain:
    """A plain loop over a model that is made once.

    Attributes:
        parameters: numbers that it learns.
        epoch: goes through all samples, and gives the loss of each step, or the mean of all, as the framework has it.
        loss_of: what it gives as a number; not called while time counts.
    """

    parameters: int
    epoch: Callable[[], Sequence[Any]]
    loss_of: Callable[[Any], float] = float


def images() -> Images:
    """Noise in the shape of CIFAR-10."""
    rng = np.random.default_rng(1)
    pixels, labels = rng.random((96, 3, 32, 32), dtype=np.float32), (np.arange(96) % 10).astype(np.int64)
    return Images(pixels, labels, pixels[:16], labels[:16], class_count=10)


def pairs() -> Images:
    """18,300 pairs of as many users as MovieLens' latest small has."""
    return synthetic_ratings.make(
        users=610, items=4000, tastes=8, ratings_per_user=7, negatives=4, candidates=1, seed=1
    )


def texts() -> Images:
    """160 segments of 64 words, of 12,000 that there are."""
    return synthetic_text.make(vocabulary=12_000, train_tokens=160 * 64 + 1, test_tokens=65, segment=64, seed=1)


def sentences() -> Images:
    """960 pairs of sentences of 4 to 12 words."""
    return synthetic_language.make(vocabulary=4000, longest=12, train_pairs=960, test_pairs=16, seed=1)


def shapes() -> Images:
    """64 images of 128 pixels with one to four shapes."""
    return synthetic_shapes.make(train_samples=64, test_samples=4, size=128, most=4, masks=False, seed=1)


def shapes_with_masks() -> Images:
    """32 images of 128 pixels with one to four shapes and their masks."""
    return synthetic_shapes.make(train_samples=32, test_samples=4, size=128, most=4, masks=True, seed=1)


CASES = {
    case.model: case
    for case in (
        Case("resnet50", images, batch=16, rate=0.001),
        Case("resnet50_v15", images, batch=16, rate=0.001),
        Case("neumf_small", pairs, batch=256, rate=0.001, options={"optimizer": "adam"}),
        Case("transformer_xl_small", texts, batch=8, rate=0.001, options={"optimizer": "adam"}),
        Case("gnmt_small", sentences, batch=32, rate=0.001, options={"optimizer": "adam"}),
        Case("ssd_small", shapes, batch=8, rate=0.001),
        Case("retinanet_small", shapes, batch=8, rate=0.001),
        Case("mask_rcnn_small", shapes_with_masks, batch=4, rate=0.001),
    )
}
