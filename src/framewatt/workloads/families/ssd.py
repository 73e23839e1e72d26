"""SSD, a detector that looks once: the dimensions, default boxes and thresholds that are the same in every framework.

Source: W. Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, in the form that torchvision ships: a VGG-16 with
its last dense layers as convolutions, maps of falling size behind it, and default boxes at each place of each map.

`ssd_as_published` is two models under one name, on the same images of 300 x 300 pixels, as georgiou2022 ran them: in
PyTorch SSD300 with a ResNet-50 instead of the VGG, in TensorFlow "SSD320", which is a RetinaNet. The networks, losses
and searches differ, so that a difference in energy between them is not one between frameworks. `ssd300` is one model in
both. Source: the paper's artifact, and the vendor's reference implementations that it started from
(DeepLearningExamples). What they do not state, such as the lowest score of a detection, is that of SSD300 and of
framewatt.workloads.families.retinanet.
"""

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.workloads.detector import DEVIATION, MEAN
from framewatt.workloads.families.contract import Family, Size
from framewatt.workloads.families.resnet_v15 import FULL as RESNET
from framewatt.workloads.families.resnet_v15 import WIDENING

SCALE = 20.0
"""What the first map's places are scaled to begin with, once their length is 1."""

CODED = (10.0, 10.0, 5.0, 5.0)
"""What a box's shift and growth, relative to its default box, are multiplied with."""

MATCHED = 0.5
"""Least overlap at which a default box is assigned to an object; the best box of each object is in any case."""

NEGATIVES = 3
"""Default boxes without an object that are learnt from, those that err most, for each one with an object."""

LEAST_SCORE, BEST, OVERLAP, MOST = 0.01, 400, 0.45, 200
"""Of the BEST boxes of a class above LEAST_SCORE, those that overlap a better one by more than OVERLAP are left out;
of the others of all classes an image has MOST."""


@dataclass(frozen=True)
class Grid(ABC):
    """What default boxes lie on, whatever network gives the maps.

    Attributes:
        size: pixels of an image's sides.
        extras: of each map behind the network's own, channels of its 1x1 and of its 3x3 convolution, and the latter's
            stride; where it is 1, nothing is padded.
        ratios: of each map, the ratios of sides of its default boxes, except 1.
        scales: of each map, its default boxes' size as a share of the image's, and one more.
        steps: of each map, pixels between its places.
        mean: of each channel, which is taken off; of values from 0 to 1.
        deviation: what the rest is divided by.
    """

    size: int
    extras: tuple[tuple[int, int, int], ...]
    ratios: tuple[tuple[int, ...], ...]
    scales: tuple[float, ...]
    steps: tuple[int, ...]
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]

    @property
    @abstractmethod
    def own_channels(self) -> list[int]:
        """The number of channels of each of the network's own maps."""

    @property
    @abstractmethod
    def own_sides(self) -> list[int]:
        """The number of places along a side of each of the network's own maps."""

    @property
    def channels(self) -> list[int]:
        """Of every map that boxes are found on."""
        return [*self.own_channels, *(wide for _, wide, _ in self.extras)]

    @property
    def boxes_a_place(self) -> list[int]:
        """How many default boxes each place of a map has, map by map."""
        return [2 + 2 * len(ratios) for ratios in self.ratios]

    @property
    def first_factor(self) -> float:
        """What the weights of the first convolution begin multiplied with.

        SSD300's images go from -123 to 151, which the weights that it is published with expect. By random ones every
        map is as large and all scores are 1; here these begin as much smaller as the images are larger than others'.
        """
        return sum(self.deviation) / sum(DEVIATION)

    @property
    def sides(self) -> list[int]:
        """Places of every map's sides."""
        sides = self.own_sides
        for _, _, stride in self.extras:
            sides.append((sides[-1] + 1) // 2 if stride == 2 else sides[-1] - 2)
        return sides

    def head_parameters(self, classes: int) -> int:
        """Return the number of weights of the heads.

        Args:
            classes: without the background.
        """
        heads = zip(self.channels, self.boxes_a_place, strict=True)
        return sum((9 * channels + 1) * boxes * (classes + 1 + 4) for channels, boxes in heads)

    def check(self, shape: tuple[int, ...]) -> None:
        """Check that images have the size that default boxes are for.

        Args:
            shape: of an image, in any layout.

        Raises:
            FramewattError: they have another one, or not three channels.
        """
        if sorted(shape) != [3, self.size, self.size]:
            raise FramewattError(
                f"SSD: it does not take images of {shape}. Use 3 channels of {self.size} x {self.size} pixels, see "
                "size of the data set."
            )

    def default_boxes(self) -> NDArray[np.float32]:
        """Return every default box: left, top, right, bottom in pixels, some beyond the image, shape (boxes, 4)."""
        boxes = []
        for number, (side, ratios, step) in enumerate(zip(self.sides, self.ratios, self.steps, strict=True)):
            scale, following = self.scales[number], self.scales[number + 1]
            sizes = [(scale, scale), (math.sqrt(scale * following),) * 2]
            for ratio in ratios:
                wide, narrow = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
                sizes += [(wide, narrow), (narrow, wide)]
            middles = (np.arange(side) + 0.5) * step / self.size
            down, right = np.meshgrid(middles, middles, indexing="ij")
            at = np.repeat(np.stack([right.ravel(), down.ravel()], axis=1), len(sizes), axis=0)
            half = np.tile(np.minimum(sizes, 1.0), (side * side, 1)) / 2
            boxes.append(np.concatenate([at - half, at + half], axis=1) * self.size)
        return np.concatenate(boxes).astype(np.float32)


@dataclass(frozen=True)
class Dimensions(Grid):
    """Dimensions of an SSD of a VGG.

    Attributes:
        stages: channels of the convolutions before the first map, between poolings.
        last: of those behind the last pooling.
        dense: channels of the two layers that were dense ones.
    """

    stages: tuple[tuple[int, ...], ...]
    last: tuple[int, ...]
    dense: int

    @property
    def own_channels(self) -> list[int]:
        """Of the map before the last pooling, and of that behind it."""
        return [self.stages[-1][-1], self.dense]

    @property
    def own_sides(self) -> list[int]:
        """Places of the sides of these two."""
        side = self.size
        for number, _ in enumerate(self.stages[1:]):
            # Only the last pooling before the first map rounds up.
            side = -(-side // 2) if number == len(self.stages) - 2 else side // 2
        return [side, side // 2]

    def parameters(self, classes: int) -> int:
        """Return the number of weights.

        Args:
            classes: without the background.
        """
        total, before = self.stages[-1][-1], 3
        for channels in (*itertools.chain(*self.stages), *self.last, self.dense):
            total, before = total + (9 * before + 1) * channels, channels
        total += (self.dense + 1) * self.dense
        for narrow, wide, _ in self.extras:
            total += (before + 1) * narrow + (9 * narrow + 1) * wide
            before = wide
        return total + self.head_parameters(classes)


FULL = Dimensions(
    size=300,
    stages=((64, 64), (128, 128), (256, 256, 256), (512, 512, 512)),
    last=(512, 512, 512),
    dense=1024,
    extras=((256, 512, 2), (128, 256, 2), (128, 256, 1), (128, 256, 1)),
    ratios=((2,), (2, 3), (2, 3), (2, 3), (2,), (2,)),
    scales=(0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05),
    steps=(8, 16, 32, 64, 100, 300),
    mean=(0.48235, 0.45882, 0.40784),
    deviation=(1 / 255,) * 3,
)
"""torchvision's `ssd300_vgg16`."""

SMALL = Dimensions(
    size=128,
    stages=((16, 16), (32, 32), (64, 64), (64, 64)),
    last=(64, 64),
    dense=128,
    extras=((32, 64, 2), (32, 64, 2)),
    ratios=((2,), (2,), (2,), (2,)),
    scales=(0.15, 0.25, 0.4, 0.6, 0.8),
    steps=(8, 16, 32, 64),
    mean=MEAN,
    deviation=DEVIATION,
)
"""For a machine of few cores."""

PADDED = 320
"""Sides of the images that the published RetinaNet sees: zeros are added on the right and below, as torchvision's own
transform adds up to a multiple of 32."""

PADDED_OVERLAP = 0.6
"""The published RetinaNet leaves out boxes that overlap a better box by more than this; SSD300 uses OVERLAP."""


@dataclass(frozen=True)
class ResNetDimensions(Grid):
    """Dimensions of an SSD of a ResNet-50 up to its third stage, which has a stride of 1 and gives the first map."""

    @property
    def own_channels(self) -> list[int]:
        """Of the third stage."""
        return [WIDENING * RESNET.stages[2]]

    @property
    def own_sides(self) -> list[int]:
        """Three halvings: of the first convolution, the pooling and the second stage; each rounds up."""
        side = self.size
        for _ in range(3):
            side = -(-side // 2)
        return [side]

    def parameters(self, classes: int) -> int:
        """Number of weights; convolutions have no biases but those of the heads, and a normalisation behind them.

        Args:
            classes: without the background.
        """
        of_last = RESNET.blocks[3]
        wide, narrow, before = WIDENING * RESNET.stages[3], RESNET.stages[3], WIDENING * RESNET.stages[2]
        # A ResNet without its last stage and its classifier, which distinguishes nothing here.
        last = (before + 2) * wide
        for _ in range(of_last):
            last += (before + 2) * narrow + (9 * narrow + 2) * narrow + (narrow + 2) * wide
            before = wide
        total, before = RESNET.parameters(0) - last, self.own_channels[0]
        for few, many, _ in self.extras:
            total += (before + 2) * few + (9 * few + 2) * many
            before = many
        return total + self.head_parameters(classes)


AS_PUBLISHED = ResNetDimensions(
    size=300,
    extras=((256, 512, 2), (256, 512, 2), (128, 256, 2), (128, 256, 1), (128, 256, 1)),
    ratios=((2,), (2, 3), (2, 3), (2, 3), (2,), (2,)),
    scales=(0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05),
    steps=(8, 16, 32, 64, 100, 300),
    mean=MEAN,
    deviation=DEVIATION,
)
"""Of PyTorch's; TensorFlow's takes images of the same size."""

FAMILY: Family[Grid] = Family(
    "ssd",
    "detection",
    {"ssd300": Size(FULL), "ssd_as_published": Size(AS_PUBLISHED), "ssd_small": Size(SMALL)},
)
