"""Means of cells for drawing, with the intervals that the statistics found."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from framewatt.figures import notes
from framewatt.frames.factor_words import factors_of, label, remarks, sorted_by
from framewatt.frames.headline import PER_RUN, Headline

LABEL = "label"
"""Column with the label that distinguishes a cell in its group, see `labelled`."""


def headline_rows(runs: pd.DataFrame, head: Headline) -> pd.DataFrame:
    """Totals that count and have energy and time, in columns with the headline's names.

    Args:
        runs: the runs frame.
        head: per sample or per run.
    """
    if head == PER_RUN:
        return notes.usable(runs, head.quantities)
    rows = notes.usable(runs, [head.energy, "duration_s", "samples_processed"])
    return rows.assign(**{head.time: rows["duration_s"] / rows["samples_processed"]})


def labelled(rows: pd.DataFrame, compared: Sequence[str]) -> pd.DataFrame:
    """Return rows of a frame with the column LABEL: `torch`, `torch2onnx/openvino`.

    Args:
        rows: runs or epochs.
        compared: the compared factors.
    """
    names = {cell: label(levels, compared) for cell, levels in _levels(rows).items()}
    return rows.assign(**{LABEL: rows["cell"].map(names).astype(object)})


def _levels(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    factors = factors_of(rows)
    known = rows[["cell", *factors]].drop_duplicates("cell").astype(object)
    return {cell: dict(zip(factors, levels, strict=True)) for cell, *levels in known.itertuples(index=False)}


def panels(rows: pd.DataFrame, factors: Sequence[str]) -> list[tuple[dict[str, Any], pd.DataFrame]]:
    """Return the levels of some factors and their rows, in readers' order; a single panel where there are no factors.

    Args:
        rows: runs or epochs, at least one.
        factors: each combination of their levels gets a panel.
    """
    if not factors:
        return [({}, rows)]
    levels_of_panels = sorted_by(rows[list(factors)].drop_duplicates(), factors).astype(object)
    keys = [dict(zip(factors, levels, strict=True)) for levels in levels_of_panels.itertuples(index=False)]
    return [(key, rows[(rows[list(factors)] == list(key.values())).all(axis=1)]) for key in keys]


def heading(levels: Mapping[str, Any]) -> str:
    """Return a panel's title: `train, batch 16: resnet50, digits`."""
    front = [str(levels["phase"])] if "phase" in levels else []
    front += [f"batch {levels['batch_size']}"] if "batch_size" in levels else []
    return ": ".join(", ".join(part) for part in (front, remarks(levels)) if part)


def with_intervals(rows: pd.DataFrame, cells: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return a row for each cell: its factors, `n`, mean, and the interval of the mean.

    Args:
        rows: runs with numbers that count; `quantity` and LABEL are among the columns.
        cells: statistics of cells: columns cell, quantity, mean_low, mean_high; a cell may be absent.
        quantity: the column to average.

    Returns:
        Columns cell, LABEL, the factors, n, mean, low, high; low and high are NaN where there is no interval.
    """
    means = (
        rows.groupby(["cell", LABEL, *factors_of(rows)], sort=False)[quantity].agg(n="size", mean="mean").reset_index()
    )
    return means.merge(_intervals(cells, quantity), on="cell", how="left")


def _intervals(cells: pd.DataFrame, quantity: str) -> pd.DataFrame:
    intervals = cells.loc[cells["quantity"] == quantity, ["cell", "mean_low", "mean_high"]]
    intervals = intervals.rename(columns={"mean_low": "low", "mean_high": "high"})
    return intervals.astype({"low": "float64", "high": "float64"})


def error_bars(points: pd.DataFrame) -> list[list[float]]:
    """Distances from mean to low and to high, shape (2, n), as matplotlib's error bars want them; 0 where unknown.

    Args:
        points: from `with_intervals`.
    """
    down = (points["mean"] - points["low"]).fillna(0.0).clip(lower=0)
    up = (points["high"] - points["mean"]).fillna(0.0).clip(lower=0)
    return [down.tolist(), up.tolist()]
