"""Power over time of one run per runtime, with its windows shaded."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from framewatt.figures import notes, style
from framewatt.frames.factor_words import label, remarks
from framewatt.runs.verdict import counts
from framewatt.study.factors import COMPARED, shared
from framewatt.study.records import RunRecord

TITLE = "Power over one run of each {compared}"
SHORTEST_STEP_S = 0.1
"""Power from a counter is drawn over steps of at least this long: shorter ones show the counter's digits."""

COUNTER_QUANTITY = "energy_j"

_MOST_STEPS = 600
_COLUMNS = 2
_PANEL_IN = 4.2
_LETTER_IN, _KEY_IN = 0.075, 0.65
"""Widths of a letter of the legend, and of the key before its words."""

_SHARE_PER_LETTER = 0.016
_QUANTITIES = {
    COUNTER_QUANTITY: "counter",
    "power_instant_w": "instant power",
    "power_average_w": "averaged power",
    "power_w": "power",
}
_SHADES = {"setup": "#e6e6e6", "warm_up": "#fde6b8", "steady": "#d5ecd5", "epoch": "#e6def2", "evaluate": "#d3e3f4"}
_HATCHES = {"warm_up": "///", "evaluate": "..."}
"""Of windows that in grey would look like the next one."""

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class TracedRun:
    """A run and what was sampled while it ran.

    Attributes:
        record: the run record.
        power: columns monotonic_ns, instrument, domain, quantity, value (null where the read failed).
    """

    record: RunRecord
    power: pd.DataFrame


def traced_run(path: Path, record: RunRecord) -> TracedRun:
    """Return a run with its trace, which is in the folder of its record.

    Args:
        path: of the record.
        record: as read from there.
    """
    return TracedRun(record, pd.read_parquet(path.with_name("power.parquet")))


def draw_study(records: Mapping[Path, RunRecord], runs: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """Return the chosen runs of a study, see `choose` and `draw`.

    Args:
        records: run records by their paths; a run's trace is in the folder of its record.
        runs: the runs frame.
        compared: the factors in which cells are compared.
    """
    chosen = [traced_run(path, records[path]) for path in choose(records, compared)]
    figure: Figure = draw(chosen, runs, compared)
    return figure


def choose(records: Mapping[Path, RunRecord], compared: Sequence[str] = COMPARED) -> list[Path]:
    """Return paths of the first valid repetition of each phase and label, at the largest batch size it has.

    Args:
        records: run records by their paths, in any order.
        compared: the factors in which cells are compared.
    """
    counted = [
        (-record["cell"].get("batch_size", 0), record["repetition"], record["cell_id"], path, record["cell"])
        for path, record in records.items()
        if counts(record)
    ]
    chosen: dict[tuple[str, str], Path] = {}
    for *_, path, cell in sorted(counted, key=lambda of: of[:3]):
        chosen.setdefault((cell.get("phase", ""), label(cell, compared)), path)
    order = list(style.looks(name for _, name in chosen))
    return [chosen[key] for key in sorted(chosen, key=lambda key: (key[0] != "train", order.index(key[1])))]


def counter_power(time_ns: NDArray[np.int64], energy_j: NDArray[np.float64]) -> tuple[Any, Any]:
    """Return mean power between readings of a counter that lie at least SHORTEST_STEP_S apart.

    The trace does not say at what value a counter wraps, so a step back (wrap or reset) has no power: NaN, a gap in
    the line. A failed read (NaN) is bridged by the good ones around it. The energies of windows do not come from here
    but from framewatt.energy.windows, which knows the wrap.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        energy_j: shape (n,), cumulative joules, NaN where the read failed.

    Returns:
        Middles of the steps in nanoseconds and watts, shape (m,) each; m is 0 for fewer than two good readings.
    """
    good = np.isfinite(energy_j)
    time_ns, energy_j = time_ns[good], energy_j[good]
    if len(time_ns) < 2:
        return np.empty(0), np.empty(0)
    step_ns = max(SHORTEST_STEP_S * 1e9, (time_ns[-1] - time_ns[0]) / _MOST_STEPS)
    picked = [0]
    while (following := int(np.searchsorted(time_ns, time_ns[picked[-1]] + step_ns))) < len(time_ns):
        picked.append(following)
    t, steps_j = time_ns[picked], np.diff(energy_j[picked])
    return (t[1:] + t[:-1]) / 2, np.where(steps_j < 0, np.nan, steps_j) / (np.diff(t) * 1e-9)


@style.styled
def draw(traced: Sequence[TracedRun], runs: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """Return one panel per run: watts over seconds, one line per domain, the run's windows shaded.

    Counters become power by `counter_power`; gauges are drawn as they are.

    Args:
        traced: the runs to draw, in order.
        runs: the runs frame, for the note of what failed.
        compared: the factors in which cells are compared.
    """
    title = TITLE.format(compared=compared[0].replace("_", " "))
    without = [run for run in traced if not _series([run])]
    traced = [run for run in traced if _series([run])]
    if not traced:
        return notes.empty(title, "No valid run has a power trace.", [notes.left_out(runs)])
    columns = min(_COLUMNS, len(traced))
    rows = -(-len(traced) // columns)
    figure = Figure(figsize=(0.8 + _PANEL_IN * columns, 1.3 + 1.75 * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    paints = zip(itertools.cycle(_COLOURS), itertools.cycle(_DASHES))
    looks = dict(zip(_series(traced), paints, strict=False))
    for axes, run in zip(panels, traced, strict=False):
        _panel(axes, run, looks, compared)
    for axes in panels[len(traced) :]:
        axes.set_axis_off()
    lines = [
        Line2D([], [], color=paint, ls=dash, label=f"{domain} ({_QUANTITIES[quantity]})")
        for (domain, quantity), (paint, dash) in looks.items()
    ]
    shades = [Patch(**_shade_of(kind), label=kind) for kind in _kinds(traced)]
    handles: list[Line2D | Patch] = [*lines, *shades]
    figure.legend(handles=handles, loc="outside lower center", ncols=_columns_of(handles, figure.get_figwidth()))
    estimated = [
        energy["estimated"]
        for run in traced
        for window in run.record["windows"].values()
        for energy in window["domains"].values()
    ]
    estimate = notes.estimate_words(estimated).replace("Energy", "Power")
    lost = f"Not drawn: {len(without)} without a power trace" if without else ""
    return notes.finish(figure, title, estimate, [notes.disturbed_words(runs), notes.left_out(runs), lost])


def _columns_of(handles: Sequence[Line2D | Patch], width_in: float) -> int:
    """Return how many columns of a legend lie side by side on a figure so wide."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    return max(1, min(len(handles), int(width_in / (_KEY_IN + longest * _LETTER_IN))))


def _title(levels: Mapping[str, Any], compared: Sequence[str]) -> str:
    """`train: torch, batch 16, resnet50, digits`."""
    rest = remarks({name: levels[name] for name in shared(levels, compared)})
    batch = [f"batch {levels['batch_size']}"] if "batch_size" in levels else []
    words = ", ".join([label(levels, compared), *batch, *rest])
    return f"{levels['phase']}: {words}" if "phase" in levels else words


def _series(traced: Iterable[TracedRun]) -> list[tuple[str, str]]:
    """Domain and quantity of everything that has a power, over all runs."""
    keys = {key for run in traced for key in zip(run.power["domain"], run.power["quantity"], strict=True)}
    return sorted((domain, quantity) for domain, quantity in keys if quantity in _QUANTITIES)


def _panel(
    axes: Axes, run: TracedRun, looks: Mapping[tuple[str, str], tuple[str, str]], compared: Sequence[str]
) -> None:
    disturbed = " (disturbed)" if notes.is_disturbed(run.record) else ""
    notes.panel_title(axes, _title(run.record["cell"], compared) + disturbed, _PANEL_IN - 0.6)
    axes.set(xlabel="time (s)", ylabel="power (W)")
    origin_ns = int(run.power["monotonic_ns"].min()) if len(run.power) else 0
    top = 0.0
    for (domain, quantity), (paint, dash) in looks.items():
        series = run.power[(run.power["domain"] == domain) & (run.power["quantity"] == quantity)]
        series = series.sort_values("monotonic_ns")
        time_ns, power_w = series["monotonic_ns"].to_numpy(np.int64), series["value"].to_numpy(np.float64)
        if quantity == COUNTER_QUANTITY:
            time_ns, power_w = counter_power(time_ns, power_w)
        if len(power_w) == 1:
            # A counter with two readings gives only the mean.
            axes.axhline(power_w[0], color=paint, lw=0.9, ls="--", label="_power")
        axes.plot((time_ns - origin_ns) * 1e-9, power_w, color=paint, lw=0.9, ls=dash, label="_power")
        top = max([top, *power_w[np.isfinite(power_w)]])
    axes.set_ylim(0, top * 1.2 or 1)
    _shade(axes, run.record["windows"], origin_ns)


def _shade(axes: Axes, windows: Mapping[str, Any], origin_ns: int) -> None:
    """Shade every span of every window and name those wide enough to hold their name."""
    spans = list(_spans(windows))
    if not spans:
        return
    edges = [(edge - origin_ns) * 1e-9 for _, *pair in spans for edge in pair]
    first, last = min(0.0, *edges), max(edges)
    axes.set_xlim(first, last)
    axes.grid(visible=False)
    for name, start_ns, end_ns in spans:
        start, end = (start_ns - origin_ns) * 1e-9, (end_ns - origin_ns) * 1e-9
        axes.axvspan(start, end, **_shade_of(_kind(name)), zorder=0, label=f"_{name}")
        axes.axvline(end, color="white", lw=0.8, zorder=0.5, label="_edge")
        if (end - start) / (last - first) > _SHARE_PER_LETTER * len(name):
            axes.text(
                (start + end) / 2, 0.97, name, ha="center", va="top", fontsize=6.5, transform=axes.get_xaxis_transform()
            )


def _shade_of(kind: str) -> dict[str, Any]:
    return {"facecolor": _SHADES[kind], "edgecolor": "white", "lw": 0, "hatch": _HATCHES.get(kind)}


def _spans(windows: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """(window, start, end) of the drawn windows, without the whole process and windows that consist of others."""
    by_epochs = any(_kind(name) == "epoch" for name in windows)
    for name, window in windows.items():
        if _kind(name) in _SHADES and not (name == "steady" and by_epochs):
            for start_ns, end_ns in window["spans_monotonic_ns"]:
                yield name, start_ns, end_ns


def _kind(window: str) -> str:
    return window.split("-", maxsplit=1)[0]


def _kinds(traced: Iterable[TracedRun]) -> list[str]:
    kinds = {_kind(name) for run in traced for name, *_ in _spans(run.record["windows"])}
    return [kind for kind in _SHADES if kind in kinds]
