"""RetinaNet, a detector of dense anchors: the dimensions, anchors and thresholds that are the same in every framework.

Source: T.-Y. Lin et al., Focal Loss for Dense Object Detection, ICCV 2017, in the form that torchvision ships: a
ResNet, a pyramid of maps from it, and two heads of four convolutions that all maps share.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.workloads.detector import RATIOS, anchors_of, pyramid_sizes
from framewatt.workloads.families.contract import Family, Size

CODED = (1.0, 1.0, 1.0, 1.0)
"""What a box's shift and growth, relative to its anchor, are multiplied with."""

MATCHED, BACKGROUND = 0.5, 0.4
"""Least overlap at which an anchor is assigned to an object, and the most at which it is background; between them it
is ignored. The best anchors of an object are assigned to it in any case."""

ALPHA, GAMMA = 0.25, 2.0
"""Of the focal loss: weight of the object's class, and by how much the loss of what is nearly right falls."""

PRIOR = 0.01
"""Share of a class that scores begin with."""

LEAST_SCORE, BEST, OVERLAP, MOST = 0.05, 1000, 0.5, 300
"""Of each map, the BEST scores above LEAST_SCORE are looked at; boxes of a class that overlap a better one by more than
OVERLAP are left out; of the others an image has MOST."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a RetinaNet.

    Attributes:
        stem: channels of the ResNet's first convolution.
        stages: channels of the four stages, before a bottleneck widens them.
        blocks: of each stage.
        widening: by how much a block's output is wider than its stage: 4 of a bottleneck, 1 of a basic block.
        pyramid: channels of the pyramid's maps and of the heads.
        sizes: of the pyramid's maps, the side of the smallest anchor, in pixels.
    """

    stem: int
    stages: tuple[int, int, int, int]
    blocks: tuple[int, int, int, int]
    widening: int
    pyramid: int
    sizes: tuple[int, ...]

    @property
    def anchors_a_place(self) -> int:
        """How many anchors each place of a map has."""
        return 3 * len(RATIOS)

    def scales(self) -> list[tuple[int, int, int]]:
        """Sides of each map's anchors; torchvision takes whole pixels."""
        return [(side, int(side * 2 ** (1 / 3)), int(side * 2 ** (2 / 3))) for side in self.sizes]

    def anchors(self, height: int, width: int) -> list[NDArray[np.float32]]:
        """Return every map's anchors, see `detector.anchors_of`.

        Args:
            height: of the images.
            width: of the images.
        """
        return anchors_of(self.scales(), pyramid_sizes(height, width, 3, len(self.sizes)), height, width)


FULL = Dimensions(64, (64, 128, 256, 512), (3, 4, 6, 3), widening=4, pyramid=256, sizes=(32, 64, 128, 256, 512))
"""torchvision's `retinanet_resnet50_fpn`."""

SMALL = Dimensions(16, (16, 32, 64, 128), (1, 1, 1, 1), widening=1, pyramid=64, sizes=(20, 32, 48, 64, 96))
"""For a machine of few cores."""

FAMILY = Family("retinanet", "detection", {"retinanet": Size(FULL), "retinanet_small": Size(SMALL)})
