"""Examples of what a detector's weights find: the first test images, what there is on them, and what was found.

A person looks at them (figures/detections.py); two images prove nothing, and no number is made of them. They are kept
beside the weights when these have been made, since no run keeps its detections.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.files import sha256_of, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.masks import encode
from framewatt.datasets.objects import Objects
from framewatt.prepare.examples_file import CHANNELS, IMAGES, NAME
from framewatt.tasks.boxes import BOX, MASK, MOST, paste_mask
from framewatt.tasks.contract import Outputs, Task

LARGEST = 512
"""Longest side of an image, in pixels, whose pixels are kept: the file is to stay small."""

NOT_PASSED_ON = "the data set is no synthetic one, and its licence may not allow to pass on its images"
"""Why there are no pixels of photographs."""


def keep_examples(folder: Path, outputs: Outputs, task: Task, data: Arrays) -> dict[str, Any]:
    """Write the examples beside the weights.

    Args:
        folder: of the weights.
        outputs: of the whole test set.
        task: which judges them.
        data: the data set.

    Returns:
        What the record of the weights says of them: `examples`, with their number and the file's SHA-256, or None, and
        `examples_reason`, why there are none.
    """
    if (wrong := task.problem_of(outputs, data)) is not None:
        return {"examples": None, "examples_reason": wrong}
    content = content_of(outputs, data)
    write_json(folder / NAME, content)
    told = {"images": len(content["images"]), "sha256": sha256_of(folder / NAME)}
    return {"examples": told, "examples_reason": None}


def content_of(outputs: Outputs, data: Arrays) -> dict[str, Any]:
    """What the file holds, of JSON.

    Args:
        outputs: see tasks.boxes.
        data: images with objects.
    """
    objects: Any = data.y_test
    images = data.x_test[:IMAGES]
    reason = _without_pixels(images, data.about)
    names = data.about.get("class_names")
    return {
        "size": list(objects.size),
        "class_names": None if names is None else [str(name) for name in names],
        "without_pixels": reason,
        "images": [
            {
                # Hexadecimal: other texts of so many letters hold what looks like a token or an address.
                "pixels": None if reason else np.rint(255 * image.transpose(1, 2, 0)).astype(np.uint8).tobytes().hex(),
                "objects": _there(objects, number),
                **_best_detections(outputs[number], objects.size),
            }
            for number, image in enumerate(images)
        ],
    }


def _without_pixels(images: NDArray[Any], about: Mapping[str, Any]) -> str | None:
    if about.get("synthetic") is not True:
        return NOT_PASSED_ON
    if images.shape[1] not in CHANNELS:
        return f"images have {images.shape[1]} channels, not one or three"
    if max(images.shape[2:]) > LARGEST:
        return f"images have sides of more than {LARGEST} pixels"
    if images.min() < 0 or images.max() > 1:
        return "values of pixels are not from 0 to 1"
    return None


def _there(objects: Objects, image: int) -> list[dict[str, Any]]:
    return [
        {
            "box": _rounded(objects.boxes[number]),
            "class": int(objects.classes[number]),
            "crowd": bool(objects.crowd[number]),
            "mask": objects.runs[objects.run_starts[number] : objects.run_starts[number + 1]].tolist()
            if objects.masked
            else None,
        }
        for number in range(objects.starts[image], objects.starts[image + 1])
    ]


def _best_detections(detections: NDArray[Any], size: tuple[int, int]) -> dict[str, Any]:
    rows = detections[detections[:, 4] >= 0]
    best = rows[np.argsort(-rows[:, 4], kind="stable")][:MOST]
    return {"found": len(rows), "detections": [_detection(row, size) for row in best]}


def _detection(row: NDArray[Any], size: tuple[int, int]) -> dict[str, Any]:
    cells = row[BOX:].reshape(-1, MASK, MASK)
    return {
        "box": _rounded(row[:4]),
        "class": int(row[5]),
        "score": round(float(row[4]), 4),
        "mask": encode(paste_mask(cells[0], row[:4], size)).tolist() if len(cells) else None,
    }


def _rounded(box: NDArray[Any]) -> list[float]:
    return [round(float(edge), 2) for edge in box]
