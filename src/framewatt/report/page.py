"""Builds the report: one HTML page that needs no other file and no network."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framewatt.figures.labels import point_of
from framewatt.figures.names import FIGURES, SUFFIXES
from framewatt.figures.notes import PARTLY
from framewatt.planning.plan import planned_cells
from framewatt.report import deploy, facts, problems, stopping, words
from framewatt.report.about import about, citation
from framewatt.report.beside import cell_summaries, side_by_side
from framewatt.report.commands import commands_of
from framewatt.report.head import head
from framewatt.report.material import Material
from framewatt.report.meters import characterised
from framewatt.report.svg import inline
from framewatt.report.tables import Table, operator_tables, profile_tables, replication_tables, study_tables
from framewatt.statistics.power import samples_sentence

CHOICES = "deploy"
"""Name of the table that stands in a section of its own."""


FILTERED_ROWS = 12
"""Rows from which a table can be filtered."""

ROWS_OF_A_PAGE = 100
"""Rows that a table shows at a time on a screen."""


@dataclass(frozen=True)
class PageFigure:
    """A figure of the page.

    Attributes:
        name: its id is `figure-<name>`.
        caption: what stands below it.
        svg: the drawing.
        files: its files in the study's folder of figures.
        of_energy: whether it shows energy or power.
    """

    name: str
    caption: str
    svg: Markup
    files: list[str]
    of_energy: bool = False


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
    tables, commit = study_tables(material), _commit(material)
    titles = {point_of(cell): text for cell, text in cell_summaries(material).items()}
    drawn = _figures(figures, material.plan["settings"], titles=titles)
    # Of a study's own profiles they stand with its tables of functions.
    graphs = [figure for figure in drawn if material.profiles and figure.name.startswith("callgraph_")]
    return environment.get_template("template.html.j2").render(
        plan=material.plan,
        estimate=material.estimate,
        partly=material.estimate == PARTLY,
        head=head(material),
        measured=facts.measured(material),
        machines=facts.machines(material),
        of_several_machines=facts.compared_machines(material),
        instruments=facts.instruments(material),
        meters=characterised(material),
        sampling=facts.sampling(material),
        answers=words.answers(material),
        recommendations=deploy.recommendations(material),
        stopped=stopping.stopping_sentences(material),
        looks=stopping.table(material),
        per=material.headline.per,
        imported=material.imported,
        beside=side_by_side(material),
        about=about(material, commit),
        citation=citation(material, commit),
        commands=commands_of(material.plan, commit),
        study_file=f"config/studies/{material.plan['study']}.yaml",
        figures=[figure for figure in drawn if figure not in graphs],
        graphs=graphs,
        tables=[table for table in tables if table.name != CHOICES],
        filtered_rows=FILTERED_ROWS,
        rows_of_a_page=ROWS_OF_A_PAGE,
        choices=[table for table in tables if table.name == CHOICES],
        replication=replication_tables(material),
        profiles=profile_tables(material),
        operators=operator_tables(material),
        authors_figures=_figures(authors, material.plan["settings"], "authors-") if authors else [],
        paper=material.plan["settings"].get("replicates"),
        problems=problems.problem_tables(material),
        flags=problems.flag_tables(material),
        preflight=problems.preflight_table(material),
        significance=_planned(material),
        environments=_environments(material),
        identity=facts.identity(material),
        commit=commit,
    )


def _figures(
    folder: Path, settings: Mapping[str, Any], prefix: str = "", titles: Mapping[str, str] | None = None
) -> list[PageFigure]:
    """The figures of a folder: those of studies in their order, then others, such as call graphs, by name."""
    order = list(FIGURES)
    paths = sorted(folder.glob("*.svg"), key=lambda p: (order.index(p.stem) if p.stem in order else len(order), p.stem))
    found = []
    for path in paths:
        plain = path.stem.replace("_", " ")
        known = FIGURES.get(path.stem)
        caption, alternative = (known.caption, known.alternative) if known else (plain, plain)
        # `inline` refuses anything but a plain drawing.
        drawn = inline(path.read_text(encoding="utf-8"), f"svg-{prefix}{path.stem}", alternative, titles)
        svg = Markup(drawn)  # noqa: S704  # see above
        files = [f"{path.stem}.{suffix}" for suffix in (SUFFIXES if known else ("svg",))]
        of_energy = known is not None and known.of_energy(settings)
        found.append(PageFigure(f"{prefix}{path.stem}", caption, svg, files, of_energy))
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
    samples = samples_sentence(planned_cells(material.plan), material.plan["settings"]["statistics"])
    return " ".join(filter(None, [f"{told['sentence']}{floor}", samples]))


def _commit(material: Material) -> str | None:
    """The commit that measured, if every run names the same one and it has the form of a commit; else None."""
    found = {str((record["identity"].get("code") or {}).get("commit")) for record in material.records}
    return (
        next(iter(found)) if len(found) == 1 and all(re.fullmatch("[0-9a-f]{7,64}", name) for name in found) else None
    )
