"""Builds the report: one HTML page that needs no other file and no network."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from framewatt.figures.labels import point_of
from framewatt.figures.names import FIGURES, SUFFIXES
from framewatt.figures.notes import PARTLY
from framewatt.report.about import AboutSection, about_section
from framewatt.report.answers import StudyAnswers, answer_study
from framewatt.report.comparison import Comparison, cell_summaries, comparison_of
from framewatt.report.deploy import CHOICES, DeploySection, deploy_section
from framewatt.report.facts import MeasuredSection, measured_section
from framewatt.report.head import Head, head_of
from framewatt.report.html import inline, page_environment
from framewatt.report.machines import MachineSection, machine_section
from framewatt.report.material import Material
from framewatt.report.problems import FindingsSection, findings_section
from framewatt.report.questions import Question, questions_of
from framewatt.report.tables import Table, page_table, study_tables

FILTERED_ROWS = 12
"""Rows from which a table can be filtered."""

ROWS_OF_A_PAGE = 100
"""Rows that a table shows at a time on a screen."""


@dataclass(frozen=True)
class PageFigure:
    """A figure of the page.

    Attributes:
        name: its id is `figure-<name>`.
        caption: the text below it.
        svg: the drawing.
        files: its files in the study's folder of figures.
        of_energy: whether it shows energy or power.
    """

    name: str
    caption: str
    svg: Markup
    files: Sequence[str]
    of_energy: bool = False


@dataclass(frozen=True)
class ReplicationSection:
    """The numbers of the study next to those of the paper that it replicates; figures from the authors' raw results."""

    paper: str
    tables: Sequence[Table]
    figures: Sequence[PageFigure]


@dataclass(frozen=True)
class ProfilesSection:
    """In which functions profiled runs spend their time: tables and call graphs."""

    tables: Sequence[Table]
    graphs: Sequence[PageFigure]


@dataclass(frozen=True)
class Page:
    """Everything that the page shows, in the order of its sections.

    Attributes:
        study: name of the study.
        title: its title.
        imported: whether its runs were read from files.
        per: unit of work that energy and time are given for.
        alpha_percent: rate of wrong answers, in percent.
        estimate: phrase where energies are estimated, wholly or partly; empty where all are measured.
        partly: whether they are estimated in part.
        head: the first screen.
        deploy: what to deploy; None without inference runs that count.
        measured: what was measured.
        machine: on what, and with which instruments.
        questions: the answers.
        comparison: any two choices.
        figures: of the study.
        tables: of the study.
        replication: None where the study replicates no paper.
        profiles: None without profiled runs.
        operators: joules by operator and by API.
        findings: what a reader should know about the numbers.
        about: the study as a whole.
    """

    study: str
    title: str
    imported: bool
    per: str
    alpha_percent: float
    estimate: str
    partly: bool
    head: Head
    deploy: DeploySection | None
    measured: MeasuredSection
    machine: MachineSection
    questions: Sequence[Question]
    comparison: Comparison
    figures: Sequence[PageFigure]
    tables: Sequence[Table]
    replication: ReplicationSection | None
    profiles: ProfilesSection | None
    operators: Sequence[Table]
    findings: FindingsSection
    about: AboutSection


def build_report(material: Material, figures: Path, authors: Path | None = None) -> str:
    """Build the report as an HTML page; the same material gives the same text.

    Args:
        material: all results of the study, loaded.
        figures: folder with the figures as SVG.
        authors: folder with figures drawn from the raw results of the paper that the study replicates.
    """
    page = page_of(material, answer_study(material), figures, authors)
    return (
        page_environment(Path(__file__).parent)
        .get_template("template.html.j2")
        .render(
            page=page,
            comparison=asdict(page.comparison),
            filtered_rows=FILTERED_ROWS,
            rows_of_a_page=ROWS_OF_A_PAGE,
        )
    )


def page_of(material: Material, answers: StudyAnswers, figures: Path, authors: Path | None = None) -> Page:
    """Lay out the page.

    Args:
        material: all results of the study, loaded.
        answers: computed from it.
        figures: folder with the figures as SVG.
        authors: see `build_report`.
    """
    plan, settings = material.plan, material.plan["settings"]
    summaries, tables = cell_summaries(answers), study_tables(material)
    drawn = _figures(figures, settings, titles={point_of(cell): text for cell, text in summaries.items()})
    # Call graphs of a study's own profiles are shown with its tables of functions.
    graphs = [figure for figure in drawn if material.profiles and figure.name.startswith("callgraph_")]
    return Page(
        study=plan["study"],
        title=plan["title"],
        imported=answers.imported,
        per=answers.per,
        alpha_percent=100 * settings["statistics"]["alpha"],
        estimate=answers.estimate,
        partly=answers.estimate == PARTLY,
        head=head_of(answers, summaries),
        deploy=deploy_section(answers.deployments, tables),
        measured=measured_section(material),
        machine=machine_section(material, answers.machines, answers.sessions),
        questions=questions_of(answers, material.parity),
        comparison=comparison_of(answers),
        figures=[figure for figure in drawn if figure not in graphs],
        tables=[table for table in tables if table.name != CHOICES],
        replication=_replication(material, authors),
        profiles=ProfilesSection([*map(page_table, material.profiles)], graphs) if material.profiles else None,
        operators=[*map(page_table, material.operators)],
        findings=findings_section(material),
        about=about_section(material),
    )


def _replication(material: Material, authors: Path | None) -> ReplicationSection | None:
    if not material.replication:
        return None
    settings = material.plan["settings"]
    return ReplicationSection(
        settings.get("replicates"),
        [page_table(table, "replication") for table in material.replication],
        _figures(authors, settings, "authors-") if authors else [],
    )


def _figures(
    folder: Path, settings: Mapping[str, Any], prefix: str = "", titles: Mapping[str, str] | None = None
) -> list[PageFigure]:
    """Read the figures of a folder: those of studies in their order, then others, such as call graphs, by name."""
    order = list(FIGURES)
    paths = sorted(folder.glob("*.svg"), key=lambda p: (order.index(p.stem) if p.stem in order else len(order), p.stem))
    figures = []
    for path in paths:
        plain = path.stem.replace("_", " ")
        known = FIGURES.get(path.stem)
        caption, alternative = (known.caption, known.alternative) if known else (plain, plain)
        # `inline` refuses anything but a plain drawing.
        drawn = inline(path.read_text(encoding="utf-8"), f"svg-{prefix}{path.stem}", alternative, titles)
        svg = Markup(drawn)  # noqa: S704  # see above
        files = [f"{path.stem}.{suffix}" for suffix in (SUFFIXES if known else ("svg",))]
        of_energy = known is not None and known.of_energy(settings)
        figures.append(PageFigure(f"{prefix}{path.stem}", caption, svg, files, of_energy))
    return figures
