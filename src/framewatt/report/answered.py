"""The answers of a study as sentences: which cell costs least, by how much, and whether that is known."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.report.groups import Group, groups_of
from framewatt.report.material import Material
from framewatt.report.numbers import (
    known,
    listed,
    number_word,
    percent,
    percent_at_least,
    percent_below,
    plural,
    si_range,
)
from framewatt.statistics.answers import JOINT
from framewatt.statistics.assumptions import doubts
from framewatt.statistics.log_ratios import FEWEST
from framewatt.statistics.selection import block_values
from framewatt.study.statistical_tests import is_paired
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.ratios import MOST_TIMES, ratio_range, times

_MOST_NAMES = 4
"""Largest number of cells that a sentence names; of more, it gives the number."""


_MANY_TIMES = 10
"""Ratio from which a difference is told as a factor, and not in percent."""

_NO_DIFFERENCE, _NO_DIFFERENCE_ESTIMATED = 0.005, 0.05
"""Share below which a difference is of no practical use: of what was measured, and of an estimate."""


@dataclass(frozen=True)
class Answered:
    """The answer of a group for one quantity, with what its sentences need.

    Attributes:
        group: its cells.
        row: its row of the answers frame (ANSWERS_COLUMNS).
        what: the quantity as a word: `energy`.
        per: its unit of work: `sample`.
        confidence: of the interval of the nearest ratio.
        paired: whether runs are in blocks.
    """

    group: Group
    row: Mapping[str, Any]
    what: str
    per: str
    confidence: float
    paired: bool

    @property
    def best(self) -> list[str]:
        """Names of the cells in the confidence set of the cheapest."""
        return _cells(self.row["best"])

    @property
    def without(self) -> list[str]:
        """Names of the group's cells without a run that counts."""
        return _cells(self.row["without"])

    @property
    def compared(self) -> bool:
        """Whether at least two cells have runs that count."""
        return int(self.row["n_cells"]) > 1

    @property
    def settled(self) -> bool:
        """Whether it is known which costs least."""
        return self.row["settled"] is True or str(self.row["settled"]) == "True"

    @property
    def reference(self) -> str:
        """Name of the cell that ratios are to; empty where there is none."""
        found = self.row["reference"]
        return found if isinstance(found, str) else ""

    @property
    def ratios(self) -> dict[str, dict[str, float | None]]:
        """Ratios by other cell, see framewatt.statistics.answers."""
        return dict(json.loads(self.row["ratios"]))

    @property
    def sentence(self) -> str:
        """The answer, worded no stronger than the confidence set allows."""
        if not self.compared:
            return self._alone()
        return self._settled() if self.settled else self._open()

    @property
    def remark(self) -> str:
        """Which cells of the group are not compared, as a sentence that follows others; empty where all are."""
        without = [self.label(cell) for cell in self.without]
        return f" Not compared, since none of its runs counts: {', '.join(without)}." if without else ""

    def _alone(self) -> str:
        if not self.best:
            return f"{self.group.name}: no run counts."
        return f"{self.group.name}: only {self.label(self.best[0])} has runs that count, so nothing is compared."

    def _settled(self) -> str:
        others, row = self.ratios, self.row
        nearest = self.label(row["next"])
        than = nearest if len(others) == 1 else f"the next, {nearest}"
        head = f"{self.label(self.best[0])} costs least {self._what} for one {self.per} ({self.group.name})"
        less, interval = 1 - 1 / row["ratio"], self._interval()
        if less < (_NO_DIFFERENCE_ESTIMATED if self._estimated else _NO_DIFFERENCE):
            than = f"{percent(less)} less than {than}"
            return f"{head}, but {than} ({interval}) makes no practical difference, {self._after}."
        if row["ratio"] >= _MANY_TIMES:
            takes = f"{than}{'' if len(others) == 1 else ','} takes {times(row['ratio'])}"
            return f"{head}; {takes} ({interval}), {self._after}."
        return f"{head}, {percent(less)} less than {than} ({interval}), {self._after}."

    def _interval(self) -> str:
        """By how much the reference costs less: ends of the interval."""
        low, high = self.row["ratio_low"], self.row["ratio_high"]
        if not known(low, high):
            return "no interval: the ratio is the same in every block, or too few blocks have both"
        level = f"{100 * self.confidence:g} % interval"
        if self.row["ratio"] >= _MANY_TIMES:
            return f"{level} {times(low)} to {times(high)}"
        if low <= 1:
            return f"{level} up to {percent_below(1 - 1 / high)}"
        return f"{level} {percent_at_least(1 - 1 / low).removesuffix(' %')} to {percent_below(1 - 1 / high)}"

    def _open(self) -> str:
        names = [self.label(cell) for cell in self.best]
        among = listed(names) if len(names) <= _MOST_NAMES else f"{len(names)} of {len(self.ratios) + 1} cells"
        parts = [f"Not settled between {among} in {self._what} for one {self.per} ({self.group.name})", self._apart()]
        return "; ".join(filter(None, [": ".join(filter(None, parts)), self._others(), self._after])) + "."

    def _apart(self) -> str:
        if int(self.row["blocks"]) < FEWEST:
            few = plural(int(self.row["blocks"]), "block" if self.paired else "run")
            return f"{few}{'' if self.paired else ' of a cell'} cannot tell, at least {FEWEST} are needed"
        apart = self.row["apart"]
        if not known(apart) or apart > MOST_TIMES:
            return "how far they are apart is not known"
        return f"less than {percent_below(apart - 1)} apart" if apart < 2 else f"up to {times(apart)} apart"

    def _others(self) -> str:
        """Lower bound of what the cells outside the set cost; without one, only that some cell costs no more."""
        outside = [cell for cell in self.ratios if cell not in self.best]
        if not outside:
            return ""
        one = len(outside) == 1
        who = f"the other, {self.label(outside[0])}," if one else f"the other {number_word(len(outside))}"
        least = self.row["others_at_least"]
        if not known(least) or least <= 1:
            return f"one of them costs no more than {who.rstrip(',')}"
        return f"{who if one else f'each of {who}'} costs at least {percent_at_least(least - 1)} more"

    @property
    def _after(self) -> str:
        blocks = int(self.row["blocks"])
        return f"after {plural(blocks, 'block')}" if self.paired else f"after {plural(blocks, 'run')} of each"

    @property
    def _estimated(self) -> bool:
        return self.row["estimated"] is True or str(self.row["estimated"]) == "True"

    @property
    def _what(self) -> str:
        return self.what + (ESTIMATED if self._estimated else "")

    def label(self, cell: str) -> str:
        """The levels that distinguish a cell in the group."""
        return self.group.labels.get(cell, cell)

    def in_full(self, unit: str, means: Mapping[str, Mapping[str, Any]]) -> str:
        """The answer with the mean of the reference and the ratio of each other cell to it.

        Args:
            unit: of the quantity.
            means: rows of the cells frame for the quantity, by cell.
        """
        words = self.sentence
        if self.reference in means:
            mean = means[self.reference]
            amount = si_range(mean["mean"], mean["mean_low"], mean["mean_high"], unit)
            words += f" {self.label(self.reference)} takes {amount} a {self.per}"
            told = [
                f"{self.label(cell)} {ratio_range(one['ratio'], one['low'], one['high'])}"
                for cell, one in self.ratios.items()
                if one["ratio"] is not None
            ]
            words += f"; compared with that: {', '.join(told)}." if told else "."
        if isinstance(note := self.row["note"], str) and note and int(self.row["blocks"]) >= FEWEST and self.compared:
            words += f" {note[:1].upper()}{note[1:]}."
        return words + self.remark


def answered(material: Material, quantity: str, what: str) -> Iterator[Answered]:
    """The answers for a quantity, group by group, training first.

    Args:
        material: of the study.
        quantity: a column.
        what: the quantity as a word.
    """
    return answers_of(material.plan, material.answers, quantity, what, material.headline.per)


def answers_of(
    plan: Mapping[str, Any], answers: pd.DataFrame, quantity: str, what: str, per: str
) -> Iterator[Answered]:
    """The same from a plan and its answers frame; `per` is the unit of work."""
    rows = answers[answers["quantity"] == quantity].to_dict("records")
    by_group = {row["group"] if isinstance(row["group"], str) else "": row for row in rows}
    settings = plan["settings"]["statistics"]
    for name, group in groups_of(plan).items():
        if name in by_group:
            row = {str(key): value for key, value in by_group[name].items()}
            yield Answered(group, row, what, per, 1 - float(settings["alpha"]), is_paired(settings))


def doubts_of(material: Material, one: Answered, quantity: str) -> list[str]:
    """Signs that an answer may be wrong more often than it says, a sentence each.

    Args:
        material: of the study.
        one: the answer.
        quantity: the column that it is of.
    """
    values = block_values(material.comparable, list(one.group.labels), quantity)
    named = values.dropna(axis=1, how="all").rename(columns=one.group.labels)
    return list(doubts(named, paired=one.paired)) if one.compared else []


def _cells(joined: Any) -> list[str]:
    return [cell for cell in joined.split(JOINT) if cell] if isinstance(joined, str) else []
