"""Finds rows of long columns some at a time, so that conditions take no columns of their own (pure)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]

_AT_ONCE = 1 << 18


def where(count: int, holds: Callable[[slice], NDArray[np.bool_]]) -> Indices:
    """Indices of the rows for which a condition holds, ascending.

    Args:
        count: of rows; fewer than none counts as none.
        holds: of some rows, shape (rows,), whether it holds for each.
    """
    parts = [np.empty(0, np.intp)]
    for first in range(0, count, _AT_ONCE):
        parts.append(first + np.flatnonzero(holds(slice(first, min(first + _AT_ONCE, count)))))
    return np.concatenate(parts)
