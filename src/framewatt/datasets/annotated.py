"""Images with objects as a data set: what its file holds, what its record counts, and what is wrong with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import SPLITS, Arrays
from framewatt.datasets.mapped import mapped
from framewatt.datasets.objects import KINDS, Objects

SIZE = "objects_size"
"""Name of the images' size in a file of arrays; only files of images with objects have it."""

_FILED = "objects_"


@dataclass(frozen=True)
class AnnotatedImages(Arrays):
    """Images of one size, each with the objects on it: their boxes and classes, and masks if the data set has them.

    Attributes:
        x_train: shape (n, channels, height, width), float32, ready for a model.
        y_train: the objects on each of the n images.
        x_test: shape (m, channels, height, width), float32.
        y_test: the objects on each of the m images.
    """

    x_train: NDArray[np.float32]
    y_train: Objects
    x_test: NDArray[np.float32]
    y_test: Objects

    def lengths(self, test: bool) -> NDArray[np.int64]:
        """Return how many objects each image of the test set, or of the training set, has, shape (n,)."""
        return np.diff((self.y_test if test else self.y_train).starts)

    def labels(self, test: bool) -> NDArray[np.int64]:
        """Return the classes of all objects of the test set, or of the training set, shape (total,)."""
        return (self.y_test if test else self.y_train).classes

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""
        if self.class_count is None or self.class_count < 1:
            yield "objects have no class_count. Give the number of classes"
            return
        for split in SPLITS:
            yield from self._problems_of_split(split, self.class_count)
        if not len(self.x_test):
            yield "it has no test image. Use at least one"

    def _problems_of_split(self, split: str, classes: int) -> Iterator[str]:
        images, objects = getattr(self, f"x_{split}"), getattr(self, f"y_{split}")
        if not isinstance(objects, Objects):
            yield f"{split} labels are not objects. Use Objects for both splits"
            return
        if images.dtype != np.float32 or images.ndim != 4 or images.shape[2:] != objects.size:
            wanted = f"(n, channels, *{objects.size}) float32"
            yield f"{split} images have shape {images.shape}, {images.dtype}. Use {wanted}"
            return
        if len(images) != len(objects):
            yield f"there are objects of {len(objects)} {split} images, and {len(images)} images. Use as many"
        if problem := _problem_of_objects(objects, classes):
            yield f"{split} {problem}"

    def content(self) -> dict[str, Any]:
        """Return what a file holds of images with objects, by name."""
        stored: dict[str, Any] = {SIZE: np.array(self.y_test.size, np.int64)}
        for split in SPLITS:
            stored[f"x_{split}"] = getattr(self, f"x_{split}")
            objects = getattr(self, f"y_{split}").arrays()
            stored |= {f"{_FILED}{split}/{name}": values for name, values in objects.items()}
        return stored

    def counts(self) -> dict[str, Any]:
        """Return what the data record states of objects: how many of each class, images without any, and crowds."""
        counts: dict[str, Any] = {"masks": self.y_test.masked}
        for split in SPLITS:
            objects = getattr(self, f"y_{split}")
            counts |= {
                f"{split}_objects_per_class": np.bincount(objects.classes, minlength=self.classes).tolist(),
                f"{split}_images_without_objects": int((np.diff(objects.starts) == 0).sum()),
                f"{split}_crowds": int(objects.crowd.sum()),
            }
        return counts


def load_annotated(path: Path, content: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the fields of AnnotatedImages from a file that holds `AnnotatedImages.content`; no image is read.

    `numpy.savez` wrote it, and its values are at any address: rows are taken by numbers, which copies them.

    Args:
        path: the file.
        content: all arrays in it by name.

    Raises:
        FramewattError: the arrays are not those of objects.
        ValueError, KeyError: the file is damaged.
    """
    height, width = content[SIZE].tolist()
    fields: dict[str, Any] = {}
    for split in SPLITS:
        arrays = {
            name: mapped(path, f"{_FILED}{split}/{name}", kind, axes, aligned=False)
            for name, (kind, axes) in KINDS.items()
        }
        images = mapped(path, f"x_{split}", np.float32, 4, aligned=False)
        fields |= {f"x_{split}": images, f"y_{split}": Objects(**arrays, size=(height, width))}
    return fields


def _problem_of_objects(objects: Objects, classes: int) -> str | None:
    """Return what is wrong with the first object that cannot be right; None where all can be."""
    left, top, right, bottom = objects.boxes.T
    height, width = objects.size
    inside = (left >= 0) & (top >= 0) & (right <= width) & (bottom <= height)
    # Written so that NaN is wrong.
    wrong = ~(inside & (right > left) & (bottom > top))
    if wrong.any():
        number = int(wrong.argmax())
        allowed = f"0 <= left < right <= {width} and 0 <= top < bottom <= {height}"
        return f"object {number} has the box {objects.boxes[number].tolist()}. Use {allowed}"
    outside = (objects.classes < 0) | (objects.classes >= classes)
    if outside.any():
        number = int(outside.argmax())
        return f"object {number} has class {objects.classes[number]}. Use 0 to {classes - 1}"
    none = ~(objects.areas > 0)
    if none.any():
        number = int(none.argmax())
        return f"object {number} has area {objects.areas[number]}. Use an area above 0"
    return None
