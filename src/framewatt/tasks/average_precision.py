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
from framewatt.tasks.boxes import BOX, MASK, MOST, paste_mask

_BOXES, _MASKS = "bbox", "segm"
"""What pycocotools calls the parts by which detections and objects overlap."""

_ANY_SIZE = [0, 1e5**2]
"""Square pixels, as pycocotools takes them."""

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
    """Return the average precision of detections.

    A detection of a crowd counts neither for nor against. A class without objects is left out.

    Args:
        outputs: shape (images, most, BOX or more), see tasks.boxes.
        objects: the objects on the images; at least one of them is not a crowd.
        classes: number of classes.
        masks: whether masks have to overlap, else boxes.

    Raises:
        ImportError: pycocotools is not installed.
    """
    # Not in every environment that loads tasks.
    from pycocotools.cocoeval import COCOeval

    # It prints its progress on standard output.
    with contextlib.redirect_stdout(io.StringIO()):
        truth = _truth(objects, classes, masks=masks)
        detections = _as_pycocotools(outputs, objects, classes, masks=masks)
        counted = COCOeval(truth, detections, _MASKS if masks else _BOXES)
        # Left out: three ranges of sizes, and recall of the best 1 and 10, which take most of its time.
        counted.params.areaRng, counted.params.areaRngLbl = [_ANY_SIZE], ["all"]
        counted.params.maxDets = [MOST]
        counted.evaluate()
        counted.accumulate()
    # By overlap, recall and class; there is a single range of sizes and a single number of detections.
    precision = counted.eval["precision"][..., 0, 0]
    at = {round(100 * overlap): number for number, overlap in enumerate(counted.params.iouThrs.tolist())}
    return Precision(_mean(precision), _mean(precision[at[50]]), _mean(precision[at[75]]))


def method() -> str:
    """Return how it is counted, with the version of pycocotools, as records store it.

    Raises:
        ImportError: pycocotools is not installed.
    """
    return METHOD.format(version("pycocotools"))


def _mean(precision: NDArray[np.float64]) -> float:
    """Return the mean over the classes with objects; the others have -1, and do not count."""
    return float(precision[precision > -1].mean())


def _truth(objects: Objects, classes: int, *, masks: bool) -> Any:
    """Return objects as pycocotools takes them."""
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
    """Return detections as pycocotools takes them; their area does not matter, since all sizes count."""
    rows = []
    for image, detections in enumerate(outputs):
        for detection in detections[detections[:, 4] >= 0]:
            row = _row(image, detection[:4].astype(float), int(detection[5]))
            row |= {"score": float(detection[4]), "iscrowd": 0, "area": row["bbox"][2] * row["bbox"][3]}
            if masks:
                cells = detection[BOX:].reshape(MASK, MASK)
                row["segmentation"] = _encoded(paste_mask(cells, detection[:4], objects.size))
            rows.append(row)
    return _coco(rows, objects, classes)


def _row(image: int, box: NDArray[np.float64], kind: int) -> dict[str, Any]:
    left, top, right, bottom = box.tolist()
    return {"image_id": image, "category_id": kind, "bbox": [left, top, right - left, bottom - top]}


def _encoded(mask: NDArray[np.uint8]) -> Any:
    from pycocotools.mask import encode

    return encode(np.asfortranarray(mask))


def _coco(rows: list[dict[str, Any]], objects: Objects, classes: int) -> Any:
    """Return an index of annotations in memory; their ids start at 1, since pycocotools takes 0 for none."""
    from pycocotools.coco import COCO

    height, width = objects.size
    index = COCO()
    index.dataset = {
        "images": [{"id": image, "height": height, "width": width} for image in range(len(objects))],
        "categories": [{"id": kind} for kind in range(classes)],
        "annotations": [{"id": number, **row} for number, row in enumerate(rows, 1)],
    }
    index.createIndex()
    return index
