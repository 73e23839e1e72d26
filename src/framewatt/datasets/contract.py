"""Data sets as canonical arrays: the same numbers for every framework, in a file that holds no code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.errors import FramewattError
from framewatt.files import write_atomically

_NAMES = ("x_train", "y_train", "x_test", "y_test")


@dataclass(frozen=True)
class Arrays:
    """A classification data set.

    Attributes:
        x_train: shape (n, channels, height, width), float32, ready for a model.
        y_train: shape (n,), int64, class from 0.
        x_test: shape (m, channels, height, width), float32.
        y_test: shape (m,), int64.
    """

    x_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    x_test: NDArray[np.float32]
    y_test: NDArray[np.int64]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(max(self.y_train.max(), self.y_test.max())) + 1

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample: (channels, height, width)."""
        return tuple(self.x_test.shape[1:])


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write the arrays as an uncompressed .npz, atomically."""

    def write(partial: Path) -> None:
        with partial.open("wb") as file:
            content: dict[str, Any] = {name: getattr(arrays, name) for name in _NAMES}
            np.savez(file, **content)

    write_atomically(path, write)


def load_arrays(path: Path) -> Arrays:
    """Read arrays written by `save_arrays`; nothing in the file is unpickled.

    Raises:
        FramewattError: the file is not there, is damaged or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            return Arrays(**{name: content[name] for name in _NAMES})
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise FramewattError(f"{path}: found no data set: {error}; remove the file and run snakemake again") from error
