"""The search of a detector for its best boxes in a form that exporters take: all images at once, in fixed shapes.

torchvision goes through images and classes one by one, and its shapes depend on what is found. Measured runs do as it
does; a graph of ONNX cannot.
"""

import torch
from torchvision.ops import nms

from framewatt.tasks.boxes import NONE


@torch.library.custom_op("framewatt::kept", mutates_args=())  # type: ignore[untyped-decorator]  # torch is not installed where mypy runs
def kept(boxes: torch.Tensor, scores: torch.Tensor, overlap: float, least: float) -> torch.Tensor:
    """Which boxes overlap none that is better, of the same class and image, shape (n, classes, boxes), bool.

    Args:
        boxes: shape (n, boxes, 4), the same for all classes.
        scores: shape (n, classes, boxes).
        overlap: most that is allowed, from 0 to 1.
        least: what scores have to be above.
    """
    found = torch.zeros_like(scores, dtype=torch.bool)
    for image in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            numbers = torch.where(scores[image, kind] > least)[0]
            best = nms(boxes[image, numbers], scores[image, kind, numbers], overlap)
            found[image, kind, numbers[best]] = True
    return found


@kept.register_fake  # type: ignore[untyped-decorator]  # as above
def _(boxes: torch.Tensor, scores: torch.Tensor, overlap: float, least: float) -> torch.Tensor:
    return torch.empty_like(scores, dtype=torch.bool)


def best_boxes(
    boxes: torch.Tensor, scores: torch.Tensor, *, least: float, best: int, overlap: float, most: int
) -> torch.Tensor:
    """Detections of each image, shape (n, most, 6), see tasks.boxes.

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
    left = torch.where(kept(boxes, by_class, overlap, least), by_class, float(NONE))
    tops, places = left.flatten(1).topk(min(most, left.shape[1] * count), dim=1)
    where = (places % count)[..., None].expand(-1, -1, 4)
    return _rows(boxes.gather(1, where), tops, places // count, least, most)


def best_of_classes(
    boxes: torch.Tensor, scores: torch.Tensor, *, least: float, overlap: float, most: int
) -> torch.Tensor:
    """As `best_boxes`, where each class has boxes of its own, all of which are looked at.

    Args:
        boxes: shape (n, boxes, classes, 4).
        scores: shape (n, boxes, classes), from 0 to 1; NONE where there is no box.
        least: scores have to be above it.
        overlap: from 0 to 1.
        most: detections of an image.
    """
    count, classes = scores.shape[1:]
    apart, tops = boxes.transpose(1, 2).flatten(0, 1), scores.transpose(1, 2).flatten(0, 1)[:, None]
    left = torch.where(kept(apart, tops, overlap, least), tops, float(NONE)).reshape(-1, classes * count)
    tops, places = left.topk(min(most, classes * count), dim=1)
    flat = boxes.transpose(1, 2).flatten(1, 2)
    return _rows(flat.gather(1, places[..., None].expand(-1, -1, 4)), tops, places // count, least, most)


def _rows(boxes: torch.Tensor, tops: torch.Tensor, kinds: torch.Tensor, least: float, most: int) -> torch.Tensor:
    """Detections, shape (n, most, 6), of the best boxes of each image, those of a score above `least`."""
    rows = torch.cat([boxes, tops[..., None], kinds[..., None].to(tops.dtype)], dim=2)
    rows = torch.where(tops[..., None] > least, rows, float(NONE))
    return torch.nn.functional.pad(rows, (0, 0, 0, most - rows.shape[1]), value=NONE)
