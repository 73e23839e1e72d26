"""Builds the report: one HTML page that needs no other file and no network."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from framewatt.figures.labels import point_of
from framewatt.figures.names import FIGURES, SUFFIXES
from framewatt.figures.notes import PARTLY
from framewatt.planning.plan import planned_cells
from framewatt.report.about import Citation, about, citation, commands_of, commit_of
from framewatt.report.answers import StudyAnswers, answer_study
from framewatt.report.comparison import Comparison, cell_summaries, comparison_of
from framewatt.report.deploy import Recommendation, recommend
from framewatt.report.evidence import name_of
from framewatt.report.facts import identity_facts, looks_table, measured_facts, stopping_sentences
from framewatt.report.head import Head, head_of
from framewatt.report.html import inline, page_environment
from framewatt.report.machines import (
    instruments_table,
    machine_facts,
    meters_table,
    sampling_facts,
    several_machines_sentence,
)
from framewatt.report.material import Material
from framewatt.report.numbers import Facts
from framewatt.report.problems import flag_tables, preflight_table, problem_tables
from framewatt.report.questions import Question, questions_of
from framewatt.report.tables import Table, of_table, study_tables
from framewatt.statistics.power import samples_sentence

CHOICES = "deploy"
"""Name of the table that is in a section of its own."""

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
class DeploySection:
    """What to deploy: the table of choices, and a recommendation for each workload and data set."""

    tables: Sequence[Table]
    recommendations: Sequence[Recommendation]


@dataclass(frozen=True)
class MeasuredSection:
    """What was measured, and after how many blocks the study stopped, if it has a stopping rule."""

    description: str
    facts: Facts
    stopping: Sequence[str]
    looks: Table | None


@dataclass(frozen=True)
class MachineSection:
    """The machines that measured, what holds for numbers of several, their instruments and the sampling."""

    machines: Sequence[Facts]
    of_several: str
    instruments: Table
    meters: Table | None
    sampling: Facts


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
class FindingsSection:
    """What failed or is missing, flags of numbers, findings on the machine, and what the planned runs could show."""

    problems: Sequence[Table]
    flags: Sequence[Table]
    preflight: Table
    significance: str


@dataclass(frozen=True)
class AboutSection:
    """Dates, versions and weights; how to cite the study; how to reproduce it."""

    facts: Facts
    citation: Citation
    commit: str | None
    study_file: str
    commands: Sequence[str]
    environments: Table
    identity: Facts


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
        deploy=_deploy(answers, tables),
        measured=MeasuredSection(
            plan["description"], measured_facts(material), stopping_sentences(material), looks_table(material)
        ),
        machine=_machine(material, answers),
        questions=questions_of(answers, material.parity),
        comparison=comparison_of(answers),
        figures=[figure for figure in drawn if figure not in graphs],
        tables=[table for table in tables if table.name != CHOICES],
        replication=_replication(material, authors),
        profiles=ProfilesSection([*map(of_table, material.profiles)], graphs) if material.profiles else None,
        operators=[*map(of_table, material.operators)],
        findings=FindingsSection(
            problem_tables(material), flag_tables(material), preflight_table(material), _significance(material)
        ),
        about=_about(material),
    )


def _deploy(answers: StudyAnswers, tables: Sequence[Table]) -> DeploySection | None:
    if not answers.deployments:
        return None
    return DeploySection([table for table in tables if table.name == CHOICES], [*map(recommend, answers.deployments)])


def _machine(material: Material, answers: StudyAnswers) -> MachineSection:
    return MachineSection(
        machine_facts(answers.machines, answers.sessions, merged=material.merged),
        several_machines_sentence(answers.sessions, merged=material.merged),
        instruments_table(material),
        meters_table(material),
        sampling_facts(material),
    )


def _replication(material: Material, authors: Path | None) -> ReplicationSection | None:
    if not material.replication:
        return None
    settings = material.plan["settings"]
    return ReplicationSection(
        settings.get("replicates"),
        [of_table(table, "replication") for table in material.replication],
        _figures(authors, settings, "authors-") if authors else [],
    )


def _about(material: Material) -> AboutSection:
    commit, study = commit_of(material), material.plan["study"]
    return AboutSection(
        about(material, commit),
        citation(material, commit),
        commit,
        f"config/studies/{study}.yaml",
        commands_of(material.plan, commit),
        _environments(material),
        identity_facts(material),
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


def _environments(material: Material) -> Table:
    rows = [
        [
            name_of(environment),
            str(environment["status"]),
            str(environment.get("python_version") or "unknown"),
            str(environment.get("lock_sha256") or "none"),
        ]
        for environment in material.environments
    ]
    caption = "Environments and the hashes of their locks"
    return Table("environments", caption, ["name", "status", "python", "lock"], rows)


def _significance(material: Material) -> str:
    """State what the planned runs could show; the smallest p of a rank test is only a lower bound."""
    stated = material.plan["significance"]
    floor = " That is a floor: it is reached where every run points the same way." if "smallest_p" in stated else ""
    samples = samples_sentence(planned_cells(material.plan), material.plan["settings"]["statistics"])
    return " ".join(filter(None, [f"{stated['sentence']}{floor}", samples]))
