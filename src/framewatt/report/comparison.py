"""Any two cells next to each other: the numbers of each and what their comparison shows, for the page's script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framewatt.report.answers import StudyAnswers
from framewatt.report.evidence import CellNumbers, PairComparison, Value
from framewatt.report.numbers import NO_BREAK_SPACE, UNKNOWN, p_value, si, si_range, significant
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.ratios import ratio_range

_MIB = 2**20


@dataclass(frozen=True)
class ComparedCell:
    """A cell that can be chosen: its group, its name in it, and one value in words for each row."""

    group: str
    name: str
    values: Sequence[str]


@dataclass(frozen=True)
class ComparedPair:
    """Two cells, by their places in the list of cells, and the sentences of their comparison, energy first."""

    a: int
    b: int
    sentences: Sequence[str]


@dataclass(frozen=True)
class Comparison:
    """What the page's script needs to show two cells next to each other.

    Attributes:
        rows: headings of the rows, each known of some cell.
        cells: in the order of groups; empty where fewer than two have a run that counts.
        pairs: the pairs that the study compares.
    """

    rows: Sequence[str]
    cells: Sequence[ComparedCell]
    pairs: Sequence[ComparedPair]


def comparison_of(answers: StudyAnswers) -> Comparison:
    """Put the numbers and comparisons of all cells in words."""
    values = {cell: _values(numbers, answers) for cell, numbers in answers.evidence.cells.items()}
    headings = next(iter(values.values()), {})
    rows = [row for row in headings if any(each[row] != UNKNOWN for each in values.values())]
    names = {
        cell: (group.name, name)
        for group in answers.groups.values()
        for cell, name in group.labels.items()
        if cell in values
    }
    if len(names) < 2:
        return Comparison([], [], [])
    return Comparison(
        rows,
        [
            ComparedCell(group, name, [_or_unknown(values[cell][row]) for row in rows])
            for cell, (group, name) in names.items()
        ],
        _pairs(answers, {cell: (place, name) for place, (cell, (_, name)) in enumerate(names.items())}),
    )


def cell_summaries(answers: StudyAnswers) -> dict[str, str]:
    """Return name, energy and time of every cell that has a run that counts, by cell, with intervals of the means."""
    cells = answers.evidence.cells
    return {
        cell: f"{name} ({group.name}): "
        + "; ".join(f"{row} {_or_unknown(value)}" for row, value in _costs(cells[cell], answers.per).items())
        for group in answers.groups.values()
        for cell, name in group.labels.items()
        if cell in cells
    }


def _values(numbers: CellNumbers, answers: StudyAnswers) -> dict[str, str]:
    """Return the numbers of a cell in words, by row; UNKNOWN where unknown."""
    throughput, memory_b = numbers.throughput_per_s, numbers.peak_memory_b
    return {
        **_costs(numbers, answers.per),
        "Latency, median": si(numbers.latency_p50_s, "s"),
        "Latency, 95th percentile": si(numbers.latency_p95_s, "s"),
        "Throughput": UNKNOWN if throughput is None else f"{significant(throughput)}{NO_BREAK_SPACE}{answers.per}s/s",
        "Most memory of a run": UNKNOWN if memory_b is None else f"{memory_b / _MIB:.0f}{NO_BREAK_SPACE}MiB",
        answers.evidence.quality: significant(numbers.quality),
        "Runs that count": str(numbers.runs),
    }


def _costs(numbers: CellNumbers, per: str) -> dict[str, str]:
    energy = _mean(numbers.energy_j, "J")
    mark = ESTIMATED if numbers.estimated and energy != UNKNOWN else ""
    return {f"Energy a {per}": energy + mark, f"Time a {per}": _mean(numbers.time_s, "s")}


def _mean(mean: Value, unit: str) -> str:
    return si_range(mean.value, mean.low, mean.high, unit)


def _or_unknown(value: str) -> str:
    return "unknown" if value == UNKNOWN else value


def _pairs(answers: StudyAnswers, cells: Mapping[str, tuple[int, str]]) -> list[ComparedPair]:
    """Put the comparisons of cells in words.

    Args:
        answers: of the study.
        cells: place and name, by cell.
    """
    sentences: dict[tuple[int, int], list[str]] = {}
    for pair in answers.evidence.pairs:
        if pair.larger in cells and pair.smaller in cells:
            (first, larger), (second, smaller) = cells[pair.larger], cells[pair.smaller]
            places = (min(first, second), max(first, second))
            sentences.setdefault(places, []).append(_sentence(pair, answers.per, larger, smaller))
    return [ComparedPair(a, b, each) for (a, b), each in sorted(sentences.items())]


def _sentence(pair: PairComparison, per: str, larger: str, smaller: str) -> str:
    """State what a comparison shows; the cell that takes more is first, with its ratio to the other."""
    what = f"{pair.quantity} a {per}{ESTIMATED if pair.estimated else ''}"
    if pair.ratio.value is None:
        return f"{what[:1].upper()}{what[1:]}: too few runs to compare."
    times = f"{ratio_range(pair.ratio.value, pair.ratio.low, pair.ratio.high)} compared with {smaller}"
    if pair.shown is None:
        return f"{larger} took {what} {times}; no test could be made."
    if pair.shown:
        return f"{larger} takes more {what}: {times} ({p_value(pair.p)})."
    return f"No difference of {what} is shown: {larger} took {times} ({p_value(pair.p)})."
