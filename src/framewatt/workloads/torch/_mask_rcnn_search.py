"""What a Mask R-CNN finds, in a form that exporters take: all images at once.

The heads look at those proposals and boxes alone that are there, as torchvision's do, so that an export does no more
work than its source. How many there are is known when the graph runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torchvision.models.detection.rpn import permute_and_flatten
from torchvision.ops import roi_align
from torchvision.ops.poolers import LevelMapper

from framewatt.tasks.boxes import BOX, NONE
from framewatt.workloads.mask_rcnn import (
    CELLS,
    CODED,
    LEAST_SCORE,
    MASK_CELLS,
    MOST,
    OVERLAP,
    PROPOSALS_OVERLAP,
    Dimensions,
)
from framewatt.workloads.torch._detector import shifted
from framewatt.workloads.torch._search import best_of_classes, kept

_FIRST = 1
"""Label of the first class, behind the background."""

_LEVELS = (2, 3, 4, 5)
"""Of the maps that heads look at: a map's places are 2 to its level pixels apart."""

_SAMPLES = 2
"""Points along each side of a cell, torchvision's."""

_SMALLEST, _SMALLEST_FOUND = 1e-3, 1e-2
"""Pixels of a side below which torchvision leaves out a proposal, and a box that was found."""

_AS_THEY_ARE = (1.0, 1.0, 1.0, 1.0)

Size = tuple[int, int]
"""Height and width of images."""


def masked_at_once(
    proposer: Any, heads: Any, features: Mapping[str, torch.Tensor], dimensions: Dimensions, size: Size
) -> torch.Tensor:
    """Detections with masks, shape (n, MOST, 6 + MASK * MASK), see tasks.boxes.

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
    found = _boxes(heads, maps, proposals, there, size)
    image, row = torch.where(found[..., 4] > LEAST_SCORE)
    within, order = _aligned(maps, found[image, row, :4], image, MASK_CELLS)
    image, row = image[order], row[order]
    rows = found[image, row]
    masks = torch.sigmoid(heads.mask_predictor(heads.mask_head(within))).flatten(2)
    labels = (rows[:, 5] + _FIRST).to(torch.int64)
    masks = masks.gather(1, labels[:, None, None].expand(-1, 1, masks.shape[2]))[:, 0]
    none = found.new_full((found.shape[0], MOST, BOX + masks.shape[1]), NONE)
    return none.index_put((image, row), torch.cat([rows, masks], dim=1))


def _proposals(
    scores: Sequence[torch.Tensor], moves: Sequence[torch.Tensor], dimensions: Dimensions, size: Size
) -> tuple[torch.Tensor, torch.Tensor]:
    """Boxes (n, proposals, 4), and which of them are there: the best of all maps, chosen within each map."""
    before, most = dimensions.proposals_before[1], dimensions.proposals[1]
    boxes, chances = [], []
    for part, score, move in zip(dimensions.anchors(*size), scores, moves, strict=True):
        anchors = torch.from_numpy(part).to(score.device)
        tops, places = _by_anchor(score, 1)[..., 0].topk(min(before, len(part)), dim=1)
        chosen = _by_anchor(move, 4).gather(1, places[..., None].expand(-1, -1, 4))
        moved = shifted(chosen, anchors[places], _AS_THEY_ARE, size)
        chance = torch.where(_large(moved, _SMALLEST), torch.sigmoid(tops), float(NONE))
        # Any chance will do, also 0.
        left = kept(moved, chance[:, None], PROPOSALS_OVERLAP, NONE / 2)[:, 0]
        boxes.append(moved)
        chances.append(torch.where(left, chance, float(NONE)))
    every, chance = torch.cat(boxes, dim=1), torch.cat(chances, dim=1)
    tops, places = chance.topk(min(most, chance.shape[1]), dim=1)
    return every.gather(1, places[..., None].expand(-1, -1, 4)), tops >= 0


def _boxes(
    heads: Any, maps: Sequence[torch.Tensor], proposals: torch.Tensor, there: torch.Tensor, size: Size
) -> torch.Tensor:
    """Detections without masks, shape (n, MOST, 6)."""
    image, row = torch.where(there)
    within, order = _aligned(maps, proposals[image, row], image, CELLS)
    image, row = image[order], row[order]
    logits, moves = heads.box_predictor(heads.box_head(within))
    shares = torch.softmax(logits, dim=1)[:, _FIRST:]
    classes = shares.shape[1]
    moves = moves.reshape(-1, classes + _FIRST, 4)[:, _FIRST:]
    boxes = shifted(moves, proposals[image, row][:, None], CODED, size)
    shares = torch.where(_large(boxes, _SMALLEST_FOUND), shares, float(NONE))
    shape = (*proposals.shape[:2], classes)
    every = proposals.new_zeros((*shape, 4)).index_put((image, row), boxes)
    scores = proposals.new_full(shape, NONE).index_put((image, row), shares)
    return best_of_classes(every, scores, least=LEAST_SCORE, overlap=OVERLAP, most=MOST)


def _aligned(
    maps: Sequence[torch.Tensor], boxes: torch.Tensor, images: torch.Tensor, side: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """What maps have within boxes, shape (k, channels, side, side), and the numbers of these boxes: map by map.

    Args:
        maps: of images, shape (n, channels, height, width) each.
        boxes: shape (k, 4), in pixels of the image.
        images: number of the image of each box, shape (k,).
        side: cells of a side.
    """
    rows = torch.cat([images[:, None].to(boxes.dtype), boxes], dim=1)
    of_box = LevelMapper(_LEVELS[0], _LEVELS[-1])([boxes])
    found, order = [], []
    for number, level in enumerate(_LEVELS):
        here = torch.where(of_box == number)[0]
        found.append(roi_align(maps[number], rows[here], side, 2.0**-level, _SAMPLES))
        order.append(here)
    return torch.cat(found), torch.cat(order)


def _by_anchor(values: torch.Tensor, each: int) -> torch.Tensor:
    """Numbers of a map by anchor, shape (n, places * anchors, each)."""
    count, channels, height, width = values.shape
    found: torch.Tensor = permute_and_flatten(values, count, channels // each, each, height, width)
    return found


def _large(boxes: torch.Tensor, least: float) -> torch.Tensor:
    """Which boxes have sides of at least so many pixels."""
    # Not by `all` over the last axis: of an array without elements ONNX Runtime 1.31 does not take it, and fails.
    return (boxes[..., 2] - boxes[..., 0] >= least) & (boxes[..., 3] - boxes[..., 1] >= least)
