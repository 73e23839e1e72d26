"""Intervals of means, and of ratios of means, by Student's t."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

Values = npt.NDArray[np.float64]

SMALLEST_N = 3
"""Fewest runs for an interval of a mean: that of two runs would be tens of times as wide as their difference."""

FEWEST = 2
"""Fewest runs for an interval of a ratio."""

WIDEST = 100.0
"""Largest ratio of the ends of a ratio's interval; a wider one says nothing, and its lower end may be below 0."""


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
    """Student's interval of a mean, on the scale of its logarithm: mean * exp(+- t s / (mean sqrt(n))).

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
    """Fieller's interval (1954) of mean(b) / mean(a), the ratio of totals.

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
        return Interval(None, None, "the mean of cell A is not told from 0")
    root = math.sqrt(max(0.0, middle**2 - first * last))
    low, high = (middle - root) / first, (middle + root) / first
    if low <= 0 or high / low > WIDEST:
        return Interval(None, None, f"not known within a factor of {WIDEST:g}")
    return Interval(low, high)
