"""Objects on images, image by image: boxes, classes and masks, as COCO's annotations have them.

Masks are stored as COCO's tools write them: lengths of runs of 0 and 1 in turn, column by column, the first of 0.
Source: T.-Y. Lin et al., Microsoft COCO, ECCV 2014, and its tools.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.ragged import IGNORED, ROUNDED


def encode_mask(mask: NDArray[Any]) -> NDArray[np.int64]:
    """Return the runs of a mask; its inverse is `decode_mask`.

    Args:
        mask: shape (height, width); all but 0 is the object.

    Returns:
        Shape (r,), int64.
    """
    pixels = (np.asarray(mask) != 0).T.ravel()
    ends = np.append(np.flatnonzero(pixels[1:] != pixels[:-1]) + 1, len(pixels))
    runs = np.diff(ends, prepend=0)
    return np.concatenate([[0], runs]).astype(np.int64) if pixels[0] else runs.astype(np.int64)


def decode_mask(runs: NDArray[np.int64], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the mask of runs.

    Args:
        runs: shape (r,), int64, as many pixels as the image has.
        size: (height, width) of the image.

    Returns:
        Shape (height, width), 1 on the object.
    """
    height, width = size
    pixels = np.repeat((np.arange(len(runs)) % 2).astype(np.uint8), runs)
    return pixels.reshape(width, height).T


KINDS = {
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
        crowd: shape (total,), bool: whether it is many objects in one, which a model does not have to find and which
            counts neither for nor against it.
        areas: shape (total,), float32: pixels of the object, of its mask where there is one.
        runs: of all masks, one after another, see `masks`, shape (r,), int64; empty where there are no masks.
        run_starts: where the runs of each object begin, and the last ones end, shape (total + 1,), int64; empty where
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
            raise FramewattError(f"data set: {problem}.")

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: "slice | NDArray[np.int64]") -> Targets:
        """Return what is to be found on some images, padded to as many objects as one of them has.

        Args:
            rows: a slice, or numbers of images, shape (k,), int64.

        Raises:
            IndexError: there is no such image.
        """
        images = np.arange(len(self))[rows]
        requested = [self._requested(image) for image in images.tolist()]
        most = max((len(numbers) for numbers in requested), default=0)
        # A compiler then meets few shapes.
        most = max(ROUNDED, -(-most // ROUNDED) * ROUNDED)
        boxes = np.zeros((len(requested), most, 4), np.float32)
        classes = np.full((len(requested), most), IGNORED, np.int64)
        masks = np.zeros((len(requested), most, *self.size), np.uint8) if self.masked else None
        for row, numbers in enumerate(requested):
            boxes[row, : len(numbers)] = self.boxes[numbers]
            classes[row, : len(numbers)] = self.classes[numbers]
            if masks is not None:
                for place, number in enumerate(numbers.tolist()):
                    masks[row, place] = self.mask(number)
        return Targets(boxes, classes, masks)

    @property
    def masked(self) -> bool:
        """Whether objects have masks; known where there are no objects, too."""
        return len(self.run_starts) > 0

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(values.nbytes for values in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every array by its name."""
        return {name: getattr(self, name) for name in KINDS}

    def mask(self, number: int) -> NDArray[np.uint8]:
        """Return the mask of an object, shape (height, width), 1 on the object.

        Args:
            number: of the object, from 0.

        Raises:
            FramewattError: there are no masks.
            IndexError: there is no such object.
        """
        if not self.masked:
            raise FramewattError("data set: it has no masks. Use a data set with masks.")
        return decode_mask(self.runs[self.run_starts[number] : self.run_starts[number + 1]], self.size)

    def _requested(self, image: int) -> NDArray[np.int64]:
        """Numbers of the objects of an image that a model has to find."""
        numbers = np.arange(self.starts[image], self.starts[image + 1])
        return numbers[~self.crowd[numbers]]

    def _problems(self) -> Iterator[str]:
        """Each mismatch between the arrays, and what would be right."""
        for name, (kind, axes) in KINDS.items():
            values = getattr(self, name)
            if values.dtype != kind or values.ndim != axes:
                wanted = f"{axes} axes of {kind.__name__}"
                yield f"{name} of objects have shape {values.shape}, {values.dtype}. Use {wanted}"
                return
        total = len(self.boxes)
        counts = {name: len(getattr(self, name)) for name in ("boxes", "classes", "crowd", "areas")}
        if len(set(counts.values())) > 1 or self.boxes.shape[1] != 4:
            yield f"objects have {counts}, boxes of {self.boxes.shape[1]} numbers. Use as many of each, 4 numbers"
        yield from _problems_of_starts("objects", self.starts, total, least=0)
        if self.masked or len(self.runs):
            yield from self._problems_of_masks(total)

    def _problems_of_masks(self, total: int) -> Iterator[str]:
        if len(self.run_starts) != total + 1:
            yield f"{max(0, len(self.run_starts) - 1)} of {total} objects have masks. Give masks to all, or to none"
            return
        yield from _problems_of_starts("runs", self.run_starts, len(self.runs), least=1)
        if not total:
            return
        pixels = np.add.reduceat(self.runs, self.run_starts[:-1])
        height, width = self.size
        wrong = (pixels != height * width) | (np.minimum.reduceat(self.runs, self.run_starts[:-1]) < 0)
        if wrong.any():
            which = int(wrong.argmax())
            yield f"the mask of object {which} has {pixels[which]} pixels. Use {height} x {width}, in runs of 0 or more"


def _problems_of_starts(what: str, starts: NDArray[np.int64], total: int, least: int) -> Iterator[str]:
    """Yield where numbers are no starts of parts of `total` things, each of `least` or more."""
    ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == total
    if not ends or (np.diff(starts) < least).any():
        yield f"starts of {what} do not rise from 0 to {total}. Use each {least} or more above the one before"
