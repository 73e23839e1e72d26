"""One combination of levels over time, the frameworks next to each other: after ITU 2023, figure 1.

Own runs and the raw results of the report are drawn by the same code.
"""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from framewatt.energy.accounts import POWER
from framewatt.figures import marks, notes, style
from framewatt.figures.power_traces import COUNTER_QUANTITY, TracedRun, counter_power, traced_run
from framewatt.figures.training import in_the_middle
from framewatt.frames import factor_words
from framewatt.study.factors import reading_order
from framewatt.study.records import RunRecord

TITLE = "Training over time"

_POWERS = (*POWER, COUNTER_QUANTITY)
_ROWS = {
    "power": ("power (W)", 1.0),
    "temperature_c": ("temperature (°C)", 1.0),
    "memory_used_b": ("memory (GiB)", 2.0**-30),
    "utilization_percent": ("GPU util. (%)", 1.0),
    "memory_utilization_percent": ("memory util. (%)", 1.0),
}
_DASHES = ("-", (0, (2, 1)), ":")
_HOW = "Vertical lines: ends of epochs. Solid, dashed, dotted: repetitions, each from its own first reading."
_WITHOUT_GPU = "No GPU was metered, so its temperature, memory and utilisation are unknown."


def draw_study(records: Mapping[Path, RunRecord], compared: Sequence[str]) -> Figure:
    """Return every repetition of the combination in the middle of the study's levels.

    Args:
        records: run records by their paths; a run's trace is in the folder of its record.
        compared: the compared factors.
    """
    trained = [
        (record["repetition"], path, record["cell"])
        for path, record in records.items()
        if record["valid"] and record["epochs"]
    ]
    levels = in_the_middle([cell for *_, cell in trained], compared)
    traced: dict[str, list[TracedRun]] = {}
    for _, path, cell in sorted(trained, key=lambda of: of[0]):
        if all(cell[name] == level for name, level in levels.items()):
            traced.setdefault(factor_words.label(cell, compared), []).append(traced_run(path, records[path]))
    drawn: Figure = draw(traced, factor_words.phrase(levels, reading_order(levels)))
    return drawn


@style.styled
def draw(
    runs: Mapping[str, Sequence[TracedRun]],
    combination: str,
    *,
    title: str = TITLE,
    names: Mapping[str, str] | None = None,
    empty: str = "No training run has a trace.",
) -> Figure:
    """Return one row of panels per quantity, one column per label; vertical lines where an epoch ends.

    Args:
        runs: of one combination of levels, by the label of what is compared: every repetition, as many as there are
            kinds of lines.
        combination: the levels in words.
        title: of the figure.
        names: what labels are called; as they are where it names none.
        empty: what to say where there is nothing to draw.
    """
    runs = {name: traced for name, several in runs.items() if (traced := [run for run in several if _powers_of(run)])}
    if not runs:
        return notes.empty(title, empty)
    looks = style.looks(runs)
    rows = [name for name in _ROWS if any(_series(run, name) for run in itertools.chain(*runs.values()))]
    figure = Figure(figsize=(1.2 + 4.0 * len(runs), 1.5 + 1.25 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), len(runs), squeeze=False, sharex="col", sharey="row")
    for column, label in enumerate(looks):
        panels[0, column].set_title((names or {}).get(label, label))
        panels[-1, column].set_xlabel("time since the first reading (s)")
        for axes, row in zip(panels[:, column], rows, strict=True):
            for dash, run in zip(_DASHES, runs[label], strict=False):
                _line(axes, run, row, looks[label].colour, dash)
            axes.yaxis.set_major_locator(MaxNLocator(4))
    for axes, row in zip(panels[:, 0], rows, strict=True):
        axes.set_ylabel(_ROWS[row][0])
        axes.set_ylim(bottom=0)
    every = [run for several in runs.values() for run in several]
    apart = [notes.is_disturbed(run.record) for run in every]
    if any(apart):
        figure.legend(handles=marks.handles(pd.Series(apart)), loc="outside lower center")
    estimate = notes.estimate_words(map(_estimated, every)).replace("Energy", "Power")
    domains = f"Power is that of {', '.join(sorted(set(map(_domain, every))))}."
    others = notes.counted_words(apart, "drawn with rings")
    sentences = [combination, f"{domains} {_HOW}", "" if rows[1:] else _WITHOUT_GPU, others]
    return notes.finish(figure, title, estimate, sentences)


def _series(run: TracedRun, row: str) -> tuple[Any, Any] | None:
    """Times and values of a quantity: of power the best account that there is, all else of a GPU."""
    domain = _domain(run)
    if row != "power" and not domain.startswith("gpu:"):
        return None
    own = run.power[run.power["domain"] == domain]
    for quantity in _POWERS if row == "power" else (row,):
        part = own[own["quantity"] == quantity]
        if len(part):
            time_ns, value = part["monotonic_ns"].to_numpy(), part["value"].to_numpy(np.float64)
            return counter_power(time_ns, value) if quantity == COUNTER_QUANTITY else (time_ns, value)
    return None


def _powers_of(run: TracedRun) -> list[str]:
    """Return the domains of a trace that have a power."""
    return sorted(run.power.loc[run.power["quantity"].isin(_POWERS), "domain"].astype(str).unique())


def _domain(run: TracedRun) -> str:
    """Return the domain that is drawn: a GPU where one was metered, else the first by name."""
    domains = _powers_of(run)
    return str(next((name for name in domains if name.startswith("gpu:")), domains[0]))


def _line(axes: Axes, run: TracedRun, row: str, colour: str, dash: object) -> None:
    series = _series(run, row)
    start_ns = int(run.power["monotonic_ns"].min())
    if series:
        rings = marks.LINE | {"markevery": 0.1} if notes.is_disturbed(run.record) else {}
        axes.plot((series[0] - start_ns) * 1e-9, series[1] * _ROWS[row][1], color=colour, lw=0.9, ls=dash, **rings)
    for epoch in run.record["epochs"]:
        end_ns = run.record["windows"][f"epoch-{epoch['epoch']}"]["end_monotonic_ns"]
        axes.axvline((end_ns - start_ns) * 1e-9, color="#999999", lw=0.5, ls=dash, zorder=1)


def _estimated(run: TracedRun) -> bool:
    """Return whether the power that is drawn is an estimate."""
    domains = run.record["windows"]["epoch-1"]["domains"]
    return bool(domains[_domain(run)]["estimated"])
