"""Quality and energy of every epoch of training: after the ITU 2023 study's per-epoch table."""

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from framewatt.figures import marks, notes, style
from framewatt.figures.cells import LABEL, heading, labelled, panels
from framewatt.frames.factor_words import factors_of
from framewatt.frames.quality import METRIC, QUALITY, title_of, with_quality
from framewatt.frames.totals import TOTAL
from framewatt.study.factors import COMPARED, shared

TITLE = "Training, epoch by epoch"
_PANEL_IN = 2.7
"""Width of a panel in inches if the legend has its default width."""

_DASHES = ("-", "--", ":", "-.")


@style.styled
def draw(epochs: pd.DataFrame, runs: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """One row of panels per model and data set: quality and joules over epochs, repetitions thin, their mean thick.

    Args:
        epochs: the epochs frame (framewatt.frames.frames.epochs_columns); totals are drawn.
        runs: the runs frame, which marks the runs that count.
        compared: the factors in which cells are compared.
    """
    training = runs[runs["phase"] == "train"] if "phase" in factors_of(runs) else runs
    rows = labelled(_rows(epochs, training), compared)
    if rows.empty:
        reason = "The study trains nothing." if training.empty else "No training run gave epochs that count."
        return notes.empty(TITLE, reason, [notes.left_out(training)])
    apart = ("phase", "batch_size")
    groups = panels(rows, [name for name in shared(factors_of(rows), compared) if name not in apart])
    figure = Figure(figsize=(8.4, 1.1 + 2.7 * len(groups)), layout="constrained")
    axes_of = figure.subplots(len(groups), 2, squeeze=False)
    looks = style.looks(rows[LABEL])
    batched = "batch_size" in factors_of(rows)
    dashes = dict(zip(sorted(rows["batch_size"].unique()), itertools.cycle(_DASHES))) if batched else {}
    logarithmic = style.is_wide((here["energy_gross_j"].dropna() for _, here in groups), from_zero=True)
    for (left, right), (levels, here) in zip(axes_of, groups, strict=True):
        _panel(left, here, QUALITY, looks, dashes)
        _panel(right, here, "energy_gross_j", looks, dashes)
        notes.panel_title(left, ": ".join(filter(None, [title_of(here[METRIC]), heading(levels)])), _PANEL_IN)
        right.set_title("Energy of the epoch")
        right.set_ylabel("energy")
        style.scale(right.yaxis, here["energy_gross_j"].dropna(), "J", logarithmic=logarithmic, from_zero=True)
        for axes, quantity in ((left, QUALITY), (right, "energy_gross_j")):
            if not here[quantity].notna().any():
                notes.nothing(axes, "unknown of every epoch")
    drawn = rows.drop_duplicates(["cell", "repetition"])
    handles = [*_legend(looks, dashes), *marks.handles(drawn["apart"])]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    how = "Thin: every repetition; thick: their mean"
    return notes.finish(
        figure,
        TITLE,
        notes.estimate_of(rows, epochs),
        [how, notes.counted_words(drawn["apart"], "drawn with rings"), notes.left_out(training)],
    )


def _rows(epochs: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """Return totals of training runs with energy that counts; `apart` where the run was disturbed."""
    counted = notes.usable(training, ["duration_s"])
    counted = counted.assign(apart=notes.disturbed(counted))[["cell", "repetition", "apart"]].drop_duplicates()
    # An empty frame comes back from parquet with numbers for names.
    known = epochs[epochs["domain"] == TOTAL].astype({"cell": str, "repetition": "int64"})
    rows = known.merge(counted, on=["cell", "repetition"])
    rows["energy_gross_j"] = pd.to_numeric(rows["energy_gross_j"], errors="coerce")
    return with_quality(rows)


def _panel(axes: Axes, rows: pd.DataFrame, quantity: str, looks: dict[str, style.Look], dashes: dict[int, str]) -> None:
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for (label, *batch), cell in rows.groupby([LABEL, *(["batch_size"] if dashes else [])], sort=True):
        look: dict[str, Any] = {"color": looks[label].colour, "ls": dashes[batch[0]] if batch else "-"}
        for _, own in cell.sort_values("epoch").groupby("repetition"):
            mark = marks.LINE | {"zorder": 4} if own["apart"].any() else {"marker": ".", "ms": 3, "alpha": 0.45}
            axes.plot(own["epoch"], own[quantity], lw=0.7, label="_repetition", **look, **mark)
        mean = cell.groupby("epoch")[quantity].mean()
        axes.plot(mean.index, mean, lw=2, marker=looks[label].marker, ms=4.5, label="_mean", **look)


def _legend(looks: dict[str, style.Look], dashes: dict[int, str]) -> list[Line2D]:
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, ms=4.5, lw=2, label=label)
        for label, look in looks.items()
    ]
    return handles + [
        Line2D([], [], color="#555555", ls=dash, label=f"batch {batch}") for batch, dash in dashes.items()
    ]
