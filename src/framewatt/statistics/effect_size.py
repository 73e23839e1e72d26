"""Effect sizes of two samples: Vargha and Delaney's A12 and Cliff's delta."""

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats


def a12(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Probability that a value of `a` exceeds one of `b`, ties counting half (Vargha and Delaney 2000).

    0.5 is no difference; 1 means that every value of `a` is above every value of `b`, so that for joules and
    seconds `a` costs more.

    Args:
        a: shape (n_a,).
        b: shape (n_b,), in the unit of `a`.

    Raises:
        ValueError: a sample is empty.
    """
    above, below, equal = _count(a, b)
    return (above + 0.5 * equal) / (above + below + equal)


def cliffs_delta(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Probability that a value of `a` exceeds one of `b`, minus that of the opposite (Cliff 1993): 2 A12 - 1.

    Raises:
        ValueError: a sample is empty.
    """
    above, below, equal = _count(a, b)
    return (above - below) / (above + below + equal)


def a12_interval(value: float, n_a: int, n_b: int, confidence: float) -> tuple[float, float]:
    """Score interval of A12: method 5 of Newcombe (2006), Statistics in Medicine 25:559-573.

    The limits are the theta for which |value - theta| = z sqrt(V(theta)), V being the variance of Hanley and
    McNeil (1982) with (n_a + n_b) / 2 in place of either size. Unlike bootstrap, DeLong and Hanley-McNeil
    intervals it keeps a width where the samples do not overlap (A12 = 0 or 1), which is common for joules. It assumes
    independent samples; for paired runs that correlate it is wider than necessary.

    Args:
        value: the A12 found.
        n_a: values in the first sample.
        n_b: values in the second.
        confidence: level, between 0 and 1.
    """
    z = float(stats.norm.ppf(0.5 + confidence / 2))
    return _lower_limit(value, n_a, n_b, z), 1 - _lower_limit(1 - value, n_a, n_b, z)


def magnitude(value: float) -> str:
    """`negligible`, `small`, `medium` or `large`, from 0.56, 0.64 and 0.71 on (Vargha and Delaney 2000).

    Args:
        value: an A12; below 0.5 it is judged by its mirror image.
    """
    # 1 - 0.44 is slightly above 0.56 in binary; rounding treats both sides of 0.5 alike.
    distance = round(max(value, 1 - value), 12)
    for limit, word in ((0.71, "large"), (0.64, "medium"), (0.56, "small")):
        if distance >= limit:
            return word
    return "negligible"


def _count(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[int, int, int]:
    """Pairs in which a is above, below and equal to b."""
    first, second = np.asarray(a, dtype=np.float64), np.sort(np.asarray(b, dtype=np.float64))
    if not first.size or not second.size:
        raise ValueError("A12 needs a value in either sample")
    above = int(np.searchsorted(second, first, side="left").sum())
    not_below = int(np.searchsorted(second, first, side="right").sum())
    return above, first.size * second.size - not_below, not_below - above


def _lower_limit(value: float, n_a: int, n_b: int, z: float) -> float:
    if value <= 0:
        return 0.0
    extra = (n_a + n_b) / 2 - 1

    def excess(theta: float) -> float:
        spread = 1 + extra * (1 - theta) / (2 - theta) + extra * theta / (1 + theta)
        return (value - theta) ** 2 - z**2 * theta * (1 - theta) * spread / (n_a * n_b)

    # theta = 1 solves the equation of value = 1 too, but is no lower limit: look just below.
    return float(optimize.brentq(excess, 0.0, min(value, 1 - 1e-9)))
