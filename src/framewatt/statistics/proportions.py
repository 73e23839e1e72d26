"""Equivalence tests of two models' accuracies on one test set."""

import math

import numpy as np
import numpy.typing as npt
from scipy import special
from statsmodels.stats.proportion import tost_proportions_2indep


def paired_equivalence(first: npt.ArrayLike, second: npt.ArrayLike, margin: float) -> float:
    """P of "their accuracies differ by the margin or more", from which samples each got right (Tango 1998).

    The larger p of two one-sided score tests of the difference of paired proportions: Tango, Statistics in Medicine
    17:891-908. Only discordant samples, which one got right and the other wrong, separate the two. Their number in the
    test set bounds their true share, so two models that agree on all of a small test set are not thereby equal.

    Args:
        first: shape (n,), bool: whether each sample of the test set was right.
        second: shape (n,), in the same order.
        margin: largest difference that counts as none, a share: 0.01 is one sample in a hundred.

    Raises:
        ValueError: the arrays do not have one shape (n,), n at least 1.
    """
    one, other = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if one.shape != other.shape or one.ndim != 1 or not one.size:
        raise ValueError(f"found right answers of shapes {one.shape} and {other.shape}; allowed: one shape (n,)")
    gained, lost = int((one & ~other).sum()), int((~one & other).sum())
    return max(_tango_p(gained, lost, one.size, margin), _tango_p(lost, gained, one.size, margin))


def samples_needed(others: int, margin: float, alpha: float) -> int:
    """Size of a test set on which models that answer every sample alike are shown to be equally accurate.

    Args:
        others: models that are compared with one; each test is at `alpha` over their number.
        margin: largest difference of accuracies that counts as none, a share above 0.
        alpha: significance level.
    """
    samples = 1
    while _tango_p(0, 0, samples, margin) > alpha / others:
        samples += 1
    return samples


def _tango_p(gained: int, lost: int, n: int, margin: float) -> float:
    """One-sided p of "the share of `lost` exceeds that of `gained` by the margin or more"."""
    # `share` is the likeliest one of `lost` where the difference, (gained - lost) / n, is exactly delta.
    delta = -margin
    a, b = 2.0 * n, -gained - lost + (2 * n - gained + lost) * delta
    c = -lost * delta * (1 - delta)
    share = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * share + delta * (1 - delta))
    if variance <= 0:
        return 1.0
    return float(special.ndtr(-(gained - lost - n * delta) / math.sqrt(variance)))


def independent_equivalence(first: float, second: float, samples: int, margin: float) -> float:
    """P of the same hypothesis where per-sample results are unknown, from the size of the test set alone.

    It treats the models as tested on independent samples (two one-sided score tests of two binomial proportions,
    Miettinen and Nurminen 1985, by statsmodels). Models mostly get the same samples right, so their true difference
    varies less than that: the test is conservative.

    Args:
        first: share of right answers.
        second: that of the other model.
        samples: size of the test set.
        margin: largest difference that counts as none, a share.
    """
    right = [share * samples for share in (first, second)]
    low, high = -margin, margin
    if abs(first - second) >= margin:
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        found = tost_proportions_2indep(right[0], samples, right[1], samples, low, high, method="score")
    p = float(found.pvalue)
    return 1.0 if math.isnan(p) else p
