"""Mask R-CNN of torchvision, on images that are prepared, learning from anchors and proposals of a common plan."""

from collections.abc import Sequence

import torch
from torchvision.models.detection import maskrcnn_resnet50_fpn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNN, MaskRCNNHeads, MaskRCNNPredictor
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool

from framewatt.tasks.boxes import NONE
from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import DEVIATION, MEAN, RATIOS, check_sides
from framewatt.workloads.mask_rcnn import (
    ANCHORS_DRAWN,
    ANCHORS_WITH,
    CELLS,
    FULL,
    LEAST_SCORE,
    MOST,
    OVERLAP,
    PROPOSALS_DRAWN,
    PROPOSALS_WITH,
    Dimensions,
)
from framewatt.workloads.plan import ranks
from framewatt.workloads.torch._detector import SumOfParts, full, listed, normal, targets_of
from framewatt.workloads.torch._mask_rcnn_search import masked_at_once
from framewatt.workloads.torch._resnet import narrow_pyramid

_FIRST = 1
"""Label of the first class, behind the background."""


class PlannedSampler:
    """Draws as torchvision's BalancedPositiveNegativeSampler does, by a plan that other frameworks follow too.

    Args:
        count: to draw of an image.
        share: of those with an object, at most.
    """

    def __init__(self, count: int, share: float) -> None:
        self.count = count
        self.most = int(count * share)
        self.steps = 0

    def __call__(self, labels: Sequence[torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Masks of what is drawn of each image: with an object, and without.

        Args:
            labels: of each image, shape (k,): 1 or more with an object, 0 without, -1 of what is not drawn from.
        """
        drawn: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
        for image, of_image in enumerate(labels):
            found = self._lowest(torch.where(of_image >= 1)[0], image, self.most)
            others = self._lowest(torch.where(of_image == 0)[0], image, self.count - len(found))
            for part, numbers in zip(drawn, (found, others), strict=True):
                # A mask of uint8, as torchvision's.
                part.append(torch.zeros_like(of_image, dtype=torch.uint8).index_fill_(0, numbers, 1))
        self.steps += 1
        return drawn

    def _lowest(self, numbers: torch.Tensor, image: int, count: int) -> torch.Tensor:
        """Those of some numbers, shape (k,), that have the lowest ranks, in any order; all of them if there are few."""
        if len(numbers) <= count:
            return numbers
        return numbers[ranks(numbers, image, self.steps).topk(count, largest=False, sorted=False).indices]


class PreparedMaskRCNN(SumOfParts, MaskRCNN):
    """torchvision's Mask R-CNN with all its parts but the resizing, and but where its masks are laid on the image.

    Args:
        backbone: gives the maps.
        dimensions: of it and of the heads.
        classes: without the background.
        parts: of torchvision's model, where there is one; they are taken over.
    """

    def __init__(self, backbone: torch.nn.Module, dimensions: Dimensions, classes: int, parts: MaskRCNN | None) -> None:
        channels = dimensions.pyramid
        if parts is None:
            heads = {
                "box_head": TwoMLPHead(channels * CELLS**2, dimensions.dense),
                "box_predictor": FastRCNNPredictor(dimensions.dense, classes + _FIRST),
                "mask_head": MaskRCNNHeads(channels, (dimensions.masks,) * 4, 1),
                "mask_predictor": MaskRCNNPredictor(dimensions.masks, dimensions.masks, classes + _FIRST),
            }
        else:
            names = ("box_head", "box_predictor", "mask_head", "mask_predictor")
            heads = {name: getattr(parts.roi_heads, name) for name in names}
        super().__init__(
            backbone,
            rpn_anchor_generator=AnchorGenerator(
                tuple((side,) for side in dimensions.sizes), (RATIOS,) * len(dimensions.sizes)
            ),
            rpn_head=None if parts is None else parts.rpn.head,
            rpn_pre_nms_top_n_train=dimensions.proposals_before[0],
            rpn_pre_nms_top_n_test=dimensions.proposals_before[1],
            rpn_post_nms_top_n_train=dimensions.proposals[0],
            rpn_post_nms_top_n_test=dimensions.proposals[1],
            box_score_thresh=LEAST_SCORE,
            box_nms_thresh=OVERLAP,
            box_detections_per_img=MOST,
            **heads,
        )
        self.rpn.fg_bg_sampler = PlannedSampler(ANCHORS_DRAWN, ANCHORS_WITH)
        self.roi_heads.fg_bg_sampler = PlannedSampler(PROPOSALS_DRAWN, PROPOSALS_WITH)
        self.dimensions = dimensions

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Detections with masks, shape (n, MOST, 6 + MASK * MASK), of images (n, 3, height, width) from 0 to 1."""
        found, _ = self._gone_through(images, None)
        return torch.stack([_rows(one) for one in found])

    def parts_of_loss(
        self, images: torch.Tensor, boxes: torch.Tensor, classes: torch.Tensor, masks: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """The loss of a batch by its parts, see workloads.detector."""
        _, losses = self._gone_through(images, targets_of(boxes, classes, masks, _FIRST))
        return losses

    def at_once(self, images: torch.Tensor) -> torch.Tensor:
        """The same detections, found for all images at once: what an exporter takes."""
        features = self.backbone(normal(images, MEAN, DEVIATION))
        return masked_at_once(self.rpn.head, self.roi_heads, features, self.dimensions, tuple(images.shape[2:]))

    def _gone_through(
        self, images: torch.Tensor, targets: list[dict[str, torch.Tensor]] | None
    ) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
        """What is found, and the losses where there are targets."""
        features, shown = self.backbone(normal(images, MEAN, DEVIATION)), listed(images)
        proposals, of_proposals = self.rpn(shown, features, targets)
        found, of_heads = self.roi_heads(features, proposals, shown.image_sizes, targets)
        return found, {**of_proposals, **of_heads}


def _rows(found: dict[str, torch.Tensor]) -> torch.Tensor:
    """Detections of an image, shape (MOST, 6 + MASK * MASK), see tasks.boxes."""
    parts = [found["boxes"], found["scores"][:, None], (found["labels"] - _FIRST)[:, None]]
    rows = torch.cat([*(full(part) for part in parts), full(found["masks"]).flatten(1)], dim=1)
    return torch.nn.functional.pad(rows, (0, 0, 0, MOST - len(rows)), value=NONE)


def build_mask_rcnn(dimensions: Dimensions, facts: Facts) -> PreparedMaskRCNN:
    """A Mask R-CNN with random weights.

    Args:
        dimensions: of the model; those of FULL give torchvision's own parts.
        facts: of the data set.

    Raises:
        FramewattError: the images have other sides than multiples of 32.
    """
    check_sides("Mask R-CNN", facts.input_shape)
    if dimensions == FULL:
        whole = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=facts.classes + _FIRST)
        return PreparedMaskRCNN(whole.backbone, dimensions, facts.classes, whole)
    top = LastLevelMaxPool()
    backbone = narrow_pyramid(dimensions.stem, dimensions.stages, dimensions.blocks, 1, dimensions.pyramid, top)
    return PreparedMaskRCNN(backbone, dimensions, facts.classes, None)
