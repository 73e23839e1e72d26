"""Drawn shapes, detections of them that nobody's model made, and weights whose records tell of these."""

from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.prepare.examples import NAME, keep_examples, read_examples
from framewatt.tasks import task_of
from framewatt.tasks.boxes import BOX, MASK
from framewatt.tasks.quality import quality_of


def shapes(*, masks: bool = False, images: int = 4, size: int = 64) -> Arrays:
    """Images with up to four shapes."""
    made = {
        "module": "synthetic_shapes",
        "train_samples": 1,
        "test_samples": images,
        "size": size,
        "most": 4,
        "seed": 3,
    }
    return make_arrays({**made, "masks": masks})


def found_near(data: Arrays, seed: int = 0, score: float = 0.9) -> np.ndarray:
    """Each object once, its box off by a pixel or two, its mask a disc; and a wrong box anywhere."""
    draw, objects = np.random.default_rng(seed), data.y_test
    masked = data.task == "segmentation"
    width = BOX + MASK**2 if masked else BOX
    found = np.full((len(objects), 6, width), -1, np.float32)
    middle = (np.arange(MASK) - (MASK - 1) / 2) ** 2
    disc = (middle[:, None] + middle[None] <= (MASK / 2) ** 2).ravel() if masked else []
    for image in range(len(objects)):
        own: Any = range(objects.starts[image], objects.starts[image + 1])  # type: ignore[attr-defined]
        for place, number in enumerate(own):
            box = objects.boxes[number] + draw.normal(0, 1, 4)  # type: ignore[attr-defined]
            edges = [*np.minimum(box[:2], box[2:]), *np.maximum(box[:2], box[2:])]
            kind = objects.classes[number]  # type: ignore[attr-defined]
            found[image, place] = [*edges, score * draw.uniform(0.7, 1), kind, *disc]
        found[image, len(own)] = [4, 4, 60, 20, score / 4, draw.integers(3), *disc]
    return found


def weights(model: str, outputs: np.ndarray, data: Arrays, folder: Path, **changes: Any) -> dict[str, Any]:
    """A record of the rule train as figures get it, whose file of examples lies in a folder of its name.

    Args:
        model: `<workload>-<data set>-<framework>`.
        outputs: what its weights find.
        data: on what.
        folder: in which that of the weights is made.
        changes: of the record.
    """
    task: Any = task_of(data.task)
    (folder / model).mkdir(parents=True)
    told = keep_examples(folder / model, outputs, task, data)
    shown = read_examples(folder / model / NAME, told["examples"]) if told["examples"] else None
    epochs = [{"epoch": 1, "quality": quality_of(task.judge(outputs, data))}]
    made = {"model": model, "status": "ok", "reason": None, "weights": "trained", "epochs": epochs}
    return {**made, **told, "shown": shown, **changes}


def perfect(data: Arrays) -> np.ndarray:
    """What a detector gives that finds every object, with the box's own form as its mask."""
    objects: Any = data.y_test
    found = np.full((len(objects), int(np.diff(objects.starts).max()), BOX + MASK**2), -1, np.float32)
    for image, first in enumerate(objects.starts[:-1]):
        for place, number in enumerate(range(first, objects.starts[image + 1])):
            left, top, right, bottom = objects.boxes[number].astype(int)
            seen = objects.mask(number)[top:bottom, left:right]
            down, across = ((np.arange(MASK) + 0.5) / MASK * side for side in seen.shape)
            cells = seen[down.astype(int)][:, across.astype(int)]
            found[image, place] = [*objects.boxes[number], 0.9, objects.classes[number], *cells.ravel()]
    return found
