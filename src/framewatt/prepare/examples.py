"""Examples of what a detector's weights detect: the first test images, their objects, and the detections.

A person looks at them (figures/detections.py); two images prove nothing, and no number is computed from them. They are
stored next to the weights when these are trained, since no run stores its detections. The file may come from anybody,
so that the reader trusts nothing in it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json, sha256_of, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects, encode_mask
from framewatt.tasks.boxes import BOX, MASK, MOST, paste_mask
from framewatt.tasks.contract import Outputs, Task

NAME = "examples.json"
"""The file, next to the weights."""

IMAGES = 2
"""Of the test set, the first ones."""

CHANNELS = (1, 3)
"""Numbers of channels of images with pixels in the file."""

_LONGEST_SIDE = 4096
"""Of images in pixels: a mask of more would fill the memory."""

LARGEST = 512
"""Longest side, in pixels, of images with pixels in the file, which is to stay small."""

NOT_PASSED_ON = "the data set is no synthetic one, and its licence may not allow to pass on its images"
"""Why there are no pixels of photographs."""


@dataclass(frozen=True)
class Thing:
    """An object, or a detection.

    Attributes:
        box: left, top, right, bottom, in pixels.
        kind: its class.
        runs: of its mask on the image, see datasets.objects; None where the task has no masks.
        score: of a detection, from 0 to 1; None of an object.
        crowd: whether an object is many in one.
    """

    box: tuple[float, float, float, float]
    kind: int
    runs: NDArray[np.int64] | None
    score: float | None = None
    crowd: bool = False


@dataclass(frozen=True)
class Example:
    """An image.

    Attributes:
        pixels: shape (height, width, 1 or 3), uint8; None where they are not kept.
        objects: what there is.
        detected: how many detections there are in all.
        detections: those of the highest scores, in that order, as many of them as count.
    """

    pixels: NDArray[np.uint8] | None
    objects: tuple[Thing, ...]
    detected: int
    detections: tuple[Thing, ...]


@dataclass(frozen=True)
class Examples:
    """What is kept of a model's weights.

    Attributes:
        size: (height, width) of the images.
        class_names: words of the classes, where the data set has them, else None.
        images: the first ones of the test set.
        without_pixels: why images have no pixels; None where they have.
    """

    size: tuple[int, int]
    class_names: tuple[str, ...] | None
    images: tuple[Example, ...]
    without_pixels: str | None

    @property
    def scene(self) -> tuple[Any, ...]:
        """All but the detections: equal where two models saw the same images."""
        return (
            *(self.size, self.class_names),
            *(None if image.pixels is None else image.pixels.tobytes() for image in self.images),
            *((one.box, one.kind, one.crowd, _bytes(one.runs)) for image in self.images for one in image.objects),
            *(len(image.objects) for image in self.images),
        )


def read_examples(path: Path, recorded: Mapping[str, Any]) -> Examples:
    """Read the examples of some weights.

    Args:
        path: the file.
        recorded: `examples` of the record of the weights.

    Raises:
        FramewattError: the file is missing, is not the file of the record, or holds no examples.
    """
    if not path.is_file():
        raise FramewattError(f"{path} is missing, and the record of the weights names it. Train the weights again.")
    if sha256_of(path) != recorded["sha256"]:
        raise FramewattError(
            f"{path} was changed after its record was written (checksum differs). Delete both and train the "
            "weights again."
        )
    try:
        examples = _examples_in(parse_json(path.read_text(encoding="utf-8")))
        if len(examples.images) != recorded["images"]:
            raise ValueError(f"{len(examples.images)} images, the record has {recorded['images']}")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise FramewattError(
            f"{path} does not hold examples as framewatt writes them: {error!s:.200}. Train the weights again."
        ) from error
    return examples


def _bytes(runs: NDArray[np.int64] | None) -> bytes | None:
    return None if runs is None else runs.tobytes()


def _examples_in(content: Mapping[str, Any]) -> Examples:
    size = tuple(_whole(side, 1, _LONGEST_SIDE) for side in content["size"])
    names, reason = content["class_names"], content["without_pixels"]
    if len(size) != 2 or not (names is None or all(isinstance(name, str) for name in names)):
        raise ValueError("no size of two sides, or names of classes that are no texts")
    images = tuple(_example_in(image, (size[0], size[1])) for image in content["images"])
    if len(images) > IMAGES or any((image.pixels is None) != isinstance(reason, str) for image in images):
        raise ValueError("too many images, or pixels and a reason why there are none")
    return Examples((size[0], size[1]), None if names is None else tuple(names), images, reason)


def _example_in(image: Mapping[str, Any], size: tuple[int, int]) -> Example:
    pixels = None
    if image["pixels"] is not None:
        values = np.frombuffer(bytes.fromhex(image["pixels"]), np.uint8)
        channels = len(values) // math.prod(size)
        if channels not in CHANNELS:
            raise ValueError(f"{len(values)} values of an image of {size[0]} x {size[1]} pixels")
        pixels = values.reshape(*size, channels)
    objects = tuple(_thing_in(one, size) for one in image["objects"])
    detections = tuple(_thing_in(one, size) for one in image["detections"])
    scores = [one.score for one in detections if one.score is not None]
    if any(one.score is not None for one in objects) or len(scores) < len(detections):
        raise ValueError("an object with a score, or a detection without one")
    detected = _whole(image["found"], 0)
    if len(detections) != min(detected, MOST) or sorted(scores, reverse=True) != scores:
        raise ValueError(f"{len(detections)} detections of {detected}, or not those of the highest scores first")
    return Example(pixels, objects, detected, detections)


def _thing_in(one: Mapping[str, Any], size: tuple[int, int]) -> Thing:
    left, top, right, bottom = (float(edge) for edge in one["box"])
    score = None if one.get("score") is None else float(one["score"])
    if right < left or bottom < top or not (score is None or 0 <= score <= 1):
        raise ValueError("a box that ends before it begins, or a score that is not from 0 to 1")
    runs = None
    if one["mask"] is not None:
        runs = np.array([_whole(run, 0) for run in one["mask"]], np.int64)
        if runs.sum() != math.prod(size):
            raise ValueError(f"a mask of {runs.sum()} pixels")
    return Thing((left, top, right, bottom), _whole(one["class"], 0), runs, score, one.get("crowd") is True)


def _whole(value: Any, least: int, most: int = 2**31) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{value!r:.40}, where a whole number of {least} or more is allowed")
    return value


def keep_examples(folder: Path, outputs: Outputs, task: Task, data: Arrays) -> dict[str, Any]:
    """Write the examples next to the weights.

    Args:
        folder: of the weights.
        outputs: of the whole test set.
        task: which judges them.
        data: the data set.

    Returns:
        Their entries in the record of the weights: `examples`, with their number and the file's SHA-256, or None, and
        `examples_reason`, why there are none.
    """
    if (wrong := task.problem_of(outputs, data)) is not None:
        return {"examples": None, "examples_reason": wrong}
    content = content_of(outputs, data)
    write_json(folder / NAME, content)
    summary = {"images": len(content["images"]), "sha256": sha256_of(folder / NAME)}
    return {"examples": summary, "examples_reason": None}


def content_of(outputs: Outputs, data: Arrays) -> dict[str, Any]:
    """Return what the file holds, of JSON.

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
        "mask": encode_mask(paste_mask(cells[0], row[:4], size)).tolist() if len(cells) else None,
    }


def _rounded(box: NDArray[Any]) -> list[float]:
    return [round(float(edge), 2) for edge in box]
