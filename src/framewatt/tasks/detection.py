"""Detection: which objects are where on an image, by boxes, or by masks too, which is called segmentation."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.contract import Arrays
from framewatt.tasks.average_precision import Precision, average_precision, method
from framewatt.tasks.boxes import BOX, DETECTIONS, MASK, NONE, OBJECTS, misread, same_share
from framewatt.tasks.contract import NOT_NUMBERS, Judged, Metric, Mismatch, Outputs, Quality, Step, Task

NO_OBJECTS = "the test set has no objects"
"""Why precision is unknown where there is nothing, or crowds alone."""


class Detection(Task):
    """Boxes of objects with their classes; outputs have shape (n, most, BOX), see tasks.boxes."""

    name = "detection"
    unit = "image"
    metrics: tuple[Metric, ...] = (
        Metric("box_ap", "Box AP"),
        Metric("box_ap50", "Box AP50"),
        Metric("box_ap75", "Box AP75"),
    )
    kinds = (AnnotatedImages,)
    named_outputs: tuple[str, ...] = ("boxes", "scores", "labels")
    finds_objects = True
    width = BOX

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """Return None: an object can be found more or less well."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return the average precision of the detections.

        The number of detections is known even where precision is not: a detector that finds nothing is quick.
        """
        if (problem := self.problem_of(outputs, data)) is not None:
            return self.unjudged(problem)
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
        """Return the share of detections that both have: class, box, score and mask."""
        return same_share(outputs, reference)

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Return the outputs of all steps in the order of the samples, filled with NONE to the most of an image."""
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

    def problem_of(self, outputs: Outputs, data: Arrays) -> str | None:
        """Return why outputs are not detections; None where they are."""
        images = len(data.x_test)
        if outputs.ndim != 3 or (len(outputs), outputs.shape[2]) != (images, self.width) or outputs.dtype.kind != "f":
            allowed = f"({images}, any, {self.width}) of floats"
            return f"outputs of shape {outputs.shape}, {outputs.dtype}, are no detections; allowed: {allowed}"
        if not np.isfinite(outputs).all():
            return NOT_NUMBERS
        return _problem_of(outputs[outputs[..., 4] != NONE], data.classes)

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which precision of a data set is unknown."""
        no_objects = [re.escape(NO_OBJECTS)] if _objects_in(data) == 0 else []
        return "|".join([NOT_NUMBERS, _REASONS, *no_objects])

    def answer_flags(self, quality: Quality) -> list[str]:
        """Return the flag of a detector without a detection on any image; empty where it has some."""
        facts = next((facts for facts in quality.values() if DETECTIONS in facts), None)
        if facts is None or facts[DETECTIONS] > 0:
            return []
        objects = f"{facts[OBJECTS]:.3g} objects"
        return [f"nothing is found on any image, of {objects}: energy an image is not that of a detection"]

    def mismatches(self, quality: Quality, data: Mapping[str, Any]) -> Iterator[Mismatch]:
        """Yield another number of objects than the data record counts, and a precision without detections.

        Detections are not stored, so that their number cannot be checked.
        """
        objects, images = _objects_in(data), data.get("test_samples")
        each = objects / images if objects is not None and images else None
        for name, facts in quality.items():
            if OBJECTS not in facts:
                continue
            yield Mismatch(f"{name}.{OBJECTS}", facts[OBJECTS], each, "the data record gives")
            if facts[DETECTIONS] == 0 and facts["value"]:
                yield Mismatch(name, sentence=f"the record states {facts['value']:.6g}, and that nothing is found")


class Segmentation(Detection):
    """Masks of objects with their classes; outputs have shape (n, most, BOX + MASK * MASK), see tasks.boxes.

    Masks are put on their images where precision is counted, which is not a part of a model's time or energy.
    """

    name = "segmentation"
    metrics = (
        Metric("mask_ap", "Mask AP"),
        Metric("mask_ap50", "Mask AP50"),
        Metric("mask_ap75", "Mask AP75"),
        # A metric belongs to a single task.
        Metric("mask_box_ap", "Box AP beside masks"),
    )
    named_outputs = ()
    width = BOX + MASK * MASK

    def check_data(self, data: Arrays) -> None:
        """Check that a data set is one of images with objects, and that these have masks.

        Raises:
            FramewattError: it is of another kind, or has no masks.
        """
        super().check_data(data)
        for split, objects in (("train", data.y_train), ("test", data.y_test)):
            if not objects.masked:
                raise FramewattError(
                    f"data set: {split} objects have no masks, which the task {self.name} needs. Use data with masks, "
                    f"or the task {Detection.name}."
                )

    def _values(self, outputs: Outputs, data: Arrays) -> dict[str, float | None]:
        both = [*self._precision(outputs, data, masks=True), self._precision(outputs, data, masks=False).mean]
        return dict(zip(self.names, both, strict=True))


def _problem_of(detections: NDArray[Any], classes: int) -> str | None:
    """Return why numbers, shape (k, BOX or more), are not detections; None where they are."""
    left, top, right, bottom, score, kind = detections[:, :BOX].T
    if ((score < 0) | (score > 1)).any():
        return f"scores are {score.min():.3g} to {score.max():.3g}; allowed: 0 to 1, or {NONE} for no detection"
    if ((kind != np.floor(kind)) | (kind < 0) | (kind >= classes)).any():
        allowed = f"whole numbers, 0 to {classes - 1}, 0 for the first category"
        return f"classes are {kind.min():.3g} to {kind.max():.3g}; allowed: {allowed}"
    if ((right < left) | (bottom < top)).any():
        return "boxes end before they begin; allowed: left, top, right, bottom"
    masks = detections[:, BOX:]
    if masks.size and (masks.min() < 0 or masks.max() > 1):
        return f"masks are {masks.min():.3g} to {masks.max():.3g}; allowed: 0 to 1"
    return None


_REASONS = (
    r"outputs of shape \([\d, ]+\), \w+, are no detections; allowed: \(\d+, any, \d+\) of floats|"
    r"(scores|masks) are \S+ to \S+; allowed: 0 to 1(, or -1 for no detection)?|"
    r"classes are \S+ to \S+; allowed: whole numbers, 0 to \d+(, 0 for the first category)?|"
    r"boxes end before they begin; allowed: left, top, right, bottom"
)
"""The reasons of `problem_of`, as packages store them."""


def _objects_in(data: Mapping[str, Any]) -> int | None:
    """Return how many objects without crowds a test set has, from its data record; None where it has no counts."""
    each, crowds = data.get("test_objects_per_class"), data.get("test_crowds")
    if not isinstance(each, list) or not all(isinstance(count, int) for count in each) or not isinstance(crowds, int):
        return None
    return sum(each) - crowds
