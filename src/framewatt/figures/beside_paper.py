"""Energy, run time and accuracy of models and frameworks, printed and own, after Georgiou et al. 2022, figure 1.

A paper gives the numbers as its replication table `figure1`.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import notes, style
from framewatt.frames.quality import words_of
from framewatt.tasks import METRICS

TITLE = "Energy, run time and accuracy: as printed by {paper}, and here"
NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow"}

LOOKS = style.looks(NAMES)
"""Framework -> its colour and marker, those of the project's own figures."""
PUBLISHED, HERE = "published", "here"
_COLUMNS = {PUBLISHED: "as printed", HERE: "here"}
_ROWS = {"train": "training", "infer": "inference"}
_LARGEST_PT2 = 420.0
_SMALLEST_PT2 = 6.0
_OFFSETS = {"pytorch": -0.2, "tensorflow": 0.2}


@style.styled
def draw(points: pd.DataFrame, plan: Mapping[str, Any]) -> Figure:
    """Four panels, training above inference, the paper's numbers on the left: a circle a model and framework.

    The height is energy, the circle's area run time, both means; the words below it are time and accuracy. Small dots
    are runs.

    Args:
        points: columns source (PUBLISHED or HERE), phase, model, framework, repetition (missing in a mean), energy_j,
            run_time_s, estimated, metric, quality.
        plan: of the study; its setting `replicates` names the paper.
    """
    title = TITLE.format(paper=plan["settings"]["replicates"])
    means = points[points["repetition"].isna()]
    if means[means["source"] == HERE].empty:
        return notes.empty(title, "No run in both frameworks counts.")
    models = list(dict.fromkeys(points["model"]))
    figure = Figure(figsize=(2.4 + 1.75 * len(models), 7.6), layout="constrained")
    grid = figure.subplots(len(_ROWS), len(_COLUMNS), squeeze=False)
    for axes_of, (phase, row) in zip(grid, _ROWS.items(), strict=True):
        for axes, (source, column) in zip(axes_of, _COLUMNS.items(), strict=True):
            axes.set_title(f"{row}, {column}")
            part = points[(points["phase"] == phase) & (points["source"] == source)]
            _panel(axes, part, models)
    figure.legend(handles=handles(NAMES, shape="o"), loc="outside right center")
    sentences = [
        "Circle: mean energy of a whole program, its area the mean run time within a panel; dots: every run.",
        "Below a circle: run time and, where it is known, accuracy, by the metric that stands with the model. "
        "The paper prints no accuracy as a number.",
    ]
    return notes.finish(figure, title, notes.estimate_words(means.loc[means["source"] == HERE, "estimated"]), sentences)


def _panel(axes: Axes, part: pd.DataFrame, models: list[str]) -> None:
    axes.set_xticks(range(len(models)), _names(part, models), rotation=20, ha="right")
    axes.set_xlim(-0.6, len(models) - 0.4)
    axes.grid(visible=False, axis="x")
    means = part[part["repetition"].isna()]
    if means.empty:
        notes.nothing(axes, "not measured")
        return
    longest_s = means["run_time_s"].max()
    for row in means.to_dict("records"):
        x, look = models.index(row["model"]) + _OFFSETS[row["framework"]], LOOKS[row["framework"]]
        area = max(_LARGEST_PT2 * row["run_time_s"] / longest_s, _SMALLEST_PT2)
        axes.scatter(x, row["energy_j"], s=area, color=look.colour, alpha=0.55, linewidths=0.8, edgecolor=look.colour)
        runs = part[
            (part["model"] == row["model"]) & (part["framework"] == row["framework"]) & part["repetition"].notna()
        ]
        axes.scatter([x] * len(runs), runs["energy_j"], s=4, color="#333333", linewidths=0, zorder=3)
        axes.annotate(
            _words(row),
            (x, row["energy_j"]),
            xytext=(0, -math.sqrt(area / math.pi) - 4),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=6,
            color=style.NOTE_COLOUR,
        )
    axes.set_ylabel("energy")
    style.scale(axes.yaxis, part["energy_j"], "J", logarithmic=style.is_wide([part["energy_j"]]))
    low, high = axes.get_ylim()
    axes.set_ylim(low / 2, high * 1.3)


def _names(part: pd.DataFrame, models: list[str]) -> list[str]:
    """Return the models, each with its metric if the panel shows accuracies."""
    known = part[part["quality"].notna()].drop_duplicates("model").set_index("model")["metric"]
    return [f"{model}\n{words_of([known[model]])}" if model in known.index else model for model in models]


def _words(row: Mapping[Any, Any]) -> str:
    """Run time, and accuracy where it is known."""
    # Of 5,670 s, `.3g` alone would make 5.67e+03.
    seconds = float(f"{row['run_time_s']:.3g}")
    time = f"{seconds:g}{style.NO_BREAK_SPACE}s"
    if pd.isna(row["quality"]):
        return time
    value = f"{100 * row['quality']:.3g}%" if METRICS[row["metric"]].is_share() else f"{row['quality']:.3g}"
    return f"{time}\n{value}"


def handles(frameworks: Iterable[str], shape: str = "") -> list[Line2D]:
    """Entries of a legend.

    Args:
        frameworks: those that are drawn.
        shape: marker of all of them; empty for each its own.
    """
    return [
        Line2D([], [], color=LOOKS[name].colour, marker=shape or LOOKS[name].marker, ms=5, ls="", label=NAMES[name])
        for name in frameworks
    ]
