"""The answers: the cheapest cell of every group, by how much, and how sure that is. One row per group and quantity."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.headline import aside, headline_of_runs
from framewatt.statistics.best_set import BestSet, groups, mixing
from framewatt.statistics.log_ratios import FEWEST, logs_of, number
from framewatt.statistics.selection import ENERGIES, block_values, cells_of, counted, totals
from framewatt.statistics.stopping import ONCE, Looks, best_of
from framewatt.study.factors import AnyCell
from framewatt.study.statistical_tests import NAMES, is_paired, t_of

ANSWERS_COLUMNS = [
    "quantity",
    "group",
    "best",
    "settled",
    "reference",
    "next",
    "ratio",
    "ratio_low",
    "ratio_high",
    "apart",
    "others_at_least",
    "ratios",
    "blocks",
    "n_cells",
    "without",
    "estimated",
    "rule",
    "note",
]
"""Columns of the answers. `best` is the confidence set of the cheapest cell, joined by "; ", least geometric mean
first; `settled`: the set is one cell, and several were compared. `reference` is the cell with the least geometric mean,
`next` the second one, `ratio` the ratio of `next` to `reference`. `apart` is an upper bound of the ratio of any two
cells in `best`, `others_at_least` a lower bound of the ratio of every cell outside of `best` to the cheapest. `ratios`
is JSON: by other cell, its `ratio` to the reference with `low` and `high`, and its lower bound `at_least`. `without`
are cells without a run that counts."""

JOINT = "; "


@dataclass(frozen=True)
class ConfidenceSet:
    """The confidence set of a group of cells, by name.

    Attributes:
        cells: names of the cells that have a run that counts.
        inner: result of `best_set`, with the cells in the same order.
        blocks: number of blocks in which at least two cells have runs; without blocks, the fewest runs of any cell.
    """

    cells: Sequence[str]
    inner: BestSet
    blocks: int

    @property
    def best(self) -> list[str]:
        """The cells in the confidence set of the cheapest, the one with the least geometric mean first."""
        inside = [cell for cell, one in zip(self.cells, self.inner.inside, strict=True) if one]
        return sorted(inside, key=lambda cell: (cell != self.reference, self._over_reference(cell), cell))

    @property
    def reference(self) -> str:
        """The cell of the set with the least geometric mean."""
        return self.cells[int(self.inner.reference)]

    @property
    def settled(self) -> bool:
        """Whether several cells were compared and the set is a single one."""
        return len(self.cells) > 1 and int(self.inner.inside.sum()) == 1

    @property
    def unconfirmed(self) -> list[tuple[str, str]]:
        """Pairs of cells: an earlier look showed that the first takes less, and all blocks together do not."""
        turned = np.argwhere(self.inner.shown & (self.inner.pairs.mean <= 0))
        return [(self.cells[less], self.cells[more]) for more, less in turned]

    @property
    def ratios(self) -> dict[str, dict[str, float | None]]:
        """By other cell: ratio to the reference, ends of its interval, and lower bound of its ratio to the cheapest."""
        place = int(self.inner.reference)
        low, high = self.inner.pairs.within(self.inner.level)
        at_least = self.inner.at_least()
        rows = {
            cell: {
                "ratio": rounded(self.inner.pairs.ratio[i, place]),
                "low": rounded(low[i, place]),
                "high": rounded(high[i, place]),
                "at_least": rounded(at_least[i]),
            }
            for i, cell in enumerate(self.cells)
            if i != place
        }
        return dict(sorted(rows.items(), key=lambda item: (item[1]["ratio"] is None, item[1]["ratio"] or 0, item[0])))

    def _over_reference(self, cell: str) -> float:
        ratio = self.inner.pairs.ratio[self.cells.index(cell), int(self.inner.reference)]
        return float(ratio) if np.isfinite(ratio) else np.inf


def find_best(values: pd.DataFrame, alpha: float, *, paired: bool, looks: Looks = ONCE) -> ConfidenceSet | None:
    """Return the confidence set of the cheapest cell of a group; None where no cell has a run that counts.

    Args:
        values: from `block_values`: one row per block, one column per cell.
        alpha: largest probability that the set misses the cheapest cell.
        paired: whether the runs of a row belong to one block.
        looks: how the study looked at its results before it stopped.
    """
    logs = logs_of(values.to_numpy(dtype=np.float64).T)
    some = np.asarray(np.isfinite(logs).any(axis=1))
    if not some.any():
        return None
    cells = [str(cell) for cell in values.columns[some]]
    logs = logs[some]
    known = np.isfinite(logs)
    together = paired and len(cells) > 1
    blocks = (known.sum(axis=0) > 1).sum() if together else known.sum(axis=1).min()
    best = best_of(logs, alpha, looks, paired=paired, repetitions=[int(number) for number in values.index])
    return ConfidenceSet(cells, best, int(blocks))


def answer(
    runs: pd.DataFrame, settings: Mapping[str, Any], planned: Iterable[AnyCell] = (), looks: Looks = ONCE
) -> pd.DataFrame:
    """Return the answers of a study: the cheapest cells of every group by energy (first rows) and by time.

    Each answer is at the study's alpha. The method is in `best_set` and in docs/statistics.md.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare, test, alpha.
        planned: the study's cells; the frame has no row of a cell if all its runs are missing.
        looks: how the study looked at its results before it stopped.

    Returns:
        ANSWERS_COLUMNS, one row per quantity and group.

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    every = {cell.id: cell for cell in [*planned, *cells_of(rows)]}.values()
    answers = [
        {"quantity": quantity, "group": group}
        | answer_group(rows, [cell.id for cell in cells], quantity, settings, looks)
        for quantity in headline_of_runs(rows).quantities
        for group, cells in groups(every, settings["compare"]).items()
    ]
    return typed(pd.DataFrame(answers, columns=ANSWERS_COLUMNS))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the types of ANSWERS_COLUMNS; other columns stay as they are."""
    numbers = ("ratio", "ratio_low", "ratio_high", "apart", "others_at_least")
    return frame.astype(
        dict.fromkeys(numbers, "float64")
        | dict.fromkeys(("blocks", "n_cells"), "Int64")
        | dict.fromkeys(("settled", "estimated"), "bool")
    )


def answer_group(
    rows: pd.DataFrame, cells: Sequence[str], quantity: str, settings: Mapping[str, Any], looks: Looks
) -> dict[str, Any]:
    """Return the answer of a group for one quantity: ANSWERS_COLUMNS from `best` on.

    Args:
        rows: from `totals`.
        cells: names of the group's cells.
        quantity: a column.
        settings: the study's `statistics`: test, alpha.
        looks: how the study looked at its results before it stopped.
    """
    values = block_values(rows, cells, quantity)
    confidence_set = find_best(values, settings["alpha"], paired=is_paired(settings), looks=looks)
    estimated = quantity in ENERGIES and any(counted(rows, cell, quantity)["estimated"].any() for cell in cells)
    row: dict[str, Any] = {"best": "", "settled": False, "reference": "", "next": "", "ratios": "{}", "blocks": 0}
    row |= {"n_cells": 0, "without": JOINT.join(cells), "estimated": bool(estimated), "rule": ""}
    if confidence_set is None:
        return row | {"note": "no run counts"}
    ratios = confidence_set.ratios
    # `next` is the cell with the smallest ratio to the reference.
    nearest = next(iter(ratios), "")
    near = ratios.get(nearest, {})
    # A cell may be the cheapest even if all its runs were set aside.
    lost = sorted({*cells} - {*confidence_set.cells} & {*rows.loc[aside(rows), "cell"]})
    row |= {
        "best": JOINT.join([*confidence_set.best, *lost]),
        "settled": confidence_set.settled and not lost,
        "reference": confidence_set.reference,
        "next": nearest,
        **{f"ratio{end}": near.get(key) for end, key in (("", "ratio"), ("_low", "low"), ("_high", "high"))},
        "apart": None if lost else number(confidence_set.inner.apart()),
        "others_at_least": min((one["at_least"] for one in ratios.values() if one["at_least"]), default=None),
        "ratios": json.dumps(ratios),
        "blocks": confidence_set.blocks,
        "n_cells": len(confidence_set.cells),
        "without": JOINT.join(cell for cell in cells if cell not in confidence_set.cells),
        "rule": _rule(confidence_set, settings, looks),
    }
    lost_notes = [f"too disturbed to be compared: {', '.join(lost)}"] if lost else []
    still = "the e-process" if looks.until_known else "the sign test"
    notes = lost_notes + _notes(confidence_set, values, still, paired=is_paired(settings))
    if len(confidence_set.cells) > 1:
        compared = pd.concat([counted(rows, cell, quantity) for cell in confidence_set.cells])
        notes += mixing(compared, paired=is_paired(settings))
    return row | {"note": JOINT.join(notes)}


def _rule(confidence_set: ConfidenceSet, settings: Mapping[str, Any], looks: Looks) -> str:
    """State the test and its level; empty where there is nothing to compare."""
    if len(confidence_set.cells) < 2:
        return ""
    share = round(settings["alpha"] / confidence_set.inner.level)
    test = " ".join(filter(None, [NAMES[t_of(settings)], looks.words]))
    return f"{test}; each one-sided test and each end of an interval at {settings['alpha']:g}/{share}"


def _notes(confidence_set: ConfidenceSet, values: pd.DataFrame, still: str, *, paired: bool) -> list[str]:
    """List the limits of the answer; `still` names the test of ratios that do not vary."""
    if len(confidence_set.cells) < 2:
        return ["one cell has runs that count, so nothing is compared"]
    what = ("block" if paired else "run") + ("" if confidence_set.blocks == 1 else "s")
    notes = []
    if confidence_set.blocks < FEWEST:
        notes.append(f"{confidence_set.blocks} {what}: nothing is known of the noise, at least {FEWEST} are needed")
    positive = values[list(confidence_set.cells)]
    if zeros := [cell for cell in confidence_set.cells if (positive[cell] <= 0).any()]:
        notes.append(f"runs of 0 or less left out, which have no logarithm: {', '.join(zeros)}")
    counts = logs_of(positive.to_numpy(dtype=np.float64)).shape[0] - positive.where(positive > 0).isna().sum()
    fewer = [f"{cell} has {counts[cell]}" for cell in confidence_set.cells if counts[cell] < counts.max()]
    if fewer and confidence_set.blocks >= FEWEST:
        notes.append(f"of {counts.max()} {'blocks' if paired else 'runs'}: {', '.join(fewer)}")
    notes += [
        f"an earlier look showed that {less} takes less than {more}, which all blocks together do not confirm"
        for less, more in confidence_set.unconfirmed
    ]
    others = ~np.eye(len(confidence_set.cells), dtype=bool)
    if confidence_set.blocks >= FEWEST and (confidence_set.inner.pairs.error[others] == 0).any():
        notes.append(f"some ratios are the same in every block: there {still} decides, and no interval is known")
    return notes


def rounded(value: Any) -> float | None:
    """Return a number rounded to twelve digits, as all numbers in these files; None where it is not finite."""
    known = number(value)
    return None if known is None else float(f"{known:.12g}")
