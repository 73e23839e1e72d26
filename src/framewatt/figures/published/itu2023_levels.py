"""A quantity by batch size, model, data set and framework: ITU 2023, figures 2 to 5."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import notes, style
from framewatt.figures.published import frameworks

_MODELS = ["resnet50", "resnet101", "resnet152"]
_SHIFT = {"pytorch": -0.12, "tensorflow": 0.12}
_FIRST = "epoch 1"


@dataclass(frozen=True)
class Levels:
    """What one of the figures shows.

    Attributes:
        title: of the figure.
        unit: of its quantity, as an SI unit without prefix; empty for shares and percents.
        label: of the axis, where there is no unit.
        note: how the quantity was made.
    """

    title: str
    unit: str
    label: str
    note: str


FIGURES = {
    "itu2023_figure2": Levels(
        "itu2023, Figure 2: energy of ten epochs of training",
        "J",
        "energy",
        "Joules are integrated over the readings, with interpolated edges, and summed over the epochs.",
    ),
    "itu2023_figure3": Levels(
        "itu2023, Figure 3: mean power of training",
        "W",
        "mean power",
        "Mean of the epochs' mean powers; hollow: epoch 1 alone, filled: the other epochs.",
    ),
    "itu2023_figure4": Levels(
        "itu2023, Figure 4: GPU utilisation in training", "", "GPU utilisation (%)", "Mean of the epochs' means."
    ),
    "itu2023_figure5": Levels(
        "itu2023, Figure 5: accuracy after the last epoch", "", "accuracy", "On the test set, after the last epoch."
    ),
}


@style.styled
def draw(values: pd.DataFrame, levels: Levels) -> Figure:
    """A panel a data set and model: every run as a small mark, the mean of the runs as a line over batch sizes.

    Args:
        values: columns dataset, model, batch_size, framework, repetition, part (`epoch 1` or empty), value.
        levels: what is shown.
    """
    if values.empty:
        return notes.empty(levels.title, "No raw results are given.")
    datasets = sorted(values["dataset"].unique())
    models = [model for model in _MODELS if model in set(values["model"])]
    figure = Figure(figsize=(1.9 + 2.5 * len(models), 1.2 + 2.1 * len(datasets)), layout="constrained")
    panels = figure.subplots(len(datasets), len(models), squeeze=False, sharex=True, sharey="row")
    for row, dataset in zip(panels, datasets, strict=True):
        of_dataset = values[values["dataset"] == dataset]
        for axes, model in zip(row, models, strict=True):
            axes.set_title(f"{dataset}, {model}")
            _panel(axes, of_dataset[of_dataset["model"] == model])
        _scale(row[0], of_dataset["value"], levels)
    for axes in panels[-1]:
        axes.set_xlabel("batch size")
    present = [name for name in frameworks.NAMES if name in set(values["framework"])]
    figure.legend(handles=frameworks.handles(present) + _parts(values), loc="outside right center")
    return notes.finish(figure, levels.title, "", [f"Small marks: every run; lines: their mean. {levels.note}"])


def _panel(axes: Axes, values: pd.DataFrame) -> None:
    batches = sorted(values["batch_size"].unique())
    places = {batch: place for place, batch in enumerate(batches)}
    for (framework, part), cell in values.groupby(["framework", "part"]):
        look, shape = frameworks.LOOKS[framework].colour, frameworks.LOOKS[framework].marker
        face = "white" if part == _FIRST else look
        shift = _SHIFT.get(framework, 0.0)
        means = cell.groupby("batch_size")["value"].mean()
        at = [places[batch] + shift for batch in means.index]
        axes.plot(at, means, color=look, lw=1.0, ls=":" if part == _FIRST else "-", zorder=2)
        dots = [places[batch] + shift for batch in cell["batch_size"]]
        axes.scatter(dots, cell["value"], s=15, marker=shape, color=face, edgecolor=look, linewidth=0.8, zorder=3)
    axes.set_xticks(range(len(batches)), [str(batch) for batch in batches])
    axes.set_xlim(-0.5, len(batches) - 0.5)


def _scale(axes: Axes, values: pd.Series, levels: Levels) -> None:
    if levels.unit:
        style.scale(axes.yaxis, values, levels.unit, from_zero=True)
    else:
        axes.set_ylim(0, values.max() * 1.08)
    axes.set_ylabel(levels.label)


def _parts(values: pd.DataFrame) -> list[Line2D]:
    if _FIRST not in set(values["part"]):
        return []
    faces = {_FIRST: "white", "other epochs": "#555555"}
    return [
        Line2D([], [], marker="o", ms=5, ls="", markeredgecolor="#555555", markerfacecolor=face, label=label)
        for label, face in faces.items()
    ]
