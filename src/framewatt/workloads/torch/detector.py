"""What detectors of torchvision share: targets in its form, and detections as the tasks take them."""

from collections.abc import Mapping, Sequence

import torch
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import nms

from framewatt.datasets.ragged import IGNORED
from framewatt.tasks.boxes import NONE
from framewatt.workloads.detector import LARGEST_GROWTH

Detections = Sequence[Mapping[str, torch.Tensor]]
"""By image: `boxes`, `scores`, `labels` and, where there are any, `masks`."""


class SumOfParts:
    """What learns by the sum of the parts of its loss, `parts_of_loss`, which have torchvision's names."""

    def objective(
        self, images: torch.Tensor, boxes: torch.Tensor, classes: torch.Tensor, masks: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the loss of a batch, see workloads.detector."""
        parts: dict[str, torch.Tensor] = self.parts_of_loss(images, boxes, classes, masks)  # type: ignore[attr-defined]  # of those that inherit it
        return sum(parts.values())


def normal(images: torch.Tensor, mean: Sequence[float], deviation: Sequence[float]) -> torch.Tensor:
    """Return images (n, 3, height, width) without the mean of each channel, divided by its deviation."""
    channels = (1, -1, 1, 1)
    return (images - images.new_tensor(mean).view(channels)) / images.new_tensor(deviation).view(channels)


def full(values: torch.Tensor) -> torch.Tensor:
    """Return values in fp32 at least: boxes need more digits than half formats have."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def listed(images: torch.Tensor) -> ImageList:
    """Return images of one size as torchvision's parts take them."""
    return ImageList(images, [(images.shape[2], images.shape[3])] * len(images))


def targets_of(
    boxes: torch.Tensor, classes: torch.Tensor, masks: torch.Tensor | None, first: int
) -> list[dict[str, torch.Tensor]]:
    """Targets of a batch without padding, image by image.

    Args:
        boxes: shape (n, most, 4), see datasets.objects.Targets.
        classes: shape (n, most).
        masks: shape (n, most, height, width), or None.
        first: label of class 0: 1 where label 0 is the background.
    """
    by_image = []
    for image, kinds in enumerate(classes):
        real = kinds != IGNORED
        one = {"boxes": boxes[image][real], "labels": kinds[real] + first}
        by_image.append(one if masks is None else one | {"masks": masks[image][real]})
    return by_image


def shifted(
    moves: torch.Tensor, anchors: torch.Tensor, weights: Sequence[float], size: tuple[int, int]
) -> torch.Tensor:
    """Return boxes within an image, shape (..., 4), of all images at once.

    Args:
        moves: what leads from anchors to boxes, shape (..., 4): of middles relative to sides, logarithms of growth.
        anchors: shape (..., 4).
        weights: what the four were multiplied with.
        size: (height, width) of the image.
    """
    sizes = anchors[..., 2:] - anchors[..., :2]
    moves = moves / moves.new_tensor(weights)
    middles = moves[..., :2] * sizes + anchors[..., :2] + 0.5 * sizes
    half = 0.5 * torch.exp(moves[..., 2:].clamp_max(LARGEST_GROWTH)) * sizes
    height, width = (float(side) for side in size)
    corners = torch.cat([middles - half, middles + half], dim=-1).clamp_min(0.0)
    return torch.minimum(corners, moves.new_tensor([width, height, width, height]))


def detections(by_image: Detections, most: int, first: int) -> torch.Tensor:
    """Return detections of a batch, shape (n, most, 6), see tasks.boxes.

    Args:
        by_image: detections, `most` at most.
        most: rows of an image; what is left of them is filled.
        first: label of class 0.
    """
    rows = []
    for one in by_image:
        parts = [one["boxes"], one["scores"][:, None], (one["labels"] - first)[:, None]]
        numbers = torch.cat([part.to(one["boxes"].dtype) for part in parts], dim=1)
        rows.append(torch.nn.functional.pad(numbers, (0, 0, 0, most - len(numbers)), value=NONE))
    return torch.stack(rows)


@torch.library.custom_op("framewatt::kept", mutates_args=())  # type: ignore[untyped-decorator]  # torch is not installed where mypy runs
def surviving(boxes: torch.Tensor, scores: torch.Tensor, overlap: float, least: float) -> torch.Tensor:
    """Return which boxes overlap none that is better, of the same class and image, shape (n, classes, boxes), bool.

    Args:
        boxes: shape (n, boxes, 4), the same for all classes.
        scores: shape (n, classes, boxes).
        overlap: most that is allowed, from 0 to 1.
        least: what scores have to be above.
    """
    survives = torch.zeros_like(scores, dtype=torch.bool)
    for image in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            numbers = torch.where(scores[image, kind] > least)[0]
            best = nms(boxes[image, numbers], scores[image, kind, numbers], overlap)
            survives[image, kind, numbers[best]] = True
    return survives


@surviving.register_fake  # type: ignore[untyped-decorator]  # as above
def _(boxes: torch.Tensor, scores: torch.Tensor, overlap: float, least: float) -> torch.Tensor:
    return torch.empty_like(scores, dtype=torch.bool)


def best_boxes(
    boxes: torch.Tensor, scores: torch.Tensor, *, least: float, best: int, overlap: float, most: int
) -> torch.Tensor:
    """Return detections of each image, shape (n, most, 6), see tasks.boxes.

    Of each class by itself, the `best` boxes with a score above `least` are looked at, and those that overlap a better
    one by more than `overlap` are left out. Of what is left in all classes, the `most` best are given.

    Args:
        boxes: shape (n, boxes, 4).
        scores: shape (n, boxes, classes), from 0 to 1.
        least: scores have to be above it.
        best: boxes of a class.
        overlap: from 0 to 1.
        most: detections of an image.
    """
    by_class = scores.transpose(1, 2)
    count = by_class.shape[2]
    if best < count:
        lowest = by_class.topk(best, dim=2).values[:, :, -1:]
        by_class = torch.where(by_class >= lowest, by_class, 0.0)
    left = torch.where(surviving(boxes, by_class, overlap, least), by_class, float(NONE))
    tops, places = left.flatten(1).topk(min(most, left.shape[1] * count), dim=1)
    where = (places % count)[..., None].expand(-1, -1, 4)
    return _rows(boxes.gather(1, where), tops, places // count, least, most)


def best_of_classes(
    boxes: torch.Tensor, scores: torch.Tensor, *, least: float, overlap: float, most: int
) -> torch.Tensor:
    """As `best_boxes`, where each class has boxes of its own; all are looked at.

    Args:
        boxes: shape (n, boxes, classes, 4).
        scores: shape (n, boxes, classes), from 0 to 1; NONE where there is no box.
        least: scores have to be above it.
        overlap: from 0 to 1.
        most: detections of an image.
    """
    count, classes = scores.shape[1:]
    apart, tops = boxes.transpose(1, 2).flatten(0, 1), scores.transpose(1, 2).flatten(0, 1)[:, None]
    left = torch.where(surviving(apart, tops, overlap, least), tops, float(NONE)).reshape(-1, classes * count)
    tops, places = left.topk(min(most, classes * count), dim=1)
    flat = boxes.transpose(1, 2).flatten(1, 2)
    return _rows(flat.gather(1, places[..., None].expand(-1, -1, 4)), tops, places // count, least, most)


def _rows(boxes: torch.Tensor, tops: torch.Tensor, kinds: torch.Tensor, least: float, most: int) -> torch.Tensor:
    """Detections, shape (n, most, 6), of the best boxes of each image, those of a score above `least`."""
    rows = torch.cat([boxes, tops[..., None], kinds[..., None].to(tops.dtype)], dim=2)
    rows = torch.where(tops[..., None] > least, rows, float(NONE))
    return torch.nn.functional.pad(rows, (0, 0, 0, most - rows.shape[1]), value=NONE)
