"""Bootstrap intervals, reproducible row by row."""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Values = npt.NDArray[np.float64]

SMALLEST_N = 3
"""Runs below which a bootstrap says nothing: of two values it knows only the smaller, the larger and the middle."""


@dataclass(frozen=True)
class Interval:
    """Ends of an interval, or None for both and the reason in `note`."""

    low: float | None
    high: float | None
    note: str = ""


def generator(seed: int, *names: str) -> np.random.Generator:
    """Random numbers for one row: of the study's seed and the row's names, so that no row depends on another."""
    digest = hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def is_constant(values: Values) -> bool:
    """Whether the values differ by no more than rounding: 1e-12 of the largest. An empty sample is constant."""
    return not values.size or bool(np.ptp(values) <= 1e-12 * np.max(np.abs(values)))


def mean_interval(values: Values, confidence: float, resamples: int, rng: np.random.Generator) -> Interval:
    """Bias-corrected and accelerated bootstrap interval of a mean (Efron 1987, by scipy).

    Short samples make it too narrow: of normal values, a 95 % interval held the mean in 84 % of samples of 5, 91 %
    of 10 and 93 % of 20.

    Args:
        values: shape (n,), any unit.
        confidence: level, between 0 and 1.
        resamples: bootstrap resamples.
        rng: source of the resamples.
    """
    if values.size < SMALLEST_N:
        return Interval(None, None, f"fewer than {SMALLEST_N} runs")
    if is_constant(values):
        return Interval(None, None, "constant value")
    return _bca((values,), _mean, False, confidence, resamples, rng)


def ratio_interval(
    a: Values, b: Values, paired: bool, confidence: float, resamples: int, rng: np.random.Generator
) -> Interval:
    """Bias-corrected and accelerated bootstrap interval of mean(b) / mean(a) (Efron 1987, by scipy).

    Args:
        a: shape (n_a,), in the unit of `b`.
        b: shape (n_b,).
        paired: whether `a` and `b` are pair by pair, of the same length; pairs are then resampled together.
        confidence: level, between 0 and 1.
        resamples: bootstrap resamples.
        rng: source of the resamples.
    """
    if min(a.size, b.size) < SMALLEST_N:
        return Interval(None, None, f"fewer than {SMALLEST_N} runs")
    if is_constant(a) and is_constant(b):
        return Interval(None, None, "constant values")
    if np.mean(a) == 0:
        return Interval(None, None, "mean of cell A is zero")
    return _bca((a, b), _ratio, paired, confidence, resamples, rng)


def _mean(values: Values, axis: int = -1) -> Values:
    return np.asarray(np.mean(values, axis=axis))


def _ratio(a: Values, b: Values, axis: int = -1) -> Values:
    return np.asarray(np.mean(b, axis=axis) / np.mean(a, axis=axis))


def _bca(
    samples: tuple[Values, ...],
    statistic: Callable[..., Values],
    paired: bool,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Interval:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # A degenerate bootstrap comes back as NaN, which the caller hears of as a note.
        warnings.simplefilter("ignore")
        result = stats.bootstrap(
            samples,
            statistic,
            n_resamples=resamples,
            paired=paired,
            vectorized=True,
            axis=-1,
            confidence_level=confidence,
            method="BCa",
            rng=rng,
        )
    low, high = float(result.confidence_interval.low), float(result.confidence_interval.high)
    if not np.isfinite([low, high]).all():
        return Interval(None, None, "degenerate bootstrap")
    return Interval(low, high)
