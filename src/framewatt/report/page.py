"""Builds the report: one HTML page that needs no other file and no network."""

import re
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framewatt.figures import training
from framewatt.report import deploy, facts, problems, stopping, words
from framewatt.report.commands import commands_of
from framewatt.report.head import head
from framewatt.report.material import Material
from framewatt.report.meters import characterised
from framewatt.report.svg import inline
from framewatt.report.tables import Table, replication_tables, study_tables

FIGURES = {
    "energy_time": (
        "Energy against time per sample, a point a cell. Colour is accuracy, the marker says which runtime, its size "
        "which batch size. Points towards the lower left are better.",
        "Scatter plot of energy per sample against time per sample; the numbers are in the table of energy and time.",
    ),
    "energy_runtime_batch": (
        "Energy per sample by runtime, every repetition shown, with the mean and its interval.",
        "Dot plot of energy per sample by runtime and batch size; the numbers are in the table of energy and time.",
    ),
    "time_runtime_batch": (
        "Time per sample by runtime, every repetition shown, with the mean and its interval.",
        "Dot plot of time per sample by runtime and batch size; the numbers are in the table of energy and time.",
    ),
    "energy_accuracy": (
        "Energy per sample against accuracy, a point a cell, every run as a small dot. Points towards the lower right "
        "are better.",
        "Scatter plot of energy per sample against accuracy; the numbers are in the tables of energy and of accuracy.",
    ),
    "deploy": (
        "Energy per sample against the 95th percentile of a batch's latency, a point a choice, its batch size "
        "beside it. Colour is accuracy; a red ring marks the Pareto front of mean energy, latency and accuracy.",
        "Scatter plot of energy per sample against latency; the numbers are in the table of choices for deployment.",
    ),
    "power_traces": (
        "Power over one run of each runtime, at its largest batch size. Shaded: the windows of the run; what counts is "
        "steady, or the epochs.",
        "Line charts of power over time, one panel per runtime, with the windows of the run shaded.",
    ),
    "stopping": (
        "Block by block: what each choice takes over the one that takes the least in the end, and how sure that is.",
        "Line charts of ratios with intervals and of e-values over blocks; the numbers are in stopping/stopping.csv.",
    ),
    "epochs": (
        "Accuracy and energy of every epoch of training, repetitions thin and their mean thick.",
        "Line charts of accuracy and of energy over epochs; the numbers are in the table of epochs.",
    ),
    "training_series": (
        "Training over time, framework beside framework, for the combination in the middle of the study's levels.",
        "Line charts of power, and of what else was sampled, over time; vertical lines end the epochs.",
    ),
    **{
        f"training_{name}": (
            f"{levels.title}, by batch size, model, data set and framework.",
            f"Dot plot of {levels.title.lower()} by batch size, one panel per data set and model.",
        )
        for name, levels in training.FIGURES.items()
    },
}
"""Caption and alternative text of each figure, in the order of the page; other figures follow by name."""


@dataclass(frozen=True)
class PageFigure:
    """A figure of the page: its id is `figure-<name>`."""

    name: str
    caption: str
    svg: Markup


def build_report(material: Material, figures: Path, authors: Path | None = None) -> str:
    """The report as an HTML page.

    Args:
        material: all results of the study, loaded.
        figures: folder with the figures as SVG.
        authors: folder with figures drawn from the raw results of the paper that the study replicates.

    Returns:
        the page; the same material gives the same text.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("template.html.j2").render(
        plan=material.plan,
        estimate=material.estimate,
        lead=head(material),
        measured=facts.measured(material),
        machines=facts.machines(material),
        instruments=facts.instruments(material),
        meters=characterised(material),
        sampling=facts.sampling(material),
        answers=words.answers(material),
        recommendations=deploy.recommendations(material),
        stopped=stopping.told(material),
        looks=stopping.table(material),
        per=material.headline.per,
        imported=material.imported,
        commands=commands_of(material.plan, _commit(material)),
        study_file=f"config/studies/{material.plan['study']}.yaml",
        figures=_figures(figures),
        tables=study_tables(material),
        replication=replication_tables(material),
        authors_figures=_figures(authors, "authors-") if authors else [],
        paper=material.plan["settings"].get("replicates"),
        problems=problems.problem_tables(material),
        flags=problems.flag_tables(material),
        preflight=problems.preflight_table(material),
        significance=_planned(material),
        environments=_environments(material),
        identity=facts.identity(material),
        commit=_commit(material),
    )


def _figures(folder: Path, prefix: str = "") -> list[PageFigure]:
    order = list(FIGURES)
    paths = sorted(folder.glob("*.svg"), key=lambda p: (order.index(p.stem) if p.stem in order else len(order), p.stem))
    found = []
    for path in paths:
        plain = path.stem.replace("_", " ")
        caption, alternative = FIGURES.get(path.stem, (plain, plain))
        # `inline` refuses anything but a plain drawing.
        svg = Markup(inline(path.read_text(encoding="utf-8"), f"svg-{prefix}{path.stem}", alternative))  # noqa: S704  # see above
        found.append(PageFigure(f"{prefix}{path.stem}", caption, svg))
    return found


def _environments(material: Material) -> Table:
    rows = [
        [
            words.name_of(e),
            str(e["status"]),
            str(e.get("python_version") or "unknown"),
            str(e.get("lock_sha256") or "none"),
        ]
        for e in material.environments
    ]
    return Table(
        "environments", "Environments and the hashes of their locks", ["name", "status", "python", "lock"], rows
    )


def _planned(material: Material) -> str:
    """What the planned runs could show; the smallest p of a rank test is only a lower bound, and is called so."""
    told = material.plan["significance"]
    floor = " That is a floor: it is reached where every run points the same way." if "smallest_p" in told else ""
    return f"{told['sentence']}{floor}"


def _commit(material: Material) -> str | None:
    """The commit that measured, if every run names the same one and it has the form of a commit; else None."""
    found = {str((record["identity"].get("code") or {}).get("commit")) for record in material.records}
    return (
        next(iter(found)) if len(found) == 1 and all(re.fullmatch("[0-9a-f]{7,64}", name) for name in found) else None
    )
