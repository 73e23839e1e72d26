"""What the head says of studies whose truth is known, and how often that is wrong."""

from dataclasses import dataclass

import numpy as np

from framewatt.statistics.best_set import BestSet, best_set
from simulated.studies import Floats, Noise, logs

ALPHA = 0.05


@dataclass(frozen=True)
class Judged:
    """Shares of many studies.

    Attributes:
        missed: whose set lacks every one of the cheapest cells.
        false: whose head says something that is not so.
        covered: whose interval of the nearest cell's ratio holds that ratio.
        named: whose head names one cell.
        shown: of the cells that cost more, those that are outside of the set.
    """

    missed: float
    false: float
    covered: float
    named: float
    shown: float


def judge(noise: Noise, truth: Floats, blocks: int, studies: int, rng: np.random.Generator) -> Judged:
    """Answer many studies, and hold what the head says of each to the truth.

    Args:
        noise: of their runs.
        truth: what cells cost, shape (cells,).
        blocks: of each study.
        studies: how many.
        rng: draws them.
    """
    found = best_set(logs(noise, truth, blocks, studies, rng), ALPHA, paired=noise.paired)
    cheapest = truth == truth.min()
    settled = found.inside.sum(axis=1) == 1
    nearest, low, high = _nearest(found)
    ratio = truth[nearest] / truth[found.reference]
    held = (low <= ratio) & (ratio <= high)
    # Of an interval that reaches below 1 the head says its upper end alone.
    told = np.where(low <= 1, ratio <= high, held)
    false = np.where(settled, ~cheapest[found.reference] | ~told, _false_open(found, truth))
    dearer = truth > truth.min()
    shown = ~found.inside[:, dearer]
    known = np.isfinite(low) & np.isfinite(high)
    return Judged(
        float((~found.inside[:, cheapest]).all(axis=1).mean()),
        float(false.mean()),
        float(held[known].mean()),
        float(settled.mean()),
        float(shown.mean()) if dearer.any() else float("nan"),
    )


def _nearest(found: BestSet) -> tuple[np.ndarray, Floats, Floats]:
    """The cell next to the reference, and the ends of its ratio."""
    studies = np.arange(len(found.reference))
    ratios = found.pairs.ratio[studies, :, found.reference].copy()
    ratios[studies, found.reference] = np.inf
    nearest = np.argmin(np.where(np.isnan(ratios), np.inf, ratios), axis=1)
    low, high = found.pairs.within(found.level)
    return nearest, low[studies, nearest, found.reference], high[studies, nearest, found.reference]


def _false_open(found: BestSet, truth: Floats) -> np.ndarray:
    """Whether a head that names no one cell says something false: how far those are apart, what the others cost."""
    over_cheapest = truth / truth.min()
    inside = np.where(found.inside, truth, np.nan)
    apart = np.nanmax(inside, axis=1) / np.nanmin(inside, axis=1)
    at_least = np.nanmin(np.where(found.inside | ~found.known, np.inf, found.at_least()), axis=1)
    outside = np.where(~found.inside & found.known, over_cheapest, np.inf).min(axis=1)
    some = np.isfinite(outside)
    rounding = 1 + 1e-12
    too_much = some & (at_least > 1) & (at_least > outside * rounding)
    # Where no more is known of the others, the head says that one of these costs no more than they do.
    missed = some & (at_least <= 1) & (np.nanmin(inside, axis=1) > truth.min() * rounding)
    return too_much | missed | (apart > found.apart() * rounding)
