"""Means of cells for drawing, with the intervals that the statistics found."""

import pandas as pd

from framewatt.frames import FACTORS


def with_intervals(rows: pd.DataFrame, cells: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """A row a cell: its factors, `n`, mean, and the interval of the mean.

    Args:
        rows: runs whose numbers count, `quantity` among the columns.
        cells: statistics of cells: columns cell, quantity, mean_low, mean_high; a cell may be absent.
        quantity: the column to average.

    Returns:
        Columns cell, FACTORS, n, mean, low, high; low and high are NaN where the statistics hold no interval.
    """
    means = rows.groupby(["cell", *FACTORS], sort=False)[quantity].agg(n="size", mean="mean").reset_index()
    return means.merge(_intervals(cells, quantity), on="cell", how="left")


def _intervals(cells: pd.DataFrame, quantity: str) -> pd.DataFrame:
    found = cells.loc[cells["quantity"] == quantity, ["cell", "mean_low", "mean_high"]]
    found = found.rename(columns={"mean_low": "low", "mean_high": "high"})
    return found.astype({"low": "float64", "high": "float64"})


def error_bars(points: pd.DataFrame) -> list[list[float]]:
    """Distances from mean to low and to high, shape (2, n), as matplotlib's error bars want them; 0 where unknown.

    Args:
        points: from `with_intervals`.
    """
    down = (points["mean"] - points["low"]).fillna(0.0).clip(lower=0)
    up = (points["high"] - points["mean"]).fillna(0.0).clip(lower=0)
    return [down.tolist(), up.tolist()]
