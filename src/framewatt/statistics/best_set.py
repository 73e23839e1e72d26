"""The confidence set of the best: which cells of a group may be the one that costs least."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framewatt.statistics.log_ratios import Floats, LogRatio, all_pairs


@dataclass(frozen=True)
class BestSet:
    """What is known of who costs least; leading axes are as many groups at once, each of the same cells.

    Attributes:
        inside: shape (..., cells): whether a cell may be the one that costs least.
        pairs: ratios, shape (..., cells, cells), row over column.
        level: of each one-sided test, and of either end of each interval.
        reference: shape (...): the cell of the set with the least geometric mean.
        known: shape (..., cells): whether a cell has a run that counts.
    """

    inside: npt.NDArray[np.bool_]
    pairs: LogRatio
    level: float
    reference: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]

    def at_least(self) -> Floats:
        """How many times as much as the cheapest cell each cell outside the set takes at least: shape (..., cells).

        Whichever cell of the set is the cheapest: the least of the lower ends over those. At least 1, as the set says;
        NaN inside the set.
        """
        low, _ = self.pairs.within(self.level)
        over_set = np.where(self.inside[..., None, :], low, np.inf)
        least = np.where(np.isnan(over_set), 1.0, over_set).min(axis=-1)
        return np.where(self.inside | ~self.known, np.nan, np.maximum(1.0, least))

    def apart(self) -> Floats:
        """How many times as much one cell of the set takes as another at most: shape (...).

        The largest of the upper ends over all pairs of the set; infinite where one of them cannot be told, NaN where
        the set is one cell.
        """
        _, high = self.pairs.within(self.level)
        both = self.inside[..., :, None] & self.inside[..., None, :] & ~np.eye(self.inside.shape[-1], dtype=bool)
        most = np.where(both, np.where(np.isnan(high), np.inf, high), -np.inf).max(axis=(-2, -1))
        return np.where(self.inside.sum(axis=-1) > 1, most, np.nan)


def level_of(cells: int, alpha: float) -> float:
    """Level of each one-sided test of a group: alpha over the number of others.

    Of two cells that cost the same, either would be named at alpha: half of it is taken, which is the usual two-sided
    test of two cells.

    Args:
        cells: that have a run that counts.
        alpha: the study's.
    """
    return alpha / max(cells - 1, 2)


def best_set(
    logs: Floats,
    alpha: float,
    *,
    paired: bool,
    level: float | None = None,
    test: Callable[[LogRatio, Floats], LogRatio] = lambda pairs, _: pairs,
) -> BestSet:
    """The cells that no other is shown to be cheaper than, each test one-sided at `level_of`.

    The truly cheapest is left out only where one of the others, of which there are as many as alpha is divided by, is
    found cheaper by chance: the set holds it with a probability of at least 1 - alpha, although nobody said before
    which one to look at (subset selection: Gupta 1965, Technometrics 7:225; with tests of pairs: Hsu 1996, Multiple
    Comparisons, chapter 4). A cell with too few runs for a test cannot be left out.

    Args:
        logs: shape (..., cells, runs), logarithms, NaN where a run is missing.
        alpha: largest probability that the set misses the cheapest cell.
        paired: whether runs of one place belong to one block.
        level: of each test; None takes `level_of`.
        test: what tests the pairs where that is no t (see looks.py).
    """
    known = np.asarray(np.isfinite(logs).any(axis=-1))
    level = level_of(int(known.sum(axis=-1).max(initial=0)), alpha) if level is None else level
    pairs = test(all_pairs(logs, paired=paired), logs)
    shown = np.nan_to_num(pairs.p_more(), nan=1.0) <= level
    inside = np.asarray(known & ~shown.any(axis=-1))
    # Cells are ordered as the tests compare them: by their mean ratio to the others.
    compared = np.isfinite(pairs.mean)
    score = np.where(compared, pairs.mean, 0.0).sum(axis=-1) / np.maximum(1, compared.sum(axis=-1))
    order = np.where(inside, score, np.inf)
    return BestSet(inside, pairs, level, np.argmin(order, axis=-1), known)
