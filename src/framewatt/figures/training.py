"""What the figures of training show: the runs of a study by model, data set, batch size and framework."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from framewatt.figures import notes, training_levels
from framewatt.figures.training_levels import APART, FIRST
from framewatt.figures.training_quantities import FIGURES, NOTHING_COUNTS, Levels
from framewatt.frames.headline import counts
from framewatt.frames.totals import TOTAL
from framewatt.statistics.effect_size import mean_interval
from framewatt.statistics.to_accuracy import LABEL, PANELS, counted_epochs, gpu_or_total, labelled
from framewatt.study.factors import natural

_CELL = [*PANELS, LABEL]


def draw(figure: str, epochs: pd.DataFrame, runs: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Every run, by batch size, model, data set and framework.

    Args:
        figure: the figure's name, `training_<one of FIGURES>`.
        epochs: the epochs frame.
        runs: the runs frame, which says which runs count.
        settings: the study's `statistics`: compare, confidence.
    """
    quantity = figure.removeprefix("training_")
    shown = values(epochs, runs, quantity, settings["compare"])
    levels = described(quantity, epochs)
    if not counts(runs).any():
        levels = replace(levels, empty=NOTHING_COUNTS)
    drawn: Figure = training_levels.draw(
        shown,
        intervals(shown, settings),
        levels,
        estimate=estimate_words(quantity, epochs),
        left_out=notes.left_out(runs[runs["phase"] == "train"] if "phase" in runs else runs),
    )
    return drawn


def values(epochs: pd.DataFrame, runs: pd.DataFrame, figure: str, compared: Sequence[str]) -> pd.DataFrame:
    """What a figure shows, one row per run (and part of it).

    Energy and power are the GPU's where every run has one and the same, as in the report, else those of the total.

    Args:
        epochs: the epochs frame.
        runs: the runs frame, which says which runs count.
        figure: of FIGURES.
        compared: the compared factors.

    Returns:
        Columns PANELS, LABEL, repetition, APART, part, value.
    """
    rows = labelled(counted_epochs(epochs, runs, gpu_or_total(epochs)), compared)
    others = runs[notes.disturbed(runs)]
    apart = set(zip(others["cell"], others["repetition"], strict=True))
    rows[APART] = [run in apart for run in zip(rows["cell"], rows["repetition"], strict=True)]
    run = [*_CELL, "repetition", APART]
    grouped = rows.groupby(run)
    if figure == "energy":
        return _rows(grouped["energy_gross_j"].sum(min_count=1))
    if figure == "power":
        part = rows["epoch"].eq(1).map({True: FIRST, False: ""}).rename("part")
        return _rows(rows.groupby([*run, part])["mean_power_w"].mean())
    if figure == "utilisation":
        return _rows(grouped["gpu_utilization_percent"].mean())
    return _rows(rows.sort_values("epoch").groupby(run)["quality"].last())


def intervals(shown: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """The interval of the mean of every mark of a figure, missing below three runs.

    Args:
        shown: from `values`.
        settings: the study's `statistics`: confidence.

    Returns:
        Columns PANELS, LABEL, part, low, high.
    """
    keys = [*_CELL, "part"]
    rows = []
    for levels, part in shown.groupby(keys):
        found = mean_interval(part["value"].to_numpy(dtype=np.float64), settings["confidence"])
        rows.append([*levels, found.low, found.high])
    return pd.DataFrame(rows, columns=[*keys, "low", "high"]).astype({"low": "float64", "high": "float64"})


def described(figure: str, epochs: pd.DataFrame) -> Levels:
    """What a figure shows, with whose energy it is."""
    domain = gpu_or_total(epochs)
    levels = FIGURES[figure]
    if not levels.unit:
        return levels
    whose = "All domains together." if domain == TOTAL else f"{domain} alone, as in the report."
    return replace(levels, note=f"{levels.note} {whose}")


def estimate_words(figure: str, epochs: pd.DataFrame) -> str:
    """That the energy or power of a figure is estimated, in words; empty where it is measured or something else."""
    if not FIGURES[figure].unit:
        return ""
    shown = gpu_or_total(epochs)
    drawn = epochs[epochs["domain"] == shown]
    words = notes.estimate_of(drawn, epochs) if shown == TOTAL else notes.estimate_words(drawn["estimated"])
    return words.replace("Energy", FIGURES[figure].label.capitalize())


def in_the_middle(cells: Iterable[Mapping[str, Any]], compared: Sequence[str]) -> dict[str, Any]:
    """Levels of one combination: of every factor but the compared ones that in the middle of those that are there.

    Args:
        cells: of runs that count; each factor's level may be missing in no cell.
        compared: the compared factors.
    """
    left = list(cells)
    chosen: dict[str, Any] = {}
    for name in dict.fromkeys(name for cell in left for name in cell if name not in compared):
        levels = sorted({cell[name] for cell in left}, key=natural)
        chosen[name] = levels[len(levels) // 2]
        left = [cell for cell in left if cell[name] == chosen[name]]
    return chosen


def _rows(found: "pd.Series[float]") -> pd.DataFrame:
    frame = found.dropna().rename("value").reset_index()
    return frame if "part" in frame else frame.assign(part="")
