"""Which outputs of a user's file are the answers, and how the file counts classes; the study file states both.

Answers are put together after a window, from the outputs that were on the host within it.
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
    """Makes answers from a file's outputs.

    Args:
        spec: with the names of outputs, and how classes are counted.
        data: the data set.
        names: of all outputs of the file, in its order.

    Raises:
        FramewattError: the file lacks an output that the study names, or the outputs are not those of the task.
    """

    def __init__(self, spec: Spec, data: Arrays, names: list[str]) -> None:
        self._places = {what: _place(what, name, names) for what, name in spec.outputs.items()}
        self._classes = spec.classes
        self._ids = np.array(data.about.get(CATEGORY_IDS, []), np.int64)
        task = task_of(data.task)
        wanted = task.named_outputs
        if self._places and set(self._places) != set(wanted):
            allowed = ", ".join(wanted) or "one output, which is not named"
            raise FramewattError(f"outputs: {', '.join(self._places)} are not those of {task.name}. Name {allowed}.")
        if self._classes != FROM_0 and not isinstance(data, AnnotatedImages):
            raise FramewattError(f"classes: {task.name} does not take {self._classes!r}. Use classes: {FROM_0}.")
        if self._classes == CATEGORY_IDS and not len(self._ids):
            raise FramewattError(f"classes: the data set has no {CATEGORY_IDS}. Use classes: {FROM_0} or {FROM_1}.")

    def answers_in(self, returned: Any) -> Outputs:
        """Return the answers in the outputs of a batch, see tasks.boxes and `Classification`.

        Args:
            returned: an array, or where outputs are named all of them in the file's order.

        Raises:
            FramewattError: outputs do not fit together, or a label is no category's id.
        """
        named = {what: np.asarray(returned[place]) for what, place in self._places.items()}
        if BOXES in named:
            answers = _detections(named[BOXES], named[SCORES], named[LABELS])
        else:
            answers = named.get(SCORES, returned)
        if self._classes == FROM_0 or answers.ndim != 3 or answers.shape[2] < BOX:
            return answers
        return self._counted(answers.copy())

    def _counted(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return detections with classes from 0."""
        there = answers[..., 4] != NONE
        labels = answers[there, 5]
        if self._classes == FROM_1:
            answers[there, 5] = labels - 1
            return answers
        places = np.searchsorted(self._ids, labels).clip(max=len(self._ids) - 1)
        if (unknown := self._ids[places] != labels).any():
            ids = ", ".join(map(str, self._ids[:5])) + (", …" if len(self._ids) > 5 else "")
            raise FramewattError(
                f"labels: {labels[unknown][0]:g} is not an id of a category ({ids}). Set classes to how the file "
                "counts."
            )
        answers[there, 5] = places
        return answers


def _place(what: str, name: str, names: list[str]) -> int:
    if name not in names:
        raise FramewattError(f"outputs.{what}: the file has no output {name!r}. Use one of: {', '.join(names)}.")
    return names.index(name)


def _detections(boxes: NDArray[Any], scores: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Boxes, scores and labels as one array, shape (n, most, BOX); zoos fill up with scores of 0."""
    if boxes.ndim != 3 or boxes.shape[2] != 4 or not boxes.shape[:2] == scores.shape == labels.shape:
        raise FramewattError(
            f"outputs: boxes have shape {boxes.shape}, scores {scores.shape} and labels {labels.shape}. Use a file "
            "with shapes (n, most, 4), (n, most) and (n, most)."
        )
    detections = np.concatenate([boxes, scores[..., None], labels[..., None]], axis=2).astype(np.float32)
    detections[(scores == 0) | (scores == NONE)] = NONE
    return detections
