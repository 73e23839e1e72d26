"""Objects on images: their boxes, classes and masks, image by image, as COCO's annotations have them.

Source of the form of masks: T.-Y. Lin et al., Microsoft COCO, ECCV 2014, and its tools: lengths of runs of 0 and 1 in
turn, column by column, of which the first is of 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.ragged import IGNORED, ROUNDED

DETECTION, SEGMENTATION = "detection", "segmentation"
"""What is asked of a model, names of framewatt.tasks: boxes alone, or masks too."""

SIZE = "objects_size"
"""Name of the images' size in a file of arrays, which tells that it holds objects."""

_FILED = "objects_"
_SPLITS = ("train", "test")

_KINDS = {
    "starts": (np.int64, 1),
    "boxes": (np.float32, 2),
    "classes": (np.int64, 1),
    "crowd": (np.bool_, 1),
    "areas": (np.float32, 1),
    "runs": (np.int64, 1),
    "run_starts": (np.int64, 1),
}
"""Every array of Objects: its type, and how many axes it has."""


class Targets(NamedTuple):
    """What a model is to find on the images of a batch, without crowds.

    Attributes:
        boxes: shape (k, most, 4), float32, see Objects; 0 where padded.
        classes: shape (k, most), int64; IGNORED where padded.
        masks: shape (k, most, height, width), uint8, 1 on the object; None where the data set has none.
    """

    boxes: NDArray[np.float32]
    classes: NDArray[np.int64]
    masks: NDArray[np.uint8] | None


@dataclass(frozen=True, eq=False)
class Objects:
    """What there is to be found on each of some images, one after another.

    Like an array where engines need it: `len()`, `.nbytes`, and Targets of some images by a slice or by numbers.

    Attributes:
        starts: where the objects of each image begin, and at its end where the last ones end, shape (n + 1,), int64.
        boxes: shape (total, 4), float32: left, top, right, bottom, in pixels of the stored image.
        classes: shape (total,), int64, from 0; there is none for the background.
        crowd: shape (total,), bool: whether it is many objects in one, which a model is not asked for and which counts
            neither for nor against it.
        areas: shape (total,), float32: pixels of the object, of its mask where there is one.
        runs: lengths of the runs of all masks, one after another, shape (r,), int64; empty where there are no masks.
        run_starts: where the runs of each object begin, and the last ones end, shape (total + 1,), int64; [0] where
            there are no masks.
        size: (height, width) of the stored images.

    Raises:
        FramewattError: the arrays are not those of objects.
    """

    starts: NDArray[np.int64]
    boxes: NDArray[np.float32]
    classes: NDArray[np.int64]
    crowd: NDArray[np.bool_]
    areas: NDArray[np.float32]
    runs: NDArray[np.int64]
    run_starts: NDArray[np.int64]
    size: tuple[int, int]

    def __post_init__(self) -> None:
        if (problem := next(self._problems(), None)) is not None:
            raise FramewattError(f"data set: found {problem}")

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: "slice | NDArray[np.int64]") -> Targets:
        """What is to be found on some images, padded to as many objects as one of them has.

        Args:
            rows: a slice, or numbers of images, shape (k,), int64.

        Raises:
            IndexError: there is no such image.
        """
        images = np.arange(len(self))[rows]
        found = [self._asked(image) for image in images.tolist()]
        most = max((len(numbers) for numbers in found), default=0)
        # A compiler then meets few shapes.
        most = max(ROUNDED, -(-most // ROUNDED) * ROUNDED)
        boxes = np.zeros((len(found), most, 4), np.float32)
        classes = np.full((len(found), most), IGNORED, np.int64)
        masks = np.zeros((len(found), most, *self.size), np.uint8) if self.masked else None
        for row, numbers in enumerate(found):
            boxes[row, : len(numbers)] = self.boxes[numbers]
            classes[row, : len(numbers)] = self.classes[numbers]
            if masks is not None:
                for place, number in enumerate(numbers.tolist()):
                    masks[row, place] = self.mask(number)
        return Targets(boxes, classes, masks)

    @property
    def masked(self) -> bool:
        """Whether objects have masks."""
        return len(self.run_starts) > 1

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(values.nbytes for values in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every array by its name."""
        return {name: getattr(self, name) for name in _KINDS}

    def mask(self, number: int) -> NDArray[np.uint8]:
        """The mask of an object, shape (height, width), 1 on the object.

        Args:
            number: of the object, from 0.

        Raises:
            FramewattError: there are no masks.
            IndexError: there is no such object.
        """
        if not self.masked:
            raise FramewattError("data set: found no masks; allowed: a data set with masks")
        return decode(self.runs[self.run_starts[number] : self.run_starts[number + 1]], self.size)

    def _asked(self, image: int) -> NDArray[np.int64]:
        """Numbers of the objects of an image that a model is asked for."""
        numbers = np.arange(self.starts[image], self.starts[image + 1])
        return numbers[~self.crowd[numbers]]

    def _problems(self) -> Iterator[str]:
        """Each mismatch between the arrays, and what would be right."""
        for name, (kind, axes) in _KINDS.items():
            values = getattr(self, name)
            if values.dtype != kind or values.ndim != axes:
                wanted = f"{axes} axes of {kind.__name__}"
                yield f"{name} of objects of shape {values.shape}, {values.dtype}; allowed: {wanted}"
                return
        total = len(self.boxes)
        counts = {name: len(getattr(self, name)) for name in ("boxes", "classes", "crowd", "areas")}
        if len(set(counts.values())) > 1 or self.boxes.shape[1] != 4:
            yield f"{counts} of objects, boxes of {self.boxes.shape[1]} numbers; allowed: as many of each, 4 numbers"
        yield from _of_starts("objects", self.starts, total, least=0)
        if len(self.run_starts) > 1 or len(self.runs):
            yield from self._problems_of_masks(total)

    def _problems_of_masks(self, total: int) -> Iterator[str]:
        if len(self.run_starts) != total + 1:
            yield f"masks of {len(self.run_starts) - 1} of {total} objects; allowed: of all of them, or of none"
            return
        yield from _of_starts("runs", self.run_starts, len(self.runs), least=1)
        pixels = np.add.reduceat(self.runs, self.run_starts[:-1])
        height, width = self.size
        if (wrong := np.flatnonzero(pixels != height * width)).size or self.runs.min() < 0:
            which = (
                int(wrong[0]) if wrong.size else int(np.searchsorted(self.run_starts, self.runs.argmin(), "right")) - 1
            )
            yield f"a mask of {pixels[which]} pixels, object {which}; allowed: {height} x {width}, in runs of 0 or more"


def encode(mask: NDArray[Any]) -> NDArray[np.int64]:
    """The runs of a mask; its inverse is `decode`.

    Args:
        mask: shape (height, width); all but 0 is the object.

    Returns:
        Shape (r,), int64.
    """
    pixels = (np.asarray(mask) != 0).T.ravel()
    ends = np.append(np.flatnonzero(pixels[1:] != pixels[:-1]) + 1, len(pixels))
    runs = np.diff(ends, prepend=0)
    return np.concatenate([[0], runs]).astype(np.int64) if pixels[0] else runs.astype(np.int64)


def decode(runs: NDArray[np.int64], size: tuple[int, int]) -> NDArray[np.uint8]:
    """The mask of runs.

    Args:
        runs: shape (r,), int64, as many pixels as the image has.
        size: (height, width) of the image.

    Returns:
        Shape (height, width), 1 on the object.
    """
    height, width = size
    pixels = np.repeat((np.arange(len(runs)) % 2).astype(np.uint8), runs)
    return pixels.reshape(width, height).T


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


def loaded(content: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The fields of Arrays from a file that holds what `stored` gave.

    Raises:
        FramewattError: the arrays are not those of objects.
        ValueError, KeyError: the file is damaged.
    """
    height, width = content[SIZE].tolist()
    fields: dict[str, Any] = {}
    for split in _SPLITS:
        arrays = {name: content[f"{_FILED}{split}/{name}"] for name in _KINDS}
        fields |= {f"x_{split}": content[f"x_{split}"], f"y_{split}": Objects(**arrays, size=(height, width))}
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
    if task == SEGMENTATION and len(objects.boxes) and not objects.masked:
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


def _of_starts(what: str, starts: NDArray[np.int64], total: int, least: int) -> Iterator[str]:
    """Where numbers are no starts of parts of `total` things, each of `least` or more."""
    ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == total
    if not ends or (np.diff(starts) < least).any():
        yield f"starts of {what} that do not rise from 0 to {total}; allowed: the next {least} or more on"
