"""Detection: which objects are where on an image, by boxes, or by masks too, which is called segmentation."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.annotated import DETECTION, SEGMENTATION
from framewatt.datasets.contract import Arrays
from framewatt.tasks.average_precision import MASK, Precision, average_precision, method
from framewatt.tasks.contract import Judged, Metric, Outputs, Step, Task
from framewatt.tasks.misread import misread
from framewatt.tasks.same_boxes import same_share

NONE = -1
"""What rows of outputs are filled with where there is no detection."""

BOX = 6
"""Numbers of a detection before its mask: left, top, right, bottom, score, class."""

NO_OBJECTS = "the test set has no objects"
"""Why precision is unknown where there is nothing, or crowds alone."""

DETECTIONS, OBJECTS = "detections_per_image", "objects_per_image"
"""How many there are on average, beside AP in records: of objects without crowds."""


class Detection(Task):
    """Boxes of objects with their classes.

    Outputs have shape (n, most, BOX): left, top, right, bottom in pixels of the image, score from 0 to 1, class from 0.
    Where there is no detection, all are NONE. Their order does not count.
    """

    name = DETECTION
    unit = "image"
    metrics: tuple[Metric, ...] = (
        Metric("box_ap", "Box AP"),
        Metric("box_ap50", "Box AP50"),
        Metric("box_ap75", "Box AP75"),
    )
    width = BOX

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """None: an object can be found more or less well."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Average precision of the detections.

        Whatever becomes of it, how many detections there are is known: a detector that finds nothing is quick.
        """
        wrong = self.wrong(outputs, data)
        if wrong is not None:
            return self.unjudged(wrong)
        objects: Any = data.y_test
        facts = {
            DETECTIONS: float((outputs[..., 4] >= 0).sum(axis=1).mean()),
            OBJECTS: float((~objects.crowd).sum() / len(objects)),
        }
        if objects.crowd.all():
            return replace(self.unjudged(NO_OBJECTS), facts=facts)
        try:
            values, how = self._values(outputs, data), method()
        except ImportError:
            return replace(self.unjudged("there is no pycocotools in this environment"), facts=facts)
        return Judged(values, None, method=how, facts=facts, hint=misread(outputs, objects))

    def same_share(self, outputs: Outputs, reference: Outputs) -> float:
        """Share of detections that both have: class, box, score and mask."""
        return same_share(outputs, reference)

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Outputs of all steps in the order of the samples, filled with NONE to the most detections of an image."""
        parts = list(outputs)
        if all(part.ndim == 3 for part in parts):
            most = max(part.shape[1] for part in parts)
            parts = [np.pad(part, ((0, 0), (0, most - part.shape[1]), (0, 0)), constant_values=NONE) for part in parts]
        return super().in_order(parts, steps)

    def _values(self, outputs: Outputs, data: Arrays) -> dict[str, float | None]:
        return dict(zip(self.names, self._precision(outputs, data, masks=False), strict=True))

    @staticmethod
    def _precision(outputs: Outputs, data: Arrays, *, masks: bool) -> Precision:
        objects: Any = data.y_test
        return average_precision(outputs, objects, data.classes, masks=masks)

    def wrong(self, outputs: Outputs, data: Arrays) -> str | None:
        """Why outputs are no detections; None where they are."""
        images = len(data.x_test)
        if outputs.ndim != 3 or (len(outputs), outputs.shape[2]) != (images, self.width) or outputs.dtype.kind != "f":
            allowed = f"({images}, any, {self.width}) of floats"
            return f"outputs of shape {outputs.shape}, {outputs.dtype}, are no detections; allowed: {allowed}"
        if not np.isfinite(outputs).all():
            return "outputs are not numbers"
        return _wrong_of(outputs[outputs[..., 4] != NONE], data.classes)


def objects_in(data: Mapping[str, Any]) -> int | None:
    """How many objects without crowds a test set has, from the record of a data set; None where it does not tell."""
    each, crowds = data.get("test_objects_per_class"), data.get("test_crowds")
    if not isinstance(each, list) or not all(isinstance(count, int) for count in each) or not isinstance(crowds, int):
        return None
    return sum(each) - crowds


def finds_nothing(quality: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Flag of a detector without a detection on any image; empty without one.

    Args:
        quality: as records hold it.
    """
    told = next((told for told in quality.values() if DETECTIONS in told), None)
    if told is None or told[DETECTIONS] > 0:
        return []
    return [
        f"nothing is found on any image, of {told[OBJECTS]:.3g} objects: energy an image is not that of a detection"
    ]


class Segmentation(Detection):
    """Masks of objects with their classes.

    Outputs are those of detection, each followed by a mask of MASK * MASK numbers from 0 to 1, row by row, within its
    box. It is laid on the image where precision is counted, which no model's time or energy holds.
    """

    name = SEGMENTATION
    metrics = (
        Metric("mask_ap", "Mask AP"),
        Metric("mask_ap50", "Mask AP50"),
        Metric("mask_ap75", "Mask AP75"),
        # A metric is that of one task.
        Metric("mask_box_ap", "Box AP beside masks"),
    )
    width = BOX + MASK * MASK

    def _values(self, outputs: Outputs, data: Arrays) -> dict[str, float | None]:
        both = [*self._precision(outputs, data, masks=True), self._precision(outputs, data, masks=False).mean]
        return dict(zip(self.names, both, strict=True))


def _wrong_of(found: NDArray[Any], classes: int) -> str | None:
    """Why numbers, shape (k, BOX or more), are no detections; None where they are."""
    left, top, right, bottom, score, kind = found[:, :BOX].T
    if ((score < 0) | (score > 1)).any():
        return f"scores are {score.min():.3g} to {score.max():.3g}; allowed: 0 to 1, or {NONE} for no detection"
    if ((kind != np.floor(kind)) | (kind < 0) | (kind >= classes)).any():
        allowed = f"whole numbers, 0 to {classes - 1}, 0 for the first category"
        return f"classes are {kind.min():.3g} to {kind.max():.3g}; allowed: {allowed}"
    if ((right < left) | (bottom < top)).any():
        return "boxes end before they begin; allowed: left, top, right, bottom"
    masks = found[:, BOX:]
    if masks.size and (masks.min() < 0 or masks.max() > 1):
        return f"masks are {masks.min():.3g} to {masks.max():.3g}; allowed: 0 to 1"
    return None
