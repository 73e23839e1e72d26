"""Images with objects as a data set: what its file holds, what its record says, and what is wrong with it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.mapped import mapped
from framewatt.datasets.objects import KINDS, Objects

DETECTION, SEGMENTATION = "detection", "segmentation"
"""What is asked of a model, names of framewatt.tasks: boxes alone, or masks too."""

SIZE = "objects_size"
"""Name of the images' size in a file of arrays, which tells that it holds objects."""

_FILED = "objects_"
_SPLITS = ("train", "test")


def stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a file holds of images with objects, by name.

    Args:
        fields: of Arrays, by name.
    """
    content: dict[str, Any] = {SIZE: np.array(fields["y_test"].size, np.int64)}
    for split in _SPLITS:
        content[f"x_{split}"] = fields[f"x_{split}"]
        content |= {f"{_FILED}{split}/{name}": values for name, values in fields[f"y_{split}"].arrays().items()}
    return content


def loaded(path: Path, content: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The fields of Arrays from a file that holds what `stored` gave; mapped, so that no image is read.

    `numpy.savez` wrote it, whose values lie anywhere: rows are taken by numbers, which copies them.

    Args:
        path: the file.
        content: all arrays in it by name.

    Raises:
        FramewattError: the arrays are not those of objects.
        ValueError, KeyError: the file is damaged.
    """
    height, width = content[SIZE].tolist()
    fields: dict[str, Any] = {}
    for split in _SPLITS:
        arrays = {
            name: mapped(path, f"{_FILED}{split}/{name}", kind, axes, aligned=False)
            for name, (kind, axes) in KINDS.items()
        }
        images = mapped(path, f"x_{split}", np.float32, 4, aligned=False)
        fields |= {f"x_{split}": images, f"y_{split}": Objects(**arrays, size=(height, width))}
    return fields


def counted(fields: Mapping[str, Any], classes: int) -> dict[str, Any]:
    """What the data record says of objects: how many of each class, images without any, and crowds among them.

    Args:
        fields: of Arrays, by name.
        classes: how many there are.
    """
    found: dict[str, Any] = {"masks": fields["y_test"].masked}
    for split in _SPLITS:
        objects = fields[f"y_{split}"]
        found |= {
            f"{split}_objects_per_class": np.bincount(objects.classes, minlength=classes).tolist(),
            f"{split}_images_without_objects": int((np.diff(objects.starts) == 0).sum()),
            f"{split}_crowds": int(objects.crowd.sum()),
        }
    return found


def problems(fields: Mapping[str, Any], classes: int | None) -> Iterator[str]:
    """Where the fields of Arrays are no images with objects, and what would be right.

    Args:
        fields: of Arrays, by name.
        classes: how many classes there are.
    """
    if fields["task"] not in (DETECTION, SEGMENTATION):
        yield f"objects for the task {fields['task']}; allowed: {DETECTION}, {SEGMENTATION}"
    if classes is None or classes < 1:
        yield "objects without class_count; allowed: how many classes there are"
        return
    if fields["more_train"] or fields["more_test"] or fields["categories"] or fields["main"] is not None:
        yield "further inputs, categories or a name of the main input beside objects; allowed: none"
    for split in _SPLITS:
        yield from _of_split(split, fields[f"x_{split}"], fields[f"y_{split}"], classes, fields["task"])
    if not len(fields["x_test"]):
        yield "no test image; allowed: at least one"


def _of_split(split: str, images: Any, objects: Any, classes: int, task: str) -> Iterator[str]:
    if not isinstance(objects, Objects):
        yield f"{split} labels that are no objects beside objects; allowed: Objects of both splits"
        return
    if images.dtype != np.float32 or images.ndim != 4 or images.shape[2:] != objects.size:
        yield f"{split} images of shape {images.shape}, {images.dtype}; allowed: (n, channels, *{objects.size}) float32"
        return
    if len(images) != len(objects):
        yield f"objects of {len(objects)} {split} images beside {len(images)}; allowed: as many"
    if task == SEGMENTATION and not objects.masked:
        yield f"{split} objects without masks for the task {task}; allowed: masks, or the task {DETECTION}"
    if wrong := _first_wrong(objects, classes):
        yield f"{split} {wrong}"


def _first_wrong(objects: Objects, classes: int) -> str | None:
    """What is wrong with the first object that cannot be one; None where none is."""
    left, top, right, bottom = objects.boxes.T
    height, width = objects.size
    inside = (left >= 0) & (top >= 0) & (right <= width) & (bottom <= height)
    # Written so that NaN is wrong.
    wrong = ~(inside & (right > left) & (bottom > top))
    if wrong.any():
        number = int(wrong.argmax())
        box = objects.boxes[number].tolist()
        return f"box {box} of object {number}; allowed: left < right <= {width}, top < bottom <= {height}, from 0"
    outside = (objects.classes < 0) | (objects.classes >= classes)
    if outside.any():
        return f"class {objects.classes[outside][0]} of object {int(outside.argmax())}; allowed: 0 to {classes - 1}"
    none = ~(objects.areas > 0)
    if none.any():
        return f"area {objects.areas[none][0]} of object {int(none.argmax())}; allowed: above 0"
    return None
