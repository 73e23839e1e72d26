"""Sequences of different lengths: stored one after another with their lengths, and padded to the longest for models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError

IGNORED = -1
"""Label of the padding after a sequence's end."""

ROUNDED = 8
"""Rows of a Ragged are padded to a multiple of this: a compiler then meets few shapes."""


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of different lengths, one after another; some of them at a time are padded, where engines take them.

    Like an array where engines need it: `len()`, `.dtype`, `.ndim`, `.shape`, `.nbytes`, and rows by a slice or by
    numbers. Values are not read before they are used, so that they may be mapped from a file.

    Attributes:
        values: shape (total,), int64.
        starts: where rows begin, and at its end where the last one ends, shape (n + 1,), int64.
        fill: what rows are padded with.
        cut: how many values at the end of every row are no part of it. Ids and the ids after each of them are thus
            rows of the same memory, as `values` and `values[1:]`.

    Raises:
        FramewattError: the starts are no starts of rows in these values.
    """

    values: NDArray[np.int64]
    starts: NDArray[np.int64]
    fill: int
    cut: int = 0

    def __post_init__(self) -> None:
        for name in ("values", "starts"):
            values = getattr(self, name)
            if values.dtype != np.int64 or values.ndim != 1:
                raise FramewattError(
                    f"data set: {name} of rows have shape {values.shape}, {values.dtype}. Use (n,) int64."
                )
        if not len(self.starts) or self.starts[0] != 0 or (self.starts[1:] - self.starts[:-1] < self.cut).any():
            raise FramewattError(
                f"data set: starts of rows do not rise from 0. Use 0, and each {self.cut} or more above the one before."
            )
        if not self.starts[-1] - self.cut <= len(self.values) <= self.starts[-1]:
            raise FramewattError(
                f"data set: {len(self.values)} values belong to rows that end at {self.starts[-1]}. Use as many."
            )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: "slice | NDArray[np.int64]") -> NDArray[np.int64]:
        """Some rows, padded to the longest of them, rounded up to a multiple of ROUNDED.

        Args:
            rows: a slice, or numbers of rows, shape (k,), int64.

        Returns:
            Shape (k, width), int64.

        Raises:
            IndexError: there is no such row.
        """
        first = self.starts[:-1][rows]
        lengths = self.starts[1:][rows] - first - self.cut
        width = -(-int(lengths.max(initial=0)) // ROUNDED) * ROUNDED
        inside = np.arange(width) < lengths[:, None]
        rows_padded = np.full((len(first), width), self.fill, np.int64)
        rows_padded[inside] = self.values[(first[:, None] + np.arange(width))[inside]]
        return rows_padded

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many values each row has, shape (n,)."""
        lengths: NDArray[np.int64] = self.starts[1:] - self.starts[:-1] - self.cut
        return lengths

    @property
    def dtype(self) -> np.dtype[np.int64]:
        """Type of the values."""
        return np.dtype(np.int64)

    @property
    def ndim(self) -> int:
        """Of rows side by side."""
        return 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and values of the longest of them."""
        return len(self), int(self.lengths.max(initial=0))

    @property
    def nbytes(self) -> int:
        """Bytes of the values, without padding."""
        return int(self.lengths.sum()) * self.dtype.itemsize

    def joined(self) -> NDArray[np.int64]:
        """Return all rows one after another; a copy where something is cut off them."""
        if not self.cut:
            return self.values
        inside = np.ones(int(self.starts[-1]), np.bool_)
        for back in range(1, self.cut + 1):
            inside[self.starts[1:] - back] = False
        # Where rows are those of `values[1:]`, what is cut off the last one is not there.
        rows: NDArray[np.int64] = self.values[inside[: len(self.values)]]
        return rows


def flat(padded: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Return padded sequences, one after another without the padding.

    Args:
        padded: shape (n, longest, ...).
        lengths: shape (n,).

    Returns:
        Shape (sum of lengths, ...).
    """
    rows: NDArray[Any] = padded[np.arange(padded.shape[1]) < lengths[:, None]]
    return rows


def padded(values: NDArray[Any], lengths: NDArray[np.int64], longest: int, fill: float) -> NDArray[Any]:
    """Return sequences that follow each other, each padded at its end.

    Args:
        values: shape (sum of lengths, ...).
        lengths: shape (n,).
        longest: length to which all are padded.
        fill: value of the padding.

    Returns:
        Shape (n, longest, ...), of the type of `values`.
    """
    full = np.full((len(lengths), longest, *values.shape[1:]), fill, values.dtype)
    full[np.arange(longest) < lengths[:, None]] = values
    return full
