"""SSD as georgiou2022 ran it: two models under one name, on the same images of 300 x 300 pixels.

In PyTorch it is SSD300 with a ResNet-50 in place of the VGG; in TensorFlow "SSD320", which is a RetinaNet. What the
paper compares as SSD are therefore different networks, with other losses and searches: a difference in energy between
them is none of frameworks. `ssd300` is one model in both.

Source: the paper's artifact, and the vendor's reference implementations that it started from (DeepLearningExamples).
What is not said here, such as the least score of a detection, is that of workloads.ssd and workloads.retinanet.
"""

from dataclasses import dataclass

from framewatt.workloads.detector import DEVIATION, MEAN
from framewatt.workloads.resnet import FULL as RESNET
from framewatt.workloads.resnet import WIDENING
from framewatt.workloads.ssd import TASK, Grid

__all__ = ["DIMENSIONS", "OVERLAP", "PADDED", "TASK", "Dimensions"]

PADDED = 320
"""Sides of the images that the RetinaNet looks at: zeros on the right and below, as torchvision's own transform adds up
to a multiple of 32."""

OVERLAP = 0.6
"""The RetinaNet's boxes that overlap a better one by more are left out; SSD300's by more than 0.45."""


@dataclass(frozen=True)
class Dimensions(Grid):
    """Dimensions of an SSD of a ResNet-50 up to its third stage, whose stride is 1 and which gives the first map."""

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
        # A ResNet without its last stage and its classifier, which tells none apart.
        last = (before + 2) * wide
        for _ in range(of_last):
            last += (before + 2) * narrow + (9 * narrow + 2) * narrow + (narrow + 2) * wide
            before = wide
        found, before = RESNET.parameters(0) - last, self.own_channels[0]
        for few, many, _ in self.extras:
            found += (before + 2) * few + (9 * few + 2) * many
            before = many
        return found + self.of_heads(classes)


DIMENSIONS = Dimensions(
    size=300,
    extras=((256, 512, 2), (256, 512, 2), (128, 256, 2), (128, 256, 1), (128, 256, 1)),
    ratios=((2,), (2, 3), (2, 3), (2, 3), (2,), (2,)),
    scales=(0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05),
    steps=(8, 16, 32, 64, 100, 300),
    mean=MEAN,
    deviation=DEVIATION,
)
"""Of PyTorch's."""
