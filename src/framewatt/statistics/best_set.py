"""The confidence set of the best: the cells of a group that may be the cheapest."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framewatt.statistics.log_ratios import Floats, LogRatio, all_pairs


@dataclass(frozen=True)
class BestSet:
    """The confidence set of the cheapest cell; leading axes hold several groups at once, each of the same cells.

    Attributes:
        inside: shape (..., cells): whether a cell is in the set, so that it may be the cheapest.
        pairs: ratios, shape (..., cells, cells), row over column.
        level: significance level of each one-sided test, and tail probability of either end of each interval.
        reference: shape (...): the cell of the set with the least geometric mean.
        known: shape (..., cells): whether a cell has a run that counts.
    """

    inside: npt.NDArray[np.bool_]
    pairs: LogRatio
    level: float
    reference: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        """Whether a cell is shown to cost more than another: shape (..., cells, cells), row than column."""
        return np.asarray(np.nan_to_num(self.pairs.p_more(), nan=1.0) <= self.level)

    def at_least(self) -> Floats:
        """Lower bound of the ratio of each cell outside the set to the cheapest cell: shape (..., cells).

        It holds whichever cell of the set is the cheapest, as the smallest of the lower ends over those. At least 1,
        since the set excludes the cell; NaN inside the set.
        """
        low, _ = self.pairs.within(self.level)
        over_set = np.where(self.inside[..., None, :], low, np.inf)
        least = np.where(np.isnan(over_set), 1.0, over_set).min(axis=-1)
        return np.where(self.inside | ~self.known, np.nan, np.maximum(1.0, least))

    def apart(self) -> Floats:
        """Upper bound of the ratio of any two cells of the set: shape (...).

        The largest of the upper ends over all pairs of the set; infinite where one of them is unknown, NaN where the
        set is one cell.
        """
        _, high = self.pairs.within(self.level)
        both = self.inside[..., :, None] & self.inside[..., None, :] & ~np.eye(self.inside.shape[-1], dtype=bool)
        most = np.where(both, np.where(np.isnan(high), np.inf, high), -np.inf).max(axis=(-2, -1))
        return np.where(self.inside.sum(axis=-1) > 1, most, np.nan)


def level_of(cells: int, alpha: float) -> float:
    """Significance level of each one-sided test of a group: alpha over the number of other cells.

    A group of two takes alpha / 2, which is the usual two-sided test: of two cells that cost the same, either could be
    named by mistake.

    Args:
        cells: number of cells that have a run that counts.
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
    """The cells that no other cell is shown to be cheaper than, each test one-sided at `level_of`.

    The truly cheapest cell is left out only if one of the others is found cheaper by chance. Alpha is divided by the
    number of these others, so the set holds the cheapest with a probability of at least 1 - alpha, although no cell was
    singled out beforehand (subset selection: Gupta 1965, Technometrics 7:225; with tests of pairs: Hsu 1996, Multiple
    Comparisons, chapter 4). A cell with too few runs for a test stays in the set.

    Args:
        logs: shape (..., cells, runs), logarithms, NaN where a run is missing.
        alpha: largest probability that the set misses the cheapest cell.
        paired: whether runs at the same index belong to one block.
        level: of each test; None takes `level_of`.
        test: replaces the t-test of the pairs (see looks.py).
    """
    known = np.asarray(np.isfinite(logs).any(axis=-1))
    level = level_of(int(known.sum(axis=-1).max(initial=0)), alpha) if level is None else level
    pairs = test(all_pairs(logs, paired=paired), logs)
    shown = np.nan_to_num(pairs.p_more(), nan=1.0) <= level
    inside = np.asarray(known & ~shown.any(axis=-1))
    return BestSet(inside, pairs, level, leader_of(pairs, inside), known)


def leader_of(pairs: LogRatio, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """The cell of least geometric mean among some cells: shape (...).

    Cells are ordered as the tests compare them, by their mean ratio to the others.

    Args:
        pairs: ratios, shape (..., cells, cells).
        among: shape (..., cells).
    """
    compared = np.isfinite(pairs.mean)
    score = np.where(compared, pairs.mean, 0.0).sum(axis=-1) / np.maximum(1, compared.sum(axis=-1))
    return np.asarray(np.argmin(np.where(among, score, np.inf), axis=-1))
