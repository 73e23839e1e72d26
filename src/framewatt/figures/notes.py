"""Texts of every figure: its title, whether energy is estimated, and what was left out."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from framewatt.figures.style import ESTIMATE_COLOUR, NOTE_COLOUR, RC, styled
from framewatt.frames.headline import aside, counts
from framewatt.frames.totals import TOTAL
from framewatt.study.records import RunRecord, primary_window
from framewatt.witness.window import DISTURBED_BY, witness_columns

_MARGIN_IN = 0.08
_LEADING = 1.4
PARTLY = "Energy partly estimated, not measured"
_EM = {"bold": 0.63, "normal": 0.54}
"""Mean width of a character over the size of the font, a little more than DejaVu Sans has."""


def usable(runs: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return rows of totals with energy that counts and a number in each of `columns`.

    Args:
        runs: the runs frame.
        columns: names of numeric columns.
    """
    rows = runs[(runs["domain"] == TOTAL) & counts(runs)].copy()
    rows[list(columns)] = rows[list(columns)].apply(pd.to_numeric, errors="coerce")
    return rows.dropna(subset=list(columns))


def left_out(runs: pd.DataFrame, rings: int | None = None) -> str:
    """Return how many runs are not drawn and why, in words; empty where every run is.

    Args:
        runs: the runs frame.
        rings: runs that were set aside and are drawn as pale rings; None where a figure draws none of them.
    """
    totals = runs[runs["domain"] == TOTAL]
    failed = int((totals["status"] == "failed").sum())
    set_aside = int(aside(totals).sum())
    invalid = int((totals["status"].eq("ok") & ~counts(totals)).sum()) - set_aside
    hidden = set_aside - (rings or 0)
    parts = [f"{n} {word}" for n, word in ((failed, "failed"), (invalid, "invalid"), (hidden, "set aside")) if n]
    words = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
    runs_word = "run" if failed + invalid + hidden == 1 else "runs"
    drawn = f"Set aside, and in no mean: {plural_runs(rings)}, drawn as pale rings" if rings else ""
    beyond = " (beyond the axes)" if rings and hidden and len(parts) == 1 else ""
    not_drawn = f"Not drawn: {words} {runs_word} of {len(totals)}{beyond}" if parts else ""
    return ". ".join(filter(None, [drawn, not_drawn]))


def plural_runs(number: int) -> str:
    """`1 run`, `2 runs`."""
    return "1 run" if number == 1 else f"{number} runs"


def disturbed(runs: pd.DataFrame) -> pd.Series:
    """Return whether each row is of a disturbed run; False for frames that are older than the witness."""
    if DISTURBED_BY not in runs:
        return pd.Series(data=False, index=runs.index)
    return runs[DISTURBED_BY].map(lambda by: isinstance(by, str) and by != "").astype(bool)


def disturbed_words(runs: pd.DataFrame, how: str = "") -> str:
    """Return how many of the drawn runs were disturbed, in words; empty where none were.

    Args:
        runs: the runs frame, or those of its rows that are drawn.
        how: how they are drawn, such as `drawn as rings`.
    """
    return counted_words(disturbed(usable(runs, [])), how)


def counted_words(apart: Iterable[bool], how: str = "") -> str:
    """As `disturbed_words`, of whether each run was disturbed."""
    flags = list(apart)
    words = f"Disturbed by others: {sum(flags)} of {len(flags)} runs"
    return ", ".join(filter(None, [words, how])) if any(flags) else ""


def is_disturbed(record: RunRecord) -> bool:
    """Return whether the run of a record was disturbed; False where nothing was looked for."""
    window = primary_window(record)
    return window is not None and bool(witness_columns(window).get(DISTURBED_BY))


def estimate_of(drawn: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Return the note on totals with energies that are estimated in part; empty if all are measured.

    Args:
        drawn: rows of totals, of the runs or the epochs frame.
        frame: that frame, with the domains. What is measured is in the same total: an estimate is
            in one only where the meters do not cover the processors.
    """
    words = estimate_words(drawn["estimated"])
    measured = frame.loc[frame["domain"] != TOTAL, "estimated"].eq(False)
    return PARTLY if words and measured.any() else words


def estimate_words(estimated: Iterable[object]) -> str:
    """Return the note on energies that are estimated, all or some; empty if every one is measured."""
    flags = [value is True or value == 1 for value in estimated]
    if not any(flags):
        return ""
    return "Energy estimated, not measured" if all(flags) else PARTLY


def finish(figure: Figure, title: str, estimate: str, notes: Iterable[str] = ()) -> Figure:
    """Write title, estimate and notes above the panels, each from a line of its own.

    Args:
        figure: with its panels drawn, laid out by the constrained engine.
        title: what the figure shows.
        estimate: from `estimate_words`; no line where empty.
        notes: sentences; no line for empty ones.
    """
    width_in, height_in = figure.get_size_inches()
    lines = [(title, "black", 11.0, "bold")]
    lines += [(estimate, ESTIMATE_COLOUR, 11.0, "bold")] if estimate else []
    lines += [(note, NOTE_COLOUR, 8.0, "normal") for note in notes if note]
    from_top_in = _MARGIN_IN
    for text, colour, size, weight in lines:
        characters = int(72 * (width_in - 2 * _MARGIN_IN) / (size * _EM[weight]))
        wrapped = "\n".join(textwrap.wrap(text, characters))
        place = {"x": _MARGIN_IN / width_in, "y": 1 - from_top_in / height_in, "ha": "left", "va": "top"}
        figure.text(s=wrapped, color=colour, fontsize=size, fontweight=weight, in_layout=False, **place)
        from_top_in += _LEADING * size / 72 * (1 + wrapped.count("\n"))
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0, 0, 1, 1 - from_top_in / height_in))
    return figure


def panel_title(axes: Axes, title: str, width_in: float) -> None:
    """Write a panel's title, in as many lines as keep it out of the next panel.

    Args:
        axes: the panel.
        title: what it shows.
        width_in: about its width.
    """
    axes.set_title(textwrap.fill(title, int(72 * width_in / (RC["axes.titlesize"] * _EM["normal"]))))


def nothing(axes: Axes, words: str) -> None:
    """Say in a panel why it is empty.

    Args:
        axes: the panel.
        words: why.
    """
    axes.text(0.5, 0.5, words, ha="center", va="center", transform=axes.transAxes, color=NOTE_COLOUR)
    axes.set(xticks=[], yticks=[])


@styled
def empty(title: str, reason: str, notes: Iterable[str] = ()) -> Figure:
    """Return a figure that states in words why there is nothing to draw."""
    figure = Figure(figsize=(7, 2.2), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes, color=ESTIMATE_COLOUR)
    return finish(figure, title, "", notes)


MOST_NAMED = 60
"""Most points of a panel that get their names next to them: more names would hide the points."""

MOST_DOTS = 2_000
"""Runs that are drawn one by one."""

MOST_PANELS = 24
"""Panels of a figure."""

MOST_LISTED = 12
"""Levels of a scale that a legend lists."""

_Item = TypeVar("_Item")


def evenly(items: Sequence[_Item], most: int) -> list[_Item]:
    """At most so many of some things, evenly from the first to the last; all where there are no more.

    Args:
        items: in their order.
        most: at least 2.
    """
    if len(items) <= most:
        return list(items)
    return [items[number * (len(items) - 1) // (most - 1)] for number in range(most)]


def panels_words(drawn: int, there: int) -> str:
    """Return how many of the groups have a panel, in words; empty where all have."""
    return f"Drawn: {drawn} of {there} groups, evenly from the first to the last" if drawn < there else ""


def dots_words(runs: int) -> str:
    """That runs are not drawn one by one, in words; empty where they are."""
    return f"{runs:,} runs: not drawn one by one" if runs > MOST_DOTS else ""


def names_words(points: int) -> str:
    """Return in words that points have no names next to them; empty if they have.

    Args:
        points: of the fullest panel.
    """
    return f"Up to {points:,} points a panel: without names, which the tables have" if points > MOST_NAMED else ""
