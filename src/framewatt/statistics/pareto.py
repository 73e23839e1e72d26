"""Choices that no other choice beats in everything."""

import numpy as np

from framewatt.statistics.intervals import Values


def pareto_front(losses: Values) -> np.ndarray:
    """Which choices are on the Pareto front: no other is at least as good in everything and better in something.

    Args:
        losses: shape (choices, objectives), each the better the smaller, no NaN; equal choices are all on it.

    Returns:
        shape (choices,), bool.
    """
    as_good = (losses[:, None] <= losses[None]).all(axis=2)
    better = (losses[:, None] < losses[None]).any(axis=2)
    return np.asarray(~(as_good & better).any(axis=0))
