"""Effect sizes of two samples (Vargha and Delaney's A12, Cliff's delta), and Student's t intervals."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats


def a12(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the probability that a value of `a` exceeds a value of `b`, ties counting half.

    Vargha and Delaney 2000, Journal of Educational and Behavioral Statistics 25:101-132.

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
    """Return the probability that a value of `a` exceeds a value of `b`, minus the opposite probability: 2 A12 - 1.

    Cliff 1993, Psychological Bulletin 114:494-509.

    Raises:
        ValueError: a sample is empty.
    """
    above, below, equal = _count(a, b)
    return (above - below) / (above + below + equal)


def a12_interval(value: float, n_a: int, n_b: int, confidence: float) -> tuple[float, float]:
    """Return the score interval of A12: method 5 of Newcombe (2006), Statistics in Medicine 25:559-573.

    The limits are the theta for which |value - theta| = z sqrt(V(theta)), V being the variance of Hanley and
    McNeil (1982) with (n_a + n_b) / 2 instead of either size. Unlike bootstrap, DeLong and Hanley-McNeil
    intervals it keeps a width where the samples do not overlap (A12 = 0 or 1), which is common for joules. It assumes
    independent samples; for paired runs that correlate it is wider than necessary.

    Args:
        value: an A12.
        n_a: values in the first sample.
        n_b: values in the second.
        confidence: level, between 0 and 1.
    """
    z = float(stats.norm.ppf(0.5 + confidence / 2))
    return _lower_limit(value, n_a, n_b, z), 1 - _lower_limit(1 - value, n_a, n_b, z)


def magnitude(value: float) -> str:
    """Return `negligible`, `small`, `medium` or `large`, from 0.56, 0.64 and 0.71 on (Vargha and Delaney 2000).

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


Values = npt.NDArray[np.float64]

SMALLEST_N = 3
"""Fewest runs for an interval of a mean: that of two runs would be tens of times as wide as their difference."""

FEWEST = 2
"""Fewest runs for an interval of a ratio."""

WIDEST = 100.0
"""Largest ratio of the ends of a ratio's interval; a wider interval is useless, and its lower end may be below 0."""


@dataclass(frozen=True)
class Interval:
    """Ends of an interval, or None for both and the reason in `note`."""

    low: float | None
    high: float | None
    note: str = ""


def is_constant(values: Values) -> bool:
    """Whether the values differ by no more than rounding: 1e-12 of the largest. An empty sample is constant."""
    return not values.size or bool(np.ptp(values) <= 1e-12 * np.max(np.abs(values)))


def mean_interval(values: Values, confidence: float) -> Interval:
    """Return Student's interval of a mean, on the scale of its logarithm: mean * exp(+- t s / (mean sqrt(n))).

    The error of a mean's logarithm is its relative error (delta method). Both ends are positive, as a cost must be, and
    the upper end is farther from the mean, since costs are skewed to the right. Coverage: docs/statistics.md.

    Args:
        values: shape (n,), positive, any unit.
        confidence: level, between 0 and 1.
    """
    if values.size < SMALLEST_N:
        return Interval(None, None, f"fewer than {SMALLEST_N} runs")
    if is_constant(values):
        return Interval(None, None, "constant value")
    mean = float(values.mean())
    if mean <= 0:
        return Interval(None, None, "the mean is 0 or less")
    error = float(values.std(ddof=1)) / math.sqrt(values.size) / mean
    half = float(special.stdtrit(values.size - 1, 0.5 + confidence / 2)) * error
    return Interval(mean * math.exp(-half), mean * math.exp(half))


def ratio_of_means_interval(a: Values, b: Values, confidence: float, *, paired: bool) -> Interval:
    """Return Fieller's interval of mean(b) / mean(a), the ratio of totals.

    Fieller 1954, Journal of the Royal Statistical Society B 16:175-185.

    Paired: t with n - 1 degrees of freedom and the covariance of runs within blocks; else with Satterthwaite's degrees
    of freedom at the observed ratio.

    Args:
        a: shape (n_a,), in the unit of `b`.
        b: shape (n_b,); where `paired`, of the same length, block by block.
        confidence: level, between 0 and 1.
        paired: whether runs at the same index belong to one block.
    """
    if min(a.size, b.size) < FEWEST:
        return Interval(None, None, f"fewer than {FEWEST} runs")
    if is_constant(a) and is_constant(b):
        return Interval(None, None, "constant values")
    mean_a, mean_b = float(a.mean()), float(b.mean())
    part_a, part_b = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    if paired:
        both, freedom = float(np.cov(a, b, ddof=1)[0, 1]) / a.size, a.size - 1.0
    else:
        scaled = (mean_b / mean_a) ** 2 * part_a if mean_a else part_a
        both = 0.0
        freedom = (scaled + part_b) ** 2 / (scaled**2 / (a.size - 1) + part_b**2 / (b.size - 1))
    square = float(special.stdtrit(freedom, 0.5 + confidence / 2)) ** 2
    # (mean_b - r mean_a)^2 = t^2 (part_b - 2 r both + r^2 part_a) is a r^2 - 2 b r + c = 0.
    first, middle, last = mean_a**2 - square * part_a, mean_a * mean_b - square * both, mean_b**2 - square * part_b
    if first <= 0:
        return Interval(None, None, "the mean of cell A is not distinguishable from 0")
    root = math.sqrt(max(0.0, middle**2 - first * last))
    low, high = (middle - root) / first, (middle + root) / first
    if low <= 0 or high / low > WIDEST:
        return Interval(None, None, f"not known within a factor of {WIDEST:g}")
    return Interval(low, high)
