"""What the tests of an answer take for granted, and signs that a study does not keep it.

The t-tests of a group take what differs between blocks for noise: independent from block to block, and of one kind.
Two ways in which real machines break that make answers wrong far too often: noise that goes on over blocks (a machine
that warms up, a neighbour that stays), and cells that are rarely much slower. Neither is certain in few blocks, so a
sign is a reason to measure more, and no sign is no proof.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from framewatt.statistics.log_ratios import Floats, logs_of
from framewatt.statistics.residuals import outlying, residuals

SIGN_P = 0.01
"""Significance level of the test that blocks follow each other."""

_SOME_ORDERS = 1000
_EVERY_ORDER = 6
"""Up to so many blocks every order is gone through; of more, some by chance."""


def follow_p(values: Floats) -> float:
    """The p of "ratios of cells in one block say nothing of those in the next": small where they go on.

    A permutation test over orders of the blocks, one-sided; its statistic is the autocovariance at lag 1 of the
    logarithms after cells and blocks, summed over cells (Wald and Wolfowitz 1943, Annals of Mathematical Statistics
    14:378, for one series). What whole blocks have in common cancels in ratios, and is not looked at.

    Args:
        values: shape (cells, blocks), NaN where a run is missing. Blocks with fewer than two cells are left out.

    Returns:
        p, at least 1 over the number of orders; 1 where nothing varies.
    """
    logs = logs_of(values)
    logs = logs[:, np.isfinite(logs).sum(axis=0) > 1]
    logs = logs[np.isfinite(logs).any(axis=1)]
    if min(logs.shape) < 2:
        return 1.0
    left = logs - np.nanmean(logs, axis=1, keepdims=True)
    left = np.nan_to_num(left - np.nanmean(left, axis=0, keepdims=True))
    products = left.T @ left
    blocks = len(products)
    if blocks <= _EVERY_ORDER:
        orders = np.array(list(itertools.permutations(range(blocks))))
    else:
        rng = np.random.default_rng(blocks)
        orders = np.vstack([np.arange(blocks), rng.permuted(np.tile(np.arange(blocks), (_SOME_ORDERS, 1)), axis=1)])
    along = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    rounding = 1e-12 * np.abs(products).sum()
    return float((along >= along[0] - rounding).mean())


def doubts(values: pd.DataFrame, *, paired: bool) -> Iterator[str]:
    """Signs in a group's runs that its answer may be wrong more often than it says, each as a sentence.

    Args:
        values: one row per block, one column per cell, NaN where a run does not count (see block_values).
        paired: whether the runs of a row belong to one block.
    """
    if paired and follow_p(values.to_numpy(dtype=np.float64).T) <= SIGN_P:
        yield (
            "From one block to the next, the ratios of these cells change less than by chance, so that so many blocks "
            "say less than they seem to. Measure more, over a longer time."
        )
    left = residuals(values, paired=paired)
    slow = outlying(left) & (left > 0)
    for cell in slow.columns[slow.any()]:
        much = float(np.exp(left.loc[slow[cell], cell].max()))
        few, every = int(slow[cell].sum()), int(values[cell].notna().sum())
        yield (
            f"{few} of {every} runs of {cell} took far more than its others "
            f"(up to {much:.2g} times): if few runs do, few blocks do not tell what it takes on average. Measure more."
        )
