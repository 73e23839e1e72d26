"""The Pareto front of choices."""

import numpy as np

from framewatt.statistics.intervals import Values


def pareto_front(losses: Values) -> np.ndarray:
    """Which choices are on the Pareto front: no other is at least as good in everything and better in something.

    Args:
        losses: shape (choices, objectives), smaller is better, no NaN; equal choices are all on the front.

    Returns:
        shape (choices,), bool.
    """
    as_good = (losses[:, None] <= losses[None]).all(axis=2)
    better = (losses[:, None] < losses[None]).any(axis=2)
    return np.asarray(~(as_good & better).any(axis=0))
