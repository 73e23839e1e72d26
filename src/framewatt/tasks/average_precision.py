"""Average precision of detections, as COCO counts it, by pycocotools.

Source: T.-Y. Lin et al., Microsoft COCO, ECCV 2014, and cocodataset.org, detection evaluation: precision at 101
recalls, averaged over classes and over ten overlaps (IoU 0.50 to 0.95), with at most 100 detections of an image.
"""

import contextlib
import io
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.objects import Objects

MASK = 28
"""Sides of a detection's mask, which lies within its box: what Mask R-CNN gives (K. He et al., ICCV 2017)."""

_THRESHOLD = 0.5
"""A pixel is the object's where the mask is at least this."""

_BOXES, _MASKS = "bbox", "segm"
"""What pycocotools calls that by which detections and objects overlap."""

MOST = 100
"""Detections of an image that count, those of the highest scores of each class."""

_ANY_SIZE = [0, 1e5**2]
"""Square pixels, as pycocotools says it."""

METHOD = f"pycocotools {{}}, IoU 0.50:0.95, at most {MOST} detections an image"


class Precision(NamedTuple):
    """Average precision, from 0 to 1.

    Attributes:
        mean: over overlaps of 0.50, 0.55 to 0.95.
        at_50: at an overlap of 0.50.
        at_75: at an overlap of 0.75.
    """

    mean: float
    at_50: float
    at_75: float


def average_precision(outputs: NDArray[Any], objects: Objects, classes: int, *, masks: bool) -> Precision:
    """Average precision of detections.

    A detection of a crowd counts neither for nor against. Where no object of a class is there, the class is left out.

    Args:
        outputs: shape (images, most, 6), or 6 + MASK * MASK numbers of each detection: left, top, right, bottom, score,
            class, mask row by row; a score of -1 where there is none.
        objects: what there is to be found; one of them at least is no crowd.
        classes: how many there are.
        masks: whether masks have to overlap, else boxes.

    Raises:
        ImportError: pycocotools is not there.
    """
    # Not in every environment that loads tasks.
    from pycocotools.cocoeval import COCOeval

    # It tells its progress on standard output.
    with contextlib.redirect_stdout(io.StringIO()):
        truth, found = _truth(objects, classes, masks=masks), _as_pycocotools(outputs, objects, classes, masks=masks)
        counted = COCOeval(truth, found, _MASKS if masks else _BOXES)
        # Not asked for: three ranges of sizes, and recall of the best 1 and 10, which take most of its time.
        counted.params.areaRng, counted.params.areaRngLbl = [_ANY_SIZE], ["all"]
        counted.params.maxDets = [MOST]
        counted.evaluate()
        counted.accumulate()
    # By overlap, recall and class; of ranges of sizes and numbers of detections there is one each.
    precision = counted.eval["precision"][..., 0, 0]
    at = {round(100 * overlap): number for number, overlap in enumerate(counted.params.iouThrs.tolist())}
    return Precision(_mean(precision), _mean(precision[at[50]]), _mean(precision[at[75]]))


def method() -> str:
    """How it is counted, with the version of pycocotools.

    Raises:
        ImportError: pycocotools is not there.
    """
    return METHOD.format(version("pycocotools"))


def pasted(mask: NDArray[Any], box: NDArray[Any], size: tuple[int, int]) -> NDArray[np.uint8]:
    """The mask of a detection on its image: interpolated between the middles of its cells, at those of pixels.

    Boxes are taken as they are. torchvision rounds them to whole pixels, which costs a small object some of its
    overlap: masks of 200 drawn shapes of 8 to 40 pixels overlap these by 0.965 as laid here, by 0.934 there.

    Args:
        mask: shape (MASK, MASK), from 0 to 1, within the box.
        box: left, top, right, bottom, in pixels; it may reach beyond the image.
        size: (height, width) of the image.

    Returns:
        Shape (height, width), 1 on the object.
    """
    left, top, right, bottom = (float(value) for value in box)
    laid = np.zeros(size, np.uint8)
    # The box alone is worked out: most are small beside their image.
    (rows, down), (columns, across) = _weights(top, bottom, size[0]), _weights(left, right, size[1])
    laid[rows, columns] = down @ mask.astype(float) @ across.T >= _THRESHOLD
    return laid


def _weights(begin: float, end: float, pixels: int) -> tuple[slice, NDArray[np.float64]]:
    """Which pixels of a row lie between two ends, k of them, and by how much each has of each cell, shape (k, MASK)."""
    middles = np.arange(pixels) + 0.5
    first, behind = np.searchsorted(middles, begin, "left"), np.searchsorted(middles, end, "right")
    cells = (middles[first:behind] - begin) / max(end - begin, 1e-6) * MASK - 0.5
    weights: NDArray[np.float64] = np.clip(1 - np.abs(cells[:, None] - np.arange(MASK)), 0, None)
    return slice(int(first), int(max(first, behind))), weights


def _mean(precision: NDArray[np.float64]) -> float:
    """The mean over what is known: a class without objects has -1, and does not count."""
    return float(precision[precision > -1].mean())


def _truth(objects: Objects, classes: int, *, masks: bool) -> Any:
    """Objects as pycocotools takes them."""
    image_of = np.repeat(np.arange(len(objects)), np.diff(objects.starts))
    rows = []
    for number, (image, box) in enumerate(zip(image_of.tolist(), objects.boxes.astype(float), strict=True)):
        row = _row(image, box, int(objects.classes[number]))
        row |= {"area": float(objects.areas[number]), "iscrowd": int(objects.crowd[number])}
        if masks:
            row["segmentation"] = _encoded(objects.mask(number))
        rows.append(row)
    return _coco(rows, objects, classes)


def _as_pycocotools(outputs: NDArray[Any], objects: Objects, classes: int, *, masks: bool) -> Any:
    """Detections as pycocotools takes them; their area decides nothing here, where all sizes count."""
    rows = []
    for image, detections in enumerate(outputs):
        for one in detections[detections[:, 4] >= 0]:
            row = _row(image, one[:4].astype(float), int(one[5]))
            row |= {"score": float(one[4]), "iscrowd": 0, "area": row["bbox"][2] * row["bbox"][3]}
            if masks:
                row["segmentation"] = _encoded(pasted(one[6:].reshape(MASK, MASK), one[:4], objects.size))
            rows.append(row)
    return _coco(rows, objects, classes)


def _row(image: int, box: NDArray[np.float64], kind: int) -> dict[str, Any]:
    left, top, right, bottom = box.tolist()
    return {"image_id": image, "category_id": kind, "bbox": [left, top, right - left, bottom - top]}


def _encoded(mask: NDArray[np.uint8]) -> Any:
    from pycocotools.mask import encode

    return encode(np.asfortranarray(mask))


def _coco(rows: list[dict[str, Any]], objects: Objects, classes: int) -> Any:
    """An index of annotations, made in memory; their ids begin with 1, since it takes 0 for none."""
    from pycocotools.coco import COCO

    height, width = objects.size
    made = COCO()
    made.dataset = {
        "images": [{"id": image, "height": height, "width": width} for image in range(len(objects))],
        "categories": [{"id": kind} for kind in range(classes)],
        "annotations": [{"id": number, **row} for number, row in enumerate(rows, 1)],
    }
    made.createIndex()
    return made
