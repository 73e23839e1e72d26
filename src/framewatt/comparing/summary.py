"""A comparison as lines for the terminal."""

from collections.abc import Iterator

import pandas as pd

from framewatt.base.terminal import aligned
from framewatt.comparing.compared import Compared
from framewatt.report.numbers import interval, known, plural, si, significant
from framewatt.statistics.changes import CANNOT_TELL, HOLDS, LOST, MORE
from framewatt.statistics.selection import ENERGIES

_MOST_FACTS = 20
_LONGEST = 60
_MARKS = {MORE: "MORE", LOST: "LOST", HOLDS: "", CANNOT_TELL: "?"}
_HEADER = ("", "cell", "old", "new", "new / old", "runs", "verdict")
_WORDS = (0, 1, 6)


def lines_of(comparison: Compared) -> Iterator[str]:
    """Yield what differs, the table, and the cells of only one package."""
    yield "Differs between the packages:" if comparison.differs else "No recorded fact differs between the packages."
    for what, old, new in comparison.differs[:_MOST_FACTS]:
        yield f"  {what}: {_short(old)} -> {_short(new)}"
    if (more := len(comparison.differs) - _MOST_FACTS) > 0:
        yield f"  and {more} more, which the JSON file has"
    yield ""
    yield from (f"  {line}" for line in aligned([_HEADER, *_rows(comparison)], _WORDS))
    yield ""
    yield from (f"Only in the first: {cell}" for cell in comparison.only_old)
    yield from (f"Only in the second: {cell}" for cell in comparison.only_new)
    yield (
        f"Ratios of geometric means; 95 % intervals hold for {plural(len(comparison.cells), 'cell')} together "
        f"(Welch's t on logarithms, Bonferroni). ?: it is unknown whether a cell costs over "
        f"{100 * comparison.margin:g} % more."
    )
    yield (
        "They hold for these runs: what a whole session has in common (temperature, place in memory, neighbours) is "
        "not in them, and alone makes cells differ (docs/machines.md)."
    )


def sentence_of(comparison: Compared) -> str:
    """Return how many cells changed, and how many cost more than they may."""
    cells = comparison.cells
    counts = {verdict: int((cells["verdict"] == verdict).sum()) for verdict in (MORE, LOST, CANNOT_TELL, HOLDS)}
    more, less = (int((cells["changed"] == word).sum()) for word in ("more", "less"))
    margin = f"{100 * comparison.margin:g} %"
    return (
        f"Of {plural(len(cells), 'cell')}: {more} known to cost more and {less} to cost less than before; "
        f"{counts[MORE]} known to cost over {margin} more, {counts[HOLDS]} known not to, {counts[CANNOT_TELL]} are "
        f"unknown" + (f", {counts[LOST]} with runs that count in the first alone." if counts[LOST] else ".")
    )


def _rows(comparison: Compared) -> Iterator[tuple[str, ...]]:
    unit = "J" if comparison.quantity in ENERGIES else "s"
    for row in comparison.cells.itertuples():
        ratio = f"{significant(row.ratio, 4)}{interval(row.ratio_low, row.ratio_high)}" if known(row.ratio) else ""
        runs = f"{row.n_old}, {row.n_new}"
        yield (
            _MARKS[row.verdict],
            row.cell,
            _amount(row.old, unit),
            _amount(row.new, unit),
            ratio,
            runs,
            _verdict(row),
        )


def _verdict(row: "pd.Series[object]") -> str:
    changed = row.no_interval or (f"costs {row.changed}" if row.changed else "not distinguishable from 1")
    return {LOST: "no run counts any more", MORE: "costs more than it may"}.get(str(row.verdict), changed)


def _amount(value: float | None, unit: str) -> str:
    return si(value, unit)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
