"""Which of a user's file's outputs are the answers, and from where on it counts classes, as a study says it.

Answers are put together after a window, from what was on the host within it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.contract import Arrays
from framewatt.tasks import task_of
from framewatt.tasks.boxes import BOX, NONE
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import Spec

BOXES, SCORES, LABELS = "boxes", "scores", "labels"
FROM_0, FROM_1, CATEGORY_IDS = "from_0", "from_1", "category_ids"


class NamedOutputs:
    """How answers are made of a file's outputs.

    Args:
        spec: with the names of outputs, and how classes are counted.
        data: the data set.
        names: of all outputs of the file, in its order.

    Raises:
        FramewattError: it lacks one that is named, or they are not those of the task.
    """

    def __init__(self, spec: Spec, data: Arrays, names: list[str]) -> None:
        self._places = {what: _place(what, name, names) for what, name in spec.outputs.items()}
        self._classes = spec.classes
        self._ids = np.array(data.about.get(CATEGORY_IDS, []), np.int64)
        task = task_of(data.task)
        wanted = task.named_outputs
        if self._places and set(self._places) != set(wanted):
            allowed = ", ".join(wanted) or "one output, which is not named"
            raise FramewattError(f"outputs: found {', '.join(self._places)} for {task.name}; allowed: {allowed}")
        if self._classes != FROM_0 and not isinstance(data, AnnotatedImages):
            raise FramewattError(f"classes: found {self._classes} for {task.name}; allowed: {FROM_0}")
        if self._classes == CATEGORY_IDS and not len(self._ids):
            raise FramewattError(f"classes: found {CATEGORY_IDS} for a data set without; allowed: {FROM_0}, {FROM_1}")

    def of(self, returned: Any) -> Outputs:
        """The answers in what the file gave of a batch, see `Detection` and `Classification`.

        Args:
            returned: an array, or where outputs are named all of them in the file's order.

        Raises:
            FramewattError: outputs do not fit together, or a label is no category's id.
        """
        found = {what: np.asarray(returned[place]) for what, place in self._places.items()}
        if BOXES in found:
            answers = _detections(found[BOXES], found[SCORES], found[LABELS])
        else:
            answers = found.get(SCORES, returned)
        if self._classes == FROM_0 or answers.ndim != 3 or answers.shape[2] < BOX:
            return answers
        return self._counted(answers.copy())

    def _counted(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Detections with classes from 0."""
        there = answers[..., 4] != NONE
        labels = answers[there, 5]
        if self._classes == FROM_1:
            answers[there, 5] = labels - 1
            return answers
        places = np.searchsorted(self._ids, labels).clip(max=len(self._ids) - 1)
        if (unknown := self._ids[places] != labels).any():
            ids = ", ".join(map(str, self._ids[:5])) + (", …" if len(self._ids) > 5 else "")
            raise FramewattError(f"labels: found {labels[unknown][0]:g}; allowed: ids of the categories, {ids}")
        answers[there, 5] = places
        return answers


def _place(what: str, name: str, names: list[str]) -> int:
    if name not in names:
        raise FramewattError(f"outputs.{what}: found {name}; allowed: {', '.join(names)}")
    return names.index(name)


def _detections(boxes: NDArray[Any], scores: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Boxes, scores and labels as one array, shape (n, most, BOX); zoos fill up with scores of 0."""
    if boxes.ndim != 3 or boxes.shape[2] != 4 or not boxes.shape[:2] == scores.shape == labels.shape:
        found = f"boxes of shape {boxes.shape}, scores of {scores.shape}, labels of {labels.shape}"
        raise FramewattError(f"outputs: found {found}; allowed: (n, most, 4), (n, most), (n, most)")
    made = np.concatenate([boxes, scores[..., None], labels[..., None]], axis=2).astype(np.float32)
    made[(scores == 0) | (scores == NONE)] = NONE
    return made
