"""Mask R-CNN: the dimensions and thresholds that are the same in every framework.

Source: K. He et al., Mask R-CNN, ICCV 2017, in the form that torchvision ships: a ResNet with a pyramid, a network that
proposes boxes, and heads for the class, the box and the mask of each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.workloads.detector import RATIOS, anchors_of, pyramid_sizes
from framewatt.workloads.families.contract import Family, Size

PROPOSED, NOT_PROPOSED = 0.7, 0.3
"""Overlap from which an anchor is assigned to an object, and below which to none."""

ANCHORS_DRAWN, ANCHORS_WITH = 256, 0.5
"""Anchors of an image that a step learns from, and the share of those with an object, at most."""

PROPOSALS_OVERLAP = 0.7
"""Of proposals, those that overlap a better one of their map by more are left out."""

ASSIGNED = 0.5
"""Overlap from which a proposal is assigned to an object."""

PROPOSALS_DRAWN, PROPOSALS_WITH = 512, 0.25
"""Proposals of an image that a step learns from, and the share of those with an object, at most."""

CODED = (10.0, 10.0, 5.0, 5.0)
"""What shift and growth from a proposal are multiplied with; those from anchors are not."""

LEAST_SCORE, OVERLAP, MOST = 0.05, 0.5, 100
"""Boxes of a class with a higher score are looked at; of those that overlap by more the better is kept; an image has
MOST."""

CELLS, MASK_CELLS = 7, 14
"""Cells of a side that a box, and a mask, are found from."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a Mask R-CNN.

    Attributes:
        stem: channels of the ResNet's first convolution.
        stages: of its four stages, before a bottleneck widens them.
        blocks: of each stage.
        widening: 4 of a bottleneck, 1 of a basic block.
        pyramid: channels of the pyramid's maps.
        dense: units of the two dense layers.
        masks: channels of the mask's convolutions.
        sizes: of the pyramid's five maps, the side of an anchor, in pixels.
        proposals_before: best anchors of each map in training, and in inference.
        proposals: of an image in training, and in inference.
    """

    stem: int
    stages: tuple[int, int, int, int]
    blocks: tuple[int, int, int, int]
    widening: int
    pyramid: int
    dense: int
    masks: int
    sizes: tuple[int, ...]
    proposals_before: tuple[int, int]
    proposals: tuple[int, int]

    @property
    def anchors_a_place(self) -> int:
        """How many anchors each place of a map has."""
        return len(RATIOS)

    def anchors(self, height: int, width: int) -> list[NDArray[np.float32]]:
        """Return every map's anchors, see `detector.anchors_of`.

        Args:
            height: of the images.
            width: of the images.
        """
        maps = pyramid_sizes(height, width, 2, len(self.sizes))
        return anchors_of([(side,) for side in self.sizes], maps, height, width)


FULL = Dimensions(
    stem=64,
    stages=(64, 128, 256, 512),
    blocks=(3, 4, 6, 3),
    widening=4,
    pyramid=256,
    dense=1024,
    masks=256,
    sizes=(32, 64, 128, 256, 512),
    proposals_before=(2000, 1000),
    proposals=(2000, 1000),
)
"""torchvision's `maskrcnn_resnet50_fpn`."""

SMALL = Dimensions(
    stem=16,
    stages=(16, 32, 64, 128),
    blocks=(1, 1, 1, 1),
    widening=1,
    pyramid=64,
    dense=128,
    masks=32,
    sizes=(12, 20, 32, 48, 64),
    proposals_before=(200, 100),
    proposals=(200, 50),
)
"""For a machine of few cores."""

FAMILY = Family("mask_rcnn", "segmentation", {"mask_rcnn": Size(FULL), "mask_rcnn_small": Size(SMALL)})
