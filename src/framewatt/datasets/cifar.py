"""CIFAR-10 and CIFAR-100 from their original files, the Python version or the binary one.

Source: A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009; the layouts are described on
https://www.cs.toronto.edu/~kriz/cifar.html.

The Python version is pickled, and unpickling can call any function that a file names. Here the few names that such
files need are mapped to functions of this module, which only make arrays of numbers; any other name is refused.
"""

import pickle  # restricted below
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.datasets.options import Count, Positive, Share
from framewatt.datasets.preprocessing import unit_range
from framewatt.datasets.record import about
from framewatt.datasets.selection import Labelled, first, first_share_trains, joined

_IMAGE = (3, 32, 32)
_IMAGE_B = 3072
_BATCHES = [f"data_batch_{number}" for number in range(1, 6)]


@dataclass(frozen=True)
class _Layout:
    """A published layout of the files: the archive's folder, and the files in it."""

    folder: str
    train: list[str]
    test: str
    binary: bool


_LAYOUTS = {
    10: [
        _Layout("cifar-10-batches-py", _BATCHES, "test_batch", binary=False),
        _Layout("cifar-10-batches-bin", [f"{name}.bin" for name in _BATCHES], "test_batch.bin", binary=True),
    ],
    100: [
        _Layout("cifar-100-python", ["train"], "test", binary=False),
        _Layout("cifar-100-binary", ["train.bin"], "test.bin", binary=True),
    ],
}


def make(
    *,
    folder: Path,
    version: Literal[10, 100],
    labels: Literal["fine", "coarse"] = "fine",
    train_share: Share | None = None,
    train_samples: Count | None = None,
    test_samples: Positive | None = None,
) -> Images:
    """CIFAR as RGB images of 32x32 pixels from 0 to 1, in the order of the files.

    Args:
        folder: holds the files, or the folder that the archive unpacks to.
        version: 10 or 100.
        labels: `fine`, or `coarse` for the 20 superclasses of CIFAR-100.
        train_share: None takes the published test set; a share takes that beginning of the published training set to
            train and its end to test, as itu2023 did with 0.9.
        train_samples: number of training images to keep; None keeps all.
        test_samples: number of test images to keep; None keeps all.

    Raises:
        FramewattError: a file is missing or truncated, holds other images, or its pickle holds code.
    """
    if labels == "coarse" and version == 10:
        raise FramewattError("labels: coarse is not possible, since CIFAR-10 has no superclasses. Use fine.")
    layout, root = _locate(folder, _LAYOUTS[version])
    batches = [_read(root / name, version, labels, layout) for name in layout.train]
    sizes = {len(batch[1]) for batch in batches}
    if len(sizes) > 1:
        raise FramewattError(f"{root}: it has batches of {sorted(sizes)} images, not of one size. Get the files again.")
    train, used = joined(batches), list(layout.train)
    if train_share is None:
        test = _read(root / layout.test, version, labels, layout)
        used.append(layout.test)
    else:
        train, test = first_share_trains(train, train_share)
    train = first(train, train_samples, "train_samples of CIFAR")
    test = first(test, test_samples, "test_samples of CIFAR")
    return Images(
        unit_range(train[0]),
        train[1],
        unit_range(test[0]),
        test[1],
        class_count=20 if labels == "coarse" else version,
        about=about("RGB from 0 to 1", read=[root / name for name in used], root=root, layout=layout.folder),
    )


def _locate(folder: Path, layouts: list[_Layout]) -> tuple[_Layout, Path]:
    """Return the layout found in a folder, with all its files, and the folder of these."""
    for layout in layouts:
        for root in (folder, folder / layout.folder):
            names = [*layout.train, layout.test]
            missing = [name for name in names if not (root / name).is_file()]
            if not missing:
                return layout, root
            if len(missing) < len(names):
                raise FramewattError(f"{root}: it has no {', '.join(missing)}. Use all of {', '.join(names)}.")
    known = " or ".join(layout.folder for layout in layouts)
    raise FramewattError(f"{folder}: it has no files of CIFAR. Use the folder that holds {known}.")


def _read(path: Path, version: int, labels: str, layout: _Layout) -> Labelled:
    """Images of one file, shape (n, 3, 32, 32), uint8, and their classes, shape (n,), int64."""
    read = _read_binary if layout.binary else _read_python
    pixels, classes = read(path, version, labels)
    if pixels.dtype != np.uint8 or pixels.ndim != 2 or pixels.shape[1] != _IMAGE_B:
        raise FramewattError(
            f"{path}: it has images of shape {pixels.shape[1:]}, {pixels.dtype}. "
            f"Use {_IMAGE_B} bytes, which are 3 colours of 32x32 pixels."
        )
    if len(pixels) != len(classes):
        raise FramewattError(f"{path}: it has {len(pixels)} images and {len(classes)} labels. Use as many of both.")
    return pixels.reshape(-1, *_IMAGE), classes.astype(np.int64)


def _read_python(path: Path, version: int, labels: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a pickled batch; its keys are bytes or text, depending on who wrote it."""
    content = read_plain_pickle(path)
    if not isinstance(content, dict):
        raise FramewattError(f"{path}: it has {type(content).__name__} in it. Use a batch of CIFAR.")
    batch = {key.decode() if isinstance(key, bytes) else key: value for key, value in content.items()}
    wanted = "labels" if version == 10 else f"{labels}_labels"
    if "data" not in batch or wanted not in batch:
        raise FramewattError(f"{path}: it has the keys {', '.join(map(str, batch))}. Use data and {wanted}.")
    try:
        return np.asarray(batch["data"]), np.asarray(batch[wanted], dtype=np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise FramewattError(
            f"{path}: it has no arrays of images and labels: {error}. Use a batch of CIFAR."
        ) from error


def _read_binary(path: Path, version: int, labels: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Records of labels (CIFAR-100: the coarse one, then the fine one), a byte each, and an image."""
    label_bytes = 1 if version == 10 else 2
    content = np.fromfile(path, dtype=np.uint8)
    record_b = label_bytes + _IMAGE_B
    if len(content) == 0 or len(content) % record_b:
        raise FramewattError(
            f"{path}: it has {len(content)} bytes. Use whole images of {record_b} bytes; get the file again."
        )
    records = content.reshape(-1, record_b)
    return records[:, label_bytes:], records[:, 0 if labels == "coarse" else label_bytes - 1]


_NUMBER_TYPE = re.compile(r"[<>|=]?[biuf][1248]")
_EMPTY_ARRAY: Any = np.empty(0).__reduce__()[0]
"""numpy's own function for the empty array that a pickle then fills."""


def read_plain_pickle(path: Path) -> Any:
    """Read a pickle of containers, text, numbers and arrays of numbers, without calling functions that it names.

    Text of Python 2 comes as bytes.

    Raises:
        FramewattError: the file is truncated or damaged, or names anything else.
    """
    with path.open("rb") as file:
        try:
            return _PlainUnpickler(file, encoding="bytes").load()
        except FramewattError as error:
            raise FramewattError(f"{path}: {error}") from error
        except Exception as error:  # a damaged pickle may fail in any way
            raise FramewattError(
                f"{path}: it has no whole pickle ({type(error).__name__}: {error}). Get the original file again."
            ) from error


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return the replacement for a name in the file."""
        try:
            return _NAMES[module, name]
        except KeyError:
            raise FramewattError(
                f"it has {module}.{name} in a pickle. Use containers, text and arrays of numbers; get the file again."
            ) from None


def _array(_subtype: object, _shape: object, _typecode: object) -> NDArray[Any]:
    """Return an empty array; its state follows in the file."""
    array: NDArray[Any] = _EMPTY_ARRAY(np.ndarray, (0,), b"b")
    return array


def _number_type(name: str | bytes, align: object = False, copy: object = True) -> np.dtype[Any]:
    """Return a numeric dtype; an array of objects could hold anything."""
    text = name.decode("ascii") if isinstance(name, bytes) else name
    if not _NUMBER_TYPE.fullmatch(text):
        raise FramewattError(f"it has an array of {text!r} in a pickle. Use numbers; get the file again.")
    return np.dtype(text, bool(align), bool(copy))


def _bytes(text: str, encoding: str) -> bytes:
    """Return how protocol 2 writes the bytes of Python 3."""
    return text.encode(encoding)


_NAMES: Mapping[tuple[str, str], Callable[..., Any] | None] = {
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy._core.multiarray", "_reconstruct"): _array,
    ("numpy", "ndarray"): None,  # named only as the first argument of `_reconstruct`
    ("numpy", "dtype"): _number_type,
    ("_codecs", "encode"): _bytes,
}
