"""The figures of itu2023, from the epochs and traces of its runs, by the code that draws own runs."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from framewatt.figures import training, training_series
from framewatt.figures.beside_paper import NAMES
from framewatt.figures.power_traces import TracedRun
from framewatt.figures.training_quantities import FIGURES as QUANTITIES
from framewatt.figures.training_quantities import Levels
from framewatt.papers.itu2023.epochs import FACTORS
from framewatt.statistics.to_accuracy import LABEL

_RUN = [*FACTORS, "repetition"]
_SHOWN = {"model": "resnet101", "batch_size": "128"}
"""Levels of the report's Figure 1; its data set is SVHN."""

_FAVOURED = ("SVHN", "CIFAR10")
_NOTHING = "No raw results are given."


def _levels(which: str, title: str) -> Levels:
    return replace(QUANTITIES[which], title=f"itu2023, {title}", empty=_NOTHING)


FIGURES = {
    "figure2": _levels("energy", "Figure 2: energy of ten epochs of training"),
    "figure3": _levels("power", "Figure 3: mean power of training"),
    "figure4": _levels("utilisation", "Figure 4: GPU utilisation in training"),
    "figure5": _levels("accuracy", "Figure 5: accuracy after the last epoch"),
}
"""What Figures 2 to 5 show."""


def draw_series(runs: Sequence[TracedRun]) -> Figure:
    """Figure 1."""
    chosen, words = combination(runs)
    by_framework = {
        name: mine for name in NAMES if (mine := [run for run in chosen if run.record["cell"]["framework"] == name])
    }
    title = "itu2023, Figure 1: one combination over time"
    return training_series.draw(by_framework, words, title=title, names=NAMES, empty=_NOTHING)


def draw_levels(epochs: pd.DataFrame, figure: str) -> Figure:
    """One of Figures 2 to 5; two runs have no interval.

    Args:
        epochs: of all runs, see framewatt.papers.itu2023.epochs.all_epochs.
        figure: of FIGURES.
    """
    shown = values(epochs, figure).rename(columns={"model": "workload", "framework": LABEL})
    none = pd.DataFrame(columns=[*shown.columns.drop(["repetition", "value"]), "low", "high"])
    return training.draw(shown, none, FIGURES[figure], names=NAMES)


def values(epochs: pd.DataFrame, figure: str) -> pd.DataFrame:
    """What one of Figures 2 to 5 shows, one row per run (and part of it).

    Args:
        epochs: of all runs, see framewatt.papers.itu2023.epochs.all_epochs.
        figure: `figure2` to `figure5`.

    Returns:
        Columns FACTORS, repetition, part, value.
    """
    if figure == "figure2":
        return _rows(epochs.groupby(_RUN)["energy_integrated"].sum(min_count=1))
    if figure == "figure3":
        part = epochs["epoch_number"].eq(1).map({True: "epoch 1", False: ""}).rename("part")
        return _rows(epochs.groupby([*_RUN, part])["power"].mean())
    if figure == "figure4":
        return _rows(epochs.groupby(_RUN)["gpu_util"].mean())
    last = epochs.sort_values("epoch_number").groupby(_RUN)["accuracy"].last()
    return _rows(last)


def combination(runs: Sequence[TracedRun]) -> tuple[list[TracedRun], str]:
    """The runs of the report's Figure 1, or of its levels on another data set where SVHN is not given.

    Returns:
        The runs, PyTorch's first, and their levels in words.
    """
    fitting = [run for run in runs if all(str(run.record["cell"][name]) == level for name, level in _SHOWN.items())]
    given = {run.record["cell"]["dataset"] for run in fitting}
    dataset = next((name for name in _FAVOURED if name in given), None)
    chosen = [run for run in fitting if run.record["cell"]["dataset"] == dataset]
    chosen.sort(key=lambda run: (run.record["cell"]["framework"], run.record["repetition"]))
    words = f"{dataset}, {_SHOWN['model']}, batch size {_SHOWN['batch_size']}"
    return chosen, words if dataset == _FAVOURED[0] else f"{words} (the report shows SVHN, which is not given)"


def _rows(values: pd.Series) -> pd.DataFrame:
    frame = values.dropna().rename("value").reset_index()
    return frame if "part" in frame else frame.assign(part="")
