"""Which cell of a group has least of a quantity, and by how much."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.factors import factors_of, label, remarks, shared, sorted_by
from framewatt.report.numbers import interval, known, p_value, si_range, significant

_PHASES = {"train": "Training", "infer": "Inference"}


@dataclass(frozen=True)
class Ranking:
    """A group of comparable cells, ordered.

    Attributes:
        group: the levels that the cells share, by factor.
        cells: rows of the cells frame for one quantity, least mean first.
        quantity: its name.
        compared: the factors in which the cells differ.
        without: labels of planned cells of the group of which no run counts.
    """

    group: dict[str, Any]
    cells: pd.DataFrame
    quantity: str
    compared: Sequence[str]
    without: Sequence[str] = ()

    @property
    def least(self) -> "pd.Series[Any]":
        """The row with the smallest mean."""
        return self.cells.iloc[0]

    @property
    def most(self) -> "pd.Series[Any]":
        """The row with the largest mean."""
        return self.cells.iloc[-1]

    @property
    def name(self) -> str:
        """The group in words: `Training, batch 16 (resnet50, digits)`."""
        group = self.group
        front = [_PHASES.get(group["phase"], group["phase"])] if "phase" in group else []
        front += [f"batch {group['batch_size']}"] if "batch_size" in group else []
        rest = ", ".join(remarks(group))
        if not front:
            return rest or "All cells"
        words = ", ".join(front) + (f" ({rest})" if rest else "")
        return words[:1].upper() + words[1:]

    def label(self, row: "pd.Series[Any]") -> str:
        """What tells a cell of the group from the others."""
        return label(row, self.compared)

    @property
    def remark(self) -> str:
        """Which cells of the group are not ranked, as a sentence behind others; empty where all are."""
        return f" Not ranked, since none of its runs counts: {', '.join(self.without)}." if self.without else ""


@dataclass(frozen=True)
class Against:
    """One cell over another: ratio of means with its interval, and the test.

    Attributes:
        ratio: `ratio_low` and `ratio_high` its interval: mean of the larger over mean of the smaller.
        a12: probability that a run of the larger has the larger value; `magnitude` in words.
        p: corrected; `reachable` whether so many runs could have come below alpha.
    """

    ratio: float
    ratio_low: float | None
    ratio_high: float | None
    a12: float | None
    magnitude: str
    p: float | None
    significant: bool
    reachable: bool


def rankings(
    cells: pd.DataFrame, quantity: str, compared: Sequence[str], planned: Iterable[Mapping[str, Any]] = ()
) -> list[Ranking]:
    """Groups of comparable cells by a quantity, training first, in order of levels; cells without a mean left out.

    Args:
        cells: the cells frame.
        quantity: the quantity compared.
        compared: the factors in which cells are compared.
        planned: the plan's cells, of which each group names those without a mean.
    """
    rows = cells[(cells["quantity"] == quantity) & cells["mean"].notna()].sort_values("mean", kind="stable")
    if rows.empty:
        return []
    factors = shared(factors_of(cells), compared)
    empty = [cell for cell in planned if cell["id"] not in set(rows["cell"])]
    keys = sorted_by(rows[factors].drop_duplicates(), factors).astype(object) if factors else pd.DataFrame(index=[0])
    groups = [dict(zip(factors, levels, strict=True)) for levels in keys.itertuples(index=False)]
    return [
        Ranking(
            group,
            rows[(rows[factors] == list(group.values())).all(axis=1)] if factors else rows,
            quantity,
            compared,
            [label(cell, compared) for cell in empty if all(str(cell[name]) == str(group[name]) for name in factors)],
        )
        for group in groups
    ]


def against(comparisons: pd.DataFrame, quantity: str, small: str, large: str, alpha: float) -> Against | None:
    """The comparison of two cells, turned so that it reads `large` over `small`; None where there is none.

    Args:
        comparisons: framewatt.statistics.COMPARISONS_COLUMNS, whose `ratio` is B over A and `a12` is A over B.
        quantity: the quantity compared.
        small: cell with the smaller mean.
        large: cell with the larger mean.
        alpha: level of significance.
    """
    of_quantity = comparisons[comparisons["quantity"] == quantity]
    for a, b in ((small, large), (large, small)):
        found = of_quantity[(of_quantity["cell_a"] == a) & (of_quantity["cell_b"] == b)]
        if len(found) and known(found.iloc[0]["ratio"]):
            return _turned(found.iloc[0], alpha, turn=a == large)
    return None


def _turned(row: "pd.Series[Any]", alpha: float, *, turn: bool) -> Against:
    """`turn`: the row has the larger cell as its A."""
    ratio, low, high, a12 = (_number(row[name]) for name in ("ratio", "ratio_low", "ratio_high", "a12"))
    assert ratio is not None
    if turn:
        ratio, low, high = 1 / ratio, 1 / high if high else None, 1 / low if low else None
    elif a12 is not None:
        a12 = 1 - a12
    smallest = _number(row["smallest_p_corrected"])
    return Against(
        ratio,
        low,
        high,
        a12,
        row["magnitude"] if isinstance(row["magnitude"], str) else "",
        _number(row["p_corrected"]),
        row["significant"] is True or str(row["significant"]) == "True",
        smallest is not None and smallest <= alpha,
    )


def _number(value: Any) -> float | None:
    return float(value) if known(None if pd.isna(value) else float(value)) else None


def sentence(ranking: Ranking, comparisons: pd.DataFrame, unit: str, per: str, alpha: float) -> str:
    """Least, next and most of a group, with interval, effect size and test, in words."""
    least, most = ranking.least, ranking.most
    amount = si_range(least["mean"], _number(least["mean_low"]), _number(least["mean_high"]), unit)
    if len(ranking.cells) == 1:
        return f"{ranking.name}: only {ranking.label(least)} has runs that count, {amount} a {per}.{ranking.remark}"
    words = f"{ranking.name}: {ranking.label(least)} least, {amount} a {per}"
    if len(ranking.cells) > 2:
        second = ranking.cells.iloc[1]
        words += f"; next {ranking.label(second)}, {_ratio(ranking, second, comparisons, alpha)}"
    return f"{words}; most {ranking.label(most)}, {_ratio(ranking, most, comparisons, alpha)}.{ranking.remark}"


def _ratio(ranking: Ranking, other: "pd.Series[Any]", comparisons: pd.DataFrame, alpha: float) -> str:
    """How much another cell takes over the least, and what the test says."""
    found = against(comparisons, ranking.quantity, ranking.least["cell"], other["cell"], alpha)
    if found is None:
        return f"{significant(other['mean'] / ranking.least['mean'])} times as much (not compared)"
    parts = []
    if found.a12 is not None:
        parts.append(f"A12 {found.a12:.2f}" + (f", {found.magnitude}" if found.magnitude else ""))
    parts.append(f"corrected {p_value(found.p)}" if found.p is not None else "no test")
    if found.p is not None:
        verdict = "significant" if found.significant else "not significant"
        parts.append(verdict if found.reachable else f"{verdict}, nor could it be with so few runs")
    return f"{significant(found.ratio)} times as much{interval(found.ratio_low, found.ratio_high)} ({'; '.join(parts)})"
