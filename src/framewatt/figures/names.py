"""The figures of a study, in the order of the report: the one place where a figure is registered.

Snakemake reads this at every start, so it imports neither pandas nor matplotlib: a module is imported when its figure
is drawn.
"""

import importlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from framewatt.figures.training_quantities import FIGURES as QUANTITIES
from framewatt.planning.jobs import detects, shows_training
from framewatt.study.factors import rate_of
from framewatt.study.stopping_rule import ENERGY, rule_of
from framewatt.study.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FRAMES = ("runs", "cells", "compared")


def always(study: object) -> bool:  # as the other conditions
    """Every study has the figure; in every study it shows energy."""
    return True


def stops(study: Study) -> bool:
    """Return whether a study has a stopping rule, by which it measures."""
    return rule_of(study.settings) is not None and study.measures


def has_load(study: Study) -> bool:
    """Return whether requests arrive at a rate in some cell of a study."""
    return any(rate_of(cell.to_dict().get("load")) is not None for cell in study.measured_cells)


def has_operator_joules(study: Study) -> bool:
    """Return whether a study records joules by operator."""
    return bool(study.settings.get("operators"))


def never(settings: Mapping[str, Any]) -> bool:  # as the other conditions
    """Nothing in the figure is energy or power."""
    return False


def shows_energy(settings: Mapping[str, Any]) -> bool:
    """Return whether the figure of the blocks shows energy: it shows what the study's stopping rule compares."""
    rule = rule_of(settings)
    return rule is not None and rule.quantity == ENERGY


@dataclass(frozen=True)
class StudyFigure:
    """A figure that is drawn of studies.

    Attributes:
        name: of its files.
        arguments: what its function is called with, in its order: names of framewatt.tables.results.Results, or
            `figure` for the figure's own name.
        caption: what the report writes below it.
        alternative: what it is to a reader who does not see it.
        exists: which studies have it; there is no figure if the study file alone shows that it would be empty.
        replication: name of the replication table that the figure is drawn from: only a study of a paper with that
            table has the figure. Empty for all other figures.
        of_energy: by the study's settings, whether it shows energy or power, which may be estimated.
        modules: of framewatt.figures; the first holds the function, and where one changes, the figure is drawn again.
            Empty stands for the module of the figure's name.
        function: its name there; it returns a matplotlib Figure.
    """

    name: str
    arguments: tuple[str, ...]
    caption: str
    alternative: str
    exists: Callable[[Study], bool] = always
    replication: str = ""
    of_energy: Callable[[Mapping[str, Any]], bool] = always
    modules: tuple[str, ...] = ()
    function: str = "draw"

    @property
    def reads(self) -> set[str]:
        """Names of the results that the figure is made from; records are read with their plan."""
        return {*self.arguments, *(["plan"] if "records" in self.arguments else [])}

    @property
    def code(self) -> list[str]:
        """Paths of the modules, from the project's folder on."""
        return [f"src/framewatt/figures/{module}.py" for module in self.modules or (self.name,)]

    def draw(self, results: Mapping[str, Any]) -> "Figure":
        """Draw the figure.

        Args:
            results: of the study, by name.
        """
        module = importlib.import_module(f"framewatt.figures.{(self.modules or (self.name,))[0]}")
        given = (self.name if name == "figure" else results[name] for name in self.arguments)
        figure: Figure = getattr(module, self.function)(*given)
        return figure


_ALL = [
    StudyFigure(
        "energy_time",
        _FRAMES,
        "Energy against time per sample, a point a cell. Colour is accuracy, or the task's metric, the marker "
        "says which runtime, its size "
        "which batch size, and both stand beside the point. Points towards the lower left are better.",
        "Scatter plot of energy per sample against time per sample; the numbers are in the table of energy and time.",
    ),
    StudyFigure(
        "energy_runtime_batch",
        _FRAMES,
        "Energy per sample by runtime, every repetition shown, with the mean and its interval.",
        "Dot plot of energy per sample by runtime and batch size; the numbers are in the table of energy and time.",
        modules=("runtime_batch",),
        function="draw_energy",
    ),
    StudyFigure(
        "time_runtime_batch",
        _FRAMES,
        "Time per sample by runtime, every repetition shown, with the mean and its interval.",
        "Dot plot of time per sample by runtime and batch size; the numbers are in the table of energy and time.",
        modules=("runtime_batch",),
        function="draw_time",
        of_energy=never,
    ),
    StudyFigure(
        "energy_accuracy",
        _FRAMES,
        "Energy per sample against accuracy, or the task's metric, a point a cell with its name, every run as a small "
        "dot.",
        "Scatter plot of energy per sample against accuracy; the numbers are in the tables of energy and of accuracy.",
    ),
    StudyFigure(
        "deploy",
        ("runs", "deploy", "compared"),
        "Energy per sample against the 95th percentile of a batch's latency, a point a choice, its name and batch "
        "size beside it. Colour is accuracy, or the task's metric; a red ring marks the Pareto front of mean energy, "
        "latency and it.",
        "Scatter plot of energy per sample against latency; the numbers are in the table of choices for deployment.",
        exists=attrgetter("may_infer"),
    ),
    StudyFigure(
        "load",
        ("runs", "statistics", "compared"),
        "Latency from arrival to answer, and energy per request, against the rate at which requests arrive, a line a "
        "choice.",
        "Line charts of latency and of energy per request over requests per second; their table is that of load.",
        exists=has_load,
    ),
    StudyFigure(
        "machines",
        ("machines", "plan"),
        "Energy of every choice over that of one, on each machine and over all of them, with intervals that hold for "
        "all choices of a group together.",
        "Points with intervals, a row a machine; the numbers are in the table of machines.",
        exists=attrgetter("has_machines"),
    ),
    StudyFigure(
        "power_traces",
        ("records", "runs", "compared"),
        "Power over one run of each runtime, at its largest batch size. Shaded: the windows of the run; what counts is "
        "steady, or the epochs.",
        "Line charts of power over time, one panel per runtime, with the windows of the run shaded.",
        function="draw_study",
    ),
    StudyFigure(
        "stopping",
        ("stopping", "plan", "runs"),
        "Block by block: what each choice takes over the one that takes the least in the end, and how sure that is.",
        "Line charts of ratios with intervals and of e-values over blocks; the numbers are in stopping/stopping.csv.",
        exists=stops,
        of_energy=shows_energy,
        function="draw_study",
    ),
    StudyFigure(
        "epochs",
        ("epochs", "runs", "compared"),
        "Accuracy and energy of every epoch of training, repetitions thin and their mean thick.",
        "Line charts of accuracy and of energy over epochs; the numbers are in the table of epochs.",
        exists=attrgetter("trains"),
    ),
    StudyFigure(
        "detections",
        ("examples",),
        "What the weights of each framework find on the first images of the test set, beside what there is: boxes with "
        "class and score, and the outlines of masks where the task has them. Two images show what kind of errors there "
        "are, not how many: that is the precision in the tables.",
        "Boxes drawn on images, a row an image and a column a framework; their numbers are in "
        "train/<model>/examples.json.",
        exists=detects,
        of_energy=never,
        modules=("detections", "boxes"),
    ),
    StudyFigure(
        "beside_paper",
        ("figure1", "plan"),
        "The paper's Figure 1, from its printed means and from these runs: energy of whole programs, run time as the "
        "area of a circle, accuracy in words.",
        "Circles of energy by model and framework, as printed on the left and here on the right; the numbers are in "
        "replication/figure1.csv.",
        replication="figure1",
    ),
    StudyFigure(
        "operators",
        ("operators",),
        "Where the joules of a step go: energy per unit of work by kind of operator, a bar a cell. What lies outside "
        "operators is white: the interpreter, the framework's own work, waiting.",
        "Stacked bars of energy per unit of work by kind of operator; the numbers are in the table of operators.",
        exists=has_operator_joules,
    ),
    StudyFigure(
        "training_series",
        ("records", "compared"),
        "Training over time, framework beside framework, for the combination in the middle of the study's levels.",
        "Line charts of power, and of what else was sampled, over time; vertical lines end the epochs.",
        exists=shows_training,
        modules=("training_series", "training"),
        function="draw_study",
    ),
    *(
        StudyFigure(
            f"training_{name}",
            ("figure", "epochs", "runs", "statistics"),
            f"{levels.title}, by batch size, model, data set and framework.",
            f"Dot plot of {levels.title.lower()} by batch size, one panel per data set and model.",
            exists=shows_training,
            of_energy=always if levels.unit else never,
            modules=("training", "training_quantities"),
            function="draw_study",
        )
        for name, levels in QUANTITIES.items()
    ),
]

FIGURES = {figure.name: figure for figure in _ALL}
"""By name."""

SUFFIXES = ("svg", "pdf", "png")
"""Formats of a figure's files."""


def figures_of(study: Study, replicated: Collection[str]) -> list[str]:
    """Return the names of the figures that a study has, in the order of the report.

    Args:
        study: the study.
        replicated: names of the tables that compare the study with its paper; empty where it replicates none.
    """
    tables = {"", *replicated}
    return [name for name, figure in FIGURES.items() if figure.exists(study) and figure.replication in tables]
