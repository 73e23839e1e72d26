"""Mask R-CNN of torchvision, on images that are prepared, learning from anchors and proposals of a common plan."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torchvision.models.detection import maskrcnn_resnet50_fpn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNN, MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.rpn import permute_and_flatten
from torchvision.ops import roi_align
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool
from torchvision.ops.poolers import LevelMapper

from framewatt.tasks.boxes import BOX, NONE
from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import DEVIATION, MEAN, RATIOS, check_sides, ranks
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.mask_rcnn import (
    ANCHORS_DRAWN,
    ANCHORS_WITH,
    CELLS,
    CODED,
    FULL,
    LEAST_SCORE,
    MASK_CELLS,
    MOST,
    OVERLAP,
    PROPOSALS_DRAWN,
    PROPOSALS_OVERLAP,
    PROPOSALS_WITH,
    Dimensions,
)
from framewatt.workloads.torch.detector import (
    SumOfParts,
    best_of_classes,
    full,
    listed,
    normal,
    shifted,
    surviving,
    targets_of,
)
from framewatt.workloads.torch.resnet_v15 import narrow_pyramid

_FIRST = 1
"""Label of the first class, behind the background."""

_LEVELS = (2, 3, 4, 5)
"""Of the maps that heads look at: a map's places are 2 to its level pixels apart."""

_SAMPLES = 2
"""Points along each side of a cell, torchvision's."""

_SMALLEST, _SMALLEST_BOX = 1e-3, 1e-2
"""Pixels of a side below which torchvision leaves out a proposal, and a box that was found."""

_AS_THEY_ARE = (1.0, 1.0, 1.0, 1.0)

ImageSize = tuple[int, int]
"""Height and width of images."""


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
            positive = self._lowest(torch.where(of_image >= 1)[0], image, self.most)
            others = self._lowest(torch.where(of_image == 0)[0], image, self.count - len(positive))
            for part, numbers in zip(drawn, (positive, others), strict=True):
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
        detections, _ = self._gone_through(images, None)
        return torch.stack([_rows(one) for one in detections])

    def parts_of_loss(
        self, images: torch.Tensor, boxes: torch.Tensor, classes: torch.Tensor, masks: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the loss of a batch by its parts, see workloads.detector."""
        _, losses = self._gone_through(images, targets_of(boxes, classes, masks, _FIRST))
        return losses

    def at_once(self, images: torch.Tensor) -> torch.Tensor:
        """Return the same detections, found for all images at once: what an exporter takes."""
        features = self.backbone(normal(images, MEAN, DEVIATION))
        return masked_at_once(self.rpn.head, self.roi_heads, features, self.dimensions, tuple(images.shape[2:]))

    def _gone_through(
        self, images: torch.Tensor, targets: list[dict[str, torch.Tensor]] | None
    ) -> tuple[list[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
        """Return what is found, and the losses where there are targets."""
        features, shown = self.backbone(normal(images, MEAN, DEVIATION)), listed(images)
        proposals, of_proposals = self.rpn(shown, features, targets)
        detections, of_heads = self.roi_heads(features, proposals, shown.image_sizes, targets)
        return detections, {**of_proposals, **of_heads}


def _rows(detections: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return detections of an image, shape (MOST, 6 + MASK * MASK), see tasks.boxes."""
    parts = [detections["boxes"], detections["scores"][:, None], (detections["labels"] - _FIRST)[:, None]]
    rows = torch.cat([*(full(part) for part in parts), full(detections["masks"]).flatten(1)], dim=1)
    return torch.nn.functional.pad(rows, (0, 0, 0, MOST - len(rows)), value=NONE)


def masked_at_once(
    proposer: Any, heads: Any, features: Mapping[str, torch.Tensor], dimensions: Dimensions, size: ImageSize
) -> torch.Tensor:
    """Return detections with masks, shape (n, MOST, 6 + MASK * MASK), see tasks.boxes.

    Args:
        proposer: torchvision's RPNHead.
        heads: its RoIHeads.
        features: maps of the images by name, the finest first.
        dimensions: of the model.
        size: of the images.
    """
    maps = list(features.values())
    scores, moves = proposer(maps)
    proposals, there = _proposals(scores, moves, dimensions, size)
    boxes = _boxes(heads, maps, proposals, there, size)
    image, row = torch.where(boxes[..., 4] > LEAST_SCORE)
    within, order = _aligned(maps, boxes[image, row, :4], image, MASK_CELLS)
    image, row = image[order], row[order]
    rows = boxes[image, row]
    masks = torch.sigmoid(heads.mask_predictor(heads.mask_head(within))).flatten(2)
    labels = (rows[:, 5] + _FIRST).to(torch.int64)
    masks = masks.gather(1, labels[:, None, None].expand(-1, 1, masks.shape[2]))[:, 0]
    none = boxes.new_full((boxes.shape[0], MOST, BOX + masks.shape[1]), NONE)
    return none.index_put((image, row), torch.cat([rows, masks], dim=1))


def _proposals(
    scores: Sequence[torch.Tensor], moves: Sequence[torch.Tensor], dimensions: Dimensions, size: ImageSize
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return boxes (n, proposals, 4), and which of them are there: the best of all maps, chosen within each map."""
    before, most = dimensions.proposals_before[1], dimensions.proposals[1]
    boxes, chances = [], []
    for part, score, move in zip(dimensions.anchors(*size), scores, moves, strict=True):
        anchors = torch.from_numpy(part).to(score.device)
        tops, places = _by_anchor(score, 1)[..., 0].topk(min(before, len(part)), dim=1)
        chosen = _by_anchor(move, 4).gather(1, places[..., None].expand(-1, -1, 4))
        moved = shifted(chosen, anchors[places], _AS_THEY_ARE, size)
        chance = torch.where(_large(moved, _SMALLEST), torch.sigmoid(tops), float(NONE))
        # Any chance will do, also 0.
        left = surviving(moved, chance[:, None], PROPOSALS_OVERLAP, NONE / 2)[:, 0]
        boxes.append(moved)
        chances.append(torch.where(left, chance, float(NONE)))
    every, chance = torch.cat(boxes, dim=1), torch.cat(chances, dim=1)
    tops, places = chance.topk(min(most, chance.shape[1]), dim=1)
    return every.gather(1, places[..., None].expand(-1, -1, 4)), tops >= 0


def _boxes(
    heads: Any, maps: Sequence[torch.Tensor], proposals: torch.Tensor, there: torch.Tensor, size: ImageSize
) -> torch.Tensor:
    """Return detections without masks, shape (n, MOST, 6)."""
    image, row = torch.where(there)
    within, order = _aligned(maps, proposals[image, row], image, CELLS)
    image, row = image[order], row[order]
    logits, moves = heads.box_predictor(heads.box_head(within))
    shares = torch.softmax(logits, dim=1)[:, _FIRST:]
    classes = shares.shape[1]
    moves = moves.reshape(-1, classes + _FIRST, 4)[:, _FIRST:]
    boxes = shifted(moves, proposals[image, row][:, None], CODED, size)
    shares = torch.where(_large(boxes, _SMALLEST_BOX), shares, float(NONE))
    shape = (*proposals.shape[:2], classes)
    every = proposals.new_zeros((*shape, 4)).index_put((image, row), boxes)
    scores = proposals.new_full(shape, NONE).index_put((image, row), shares)
    return best_of_classes(every, scores, least=LEAST_SCORE, overlap=OVERLAP, most=MOST)


def _aligned(
    maps: Sequence[torch.Tensor], boxes: torch.Tensor, images: torch.Tensor, side: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what maps have within boxes, shape (k, channels, side, side), and the numbers of these boxes: map by map.

    Args:
        maps: of images, shape (n, channels, height, width) each.
        boxes: shape (k, 4), in pixels of the image.
        images: number of the image of each box, shape (k,).
        side: cells of a side.
    """
    rows = torch.cat([images[:, None].to(boxes.dtype), boxes], dim=1)
    of_box = LevelMapper(_LEVELS[0], _LEVELS[-1])([boxes])
    parts, order = [], []
    for number, level in enumerate(_LEVELS):
        here = torch.where(of_box == number)[0]
        parts.append(roi_align(maps[number], rows[here], side, 2.0**-level, _SAMPLES))
        order.append(here)
    return torch.cat(parts), torch.cat(order)


def _by_anchor(values: torch.Tensor, each: int) -> torch.Tensor:
    """Return numbers of a map by anchor, shape (n, places * anchors, each)."""
    count, channels, height, width = values.shape
    reordered: torch.Tensor = permute_and_flatten(values, count, channels // each, each, height, width)
    return reordered


def _large(boxes: torch.Tensor, least: float) -> torch.Tensor:
    """Return which boxes have sides of at least so many pixels."""
    # Not by `all` over the last axis: of an array without elements ONNX Runtime 1.31 does not take it, and fails.
    return (boxes[..., 2] - boxes[..., 0] >= least) & (boxes[..., 3] - boxes[..., 1] >= least)


def build(facts: Facts, size: Size[Dimensions]) -> PreparedMaskRCNN:
    """Return a Mask R-CNN with random weights.

    Args:
        facts: of the data set.
        size: with its dimensions; those of FULL take torchvision's own parts.

    Raises:
        FramewattError: the images have other sides than multiples of 32.
    """
    dimensions = size.dimensions
    check_sides("Mask R-CNN", facts.input_shape)
    if dimensions == FULL:
        whole = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=facts.classes + _FIRST)
        return PreparedMaskRCNN(whole.backbone, dimensions, facts.classes, whole)
    top = LastLevelMaxPool()
    backbone = narrow_pyramid(dimensions.stem, dimensions.stages, dimensions.blocks, 1, dimensions.pyramid, top)
    return PreparedMaskRCNN(backbone, dimensions, facts.classes, None)
