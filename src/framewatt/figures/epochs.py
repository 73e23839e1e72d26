"""Accuracy and energy of every epoch of training: after the ITU 2023 study's per-epoch table."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from framewatt.figures import notes, style
from framewatt.frames import TOTAL

TITLE = "Training, epoch by epoch"
_DASHES = ("-", "--", ":", "-.")


@style.styled
def draw(epochs: pd.DataFrame, runs: pd.DataFrame) -> Figure:
    """A row of panels a model and data set: accuracy and joules over epochs, repetitions thin, their mean thick.

    Args:
        epochs: the epochs frame (framewatt.frames.EPOCHS_COLUMNS); totals are drawn.
        runs: the runs frame, which says whose energy counts.
    """
    training = runs[runs["phase"] == "train"]
    rows = _rows(epochs, training)
    if rows.empty:
        reason = "The study trains nothing." if training.empty else "No training run gave epochs that count."
        return notes.empty(TITLE, reason, [notes.left_out(training)])
    groups = list(rows[notes.GROUP].drop_duplicates().itertuples(index=False))
    figure = Figure(figsize=(8.4, 1.1 + 2.7 * len(groups)), layout="constrained")
    panels = figure.subplots(len(groups), 2, squeeze=False)
    dashes = {batch: _DASHES[i % len(_DASHES)] for i, batch in enumerate(sorted(rows["batch_size"].unique()))}
    for (left, right), group in zip(panels, groups, strict=True):
        here = rows[(rows[notes.GROUP] == list(group)).all(axis=1)]
        _panel(left, here, "accuracy", dashes)
        _panel(right, here, "energy_gross_j", dashes)
        left.set_title(f"Accuracy: {group.workload}, {group.dataset}")
        right.set_title("Energy of the epoch")
        style.scale(right.yaxis, here["energy_gross_j"].dropna(), "J", from_zero=True)
    figure.legend(handles=_legend(rows, dashes), loc="outside right center", alignment="left")
    how = "Thin: every repetition; thick: their mean"
    return notes.finish(figure, TITLE, notes.estimate_words(rows["estimated"]), [how, notes.left_out(training)])


def _rows(epochs: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """Totals of training runs whose energy counts."""
    counted = notes.usable(training, ["duration_s"])[["cell", "repetition"]].drop_duplicates()
    rows = epochs[epochs["domain"] == TOTAL].merge(counted, on=["cell", "repetition"])
    numbers = ["accuracy", "energy_gross_j"]
    rows[numbers] = rows[numbers].apply(pd.to_numeric, errors="coerce")
    return rows


def _panel(axes: Axes, rows: pd.DataFrame, quantity: str, dashes: dict[int, str]) -> None:
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for (runtime, provider, batch), cell in rows.groupby(["runtime", "provider", "batch_size"], sort=True):
        look: dict[str, Any] = {"color": style.colour(runtime), "ls": dashes[batch]}
        shape = style.marker(runtime, provider)
        for _, own in cell.sort_values("epoch").groupby("repetition"):
            axes.plot(own["epoch"], own[quantity], lw=0.7, alpha=0.45, marker=".", ms=3, label="_repetition", **look)
        mean = cell.groupby("epoch")[quantity].mean()
        axes.plot(mean.index, mean, lw=2, marker=shape, ms=4.5, label="_mean", **look)


def _legend(rows: pd.DataFrame, dashes: dict[int, str]) -> list[Line2D]:
    keys = sorted(set(zip(rows["runtime"], rows["provider"], strict=True)), key=style.runtime_order)
    handles = [
        Line2D(
            [], [], color=style.colour(key[0]), marker=style.marker(*key), ms=4.5, lw=2, label=style.runtime_label(*key)
        )
        for key in keys
    ]
    return handles + [
        Line2D([], [], color="#555555", ls=dash, label=f"batch {batch}") for batch, dash in dashes.items()
    ]
