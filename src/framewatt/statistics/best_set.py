"""The confidence set of the best: the cells of a group that may be the cheapest, and which cells may be compared.

A difference that is not significant proves no equality; that is what the equivalence test of two costs is for.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from framewatt.frames.factor_words import factors_of, phrase
from framewatt.statistics.log_ratios import Floats, LogRatio, all_pairs
from framewatt.study.factors import AnyCell, shared

_WORDS = {"machine": "machines", "session": "sessions"}


def mixing(rows: pd.DataFrame, *, paired: bool) -> list[str]:
    """Return flags that name the machines or sessions that a comparison mixes; empty where its runs are of one session.

    A block that one machine measured as a whole is compared within itself, so the machine's share cancels; a block of
    several machines compares machines as much as cells.

    Args:
        rows: of the runs frame, the runs that are compared, indexed by repetition; those without a session (imported
            runs, and records before schema 4) are left out.
        paired: whether runs of one repetition belong to one block.
    """
    if not set(_WORDS) <= set(rows.columns) or set(_WORDS) & set(factors_of(rows)):
        # Where logs tell a machine or session, it is a factor: its levels are compared, not mixed.
        return []
    placed = rows[rows["session"].notna()]
    flags = []
    for column, several in _WORDS.items():
        count = placed[column].nunique()
        if count < 2 or (column == "session" and count == placed["machine"].nunique()):
            # Each machine has its own sessions: where it had one, its name identifies the session.
            continue
        within = placed[column].groupby(level=0).nunique() if paired else pd.Series(dtype="int64")
        mixed = ", ".join(str(block) for block in within.index[within > 1])
        flags.append(f"runs of several {several} within block {mixed}" if mixed else f"runs of {count} {several}")
    return flags


def p_of_equal(ratio: LogRatio, margin: float) -> Floats:
    """Return the larger p of two one-sided t-tests on logarithms: small where two costs are equal within the margin.

    Equivalence by two one-sided tests: Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15:657-680.

    The bounds of the ratio are 1 / (1 + margin) and 1 + margin, so that swapping the cells gives the same p.

    Args:
        ratio: of pairs of cells.
        margin: largest difference that counts as none, as a share: 0.05 for 5 %.

    Returns:
        p; NaN where the noise is unknown, also where the ratio is the same in every block.
    """
    most = math.log1p(margin)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(ratio.error > 0, ratio.error, np.nan)
        return np.asarray(special.stdtr(ratio.freedom, (np.abs(ratio.mean) - most) / error))


def group_of(cell: AnyCell, compared: Iterable[str]) -> str:
    """Return the name of a cell's group: the levels that it shares with the cells it is compared with, in words."""
    levels = cell.to_dict()
    return phrase(levels, shared(list(levels), compared))


def groups(cells: Iterable[AnyCell], compared: Iterable[str]) -> dict[str, list[AnyCell]]:
    """Return the cells that may be compared with each other, by group, sorted by cell name."""
    compared = list(compared)
    named = sorted(((group_of(cell, compared), cell) for cell in cells), key=lambda pair: (pair[0], pair[1].id))
    return {name: [cell for _, cell in members] for name, members in itertools.groupby(named, key=lambda pair: pair[0])}


def comparable_pairs(cells: Iterable[AnyCell], compared: Iterable[str]) -> list[tuple[str, AnyCell, AnyCell]]:
    """Return group, cell A and cell B of every comparison: all pairs that differ in compared factors only."""
    grouped = groups(cells, compared)
    return [(name, a, b) for name, members in grouped.items() for a, b in itertools.combinations(members, 2)]


def not_compared(cells: Iterable[AnyCell], compared: Iterable[str]) -> str:
    """Name what varies and is not compared, with the line that compares it; empty where some cells are compared.

    Args:
        cells: of a study.
        compared: the factors of `statistics.compare`.
    """
    cells, compared = list(cells), list(compared)
    if len(cells) < 2 or comparable_pairs(cells, compared):
        return ""
    levels = [cell.to_dict() for cell in cells]
    varied = [name for name in levels[0] if name not in compared and len({str(one.get(name)) for one in levels}) > 1]
    line = ", ".join([*compared, *varied])
    few = len(varied) == 1
    return (
        f"{' and '.join(varied)} {'varies' if few else 'vary'} and {'is' if few else 'are'} not compared. "
        f"To compare the cells, add to the study: statistics: {{compare: [{line}]}}"
    )


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
    """Return the significance level of each one-sided test of a group: alpha over the number of other cells.

    A group of two takes alpha / 2, which is the common two-sided test: of two cells that cost the same, either could be
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
    """Return the confidence set of the cheapest: the cells that no other cell is shown to be cheaper than.

    Each test is one-sided, at `level_of`.

    The truly cheapest cell is left out only if one of the others appears cheaper by chance. Alpha is divided by the
    number of these others, so the set holds the cheapest with a probability of at least 1 - alpha, although no cell was
    singled out beforehand (subset selection: Gupta 1965, Technometrics 7:225; with tests of pairs: Hsu 1996, Multiple
    Comparisons, chapter 4). A cell with too few runs for a test stays in the set.

    Args:
        logs: shape (..., cells, runs), logarithms, NaN where a run is missing.
        alpha: largest probability that the set misses the cheapest cell.
        paired: whether runs at the same index belong to one block.
        level: of each test; None takes `level_of`.
        test: replaces the t-test of the pairs (see stopping.py).
    """
    known = np.asarray(np.isfinite(logs).any(axis=-1))
    level = level_of(int(known.sum(axis=-1).max(initial=0)), alpha) if level is None else level
    pairs = test(all_pairs(logs, paired=paired), logs)
    shown = np.nan_to_num(pairs.p_more(), nan=1.0) <= level
    inside = np.asarray(known & ~shown.any(axis=-1))
    return BestSet(inside, pairs, level, leader_of(pairs, inside), known)


def leader_of(pairs: LogRatio, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the cell of least geometric mean among some cells: shape (...).

    Cells are ordered as the tests compare them, by their mean ratio to the others.

    Args:
        pairs: ratios, shape (..., cells, cells).
        among: shape (..., cells).
    """
    compared = np.isfinite(pairs.mean)
    score = np.where(compared, pairs.mean, 0.0).sum(axis=-1) / np.maximum(1, compared.sum(axis=-1))
    return np.asarray(np.argmin(np.where(among, score, np.inf), axis=-1))
