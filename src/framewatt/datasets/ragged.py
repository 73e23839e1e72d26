"""Sequences of different lengths: stored one after another with their lengths, and padded to the longest for models."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IGNORED = -1
"""Label of what lies beyond a sequence's end, where padding is."""


def flat(padded: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Padded sequences, one after another without the padding.

    Args:
        padded: shape (n, longest, ...).
        lengths: shape (n,).

    Returns:
        Shape (sum of lengths, ...).
    """
    found: NDArray[Any] = padded[np.arange(padded.shape[1]) < lengths[:, None]]
    return found


def padded(values: NDArray[Any], lengths: NDArray[np.int64], longest: int, fill: float) -> NDArray[Any]:
    """Sequences that follow each other, each padded at its end.

    Args:
        values: shape (sum of lengths, ...).
        lengths: shape (n,).
        longest: length to which all are padded.
        fill: value of the padding.

    Returns:
        Shape (n, longest, ...), of the type of `values`.
    """
    made = np.full((len(lengths), longest, *values.shape[1:]), fill, values.dtype)
    made[np.arange(longest) < lengths[:, None]] = values
    return made
