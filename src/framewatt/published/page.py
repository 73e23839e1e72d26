"""The page of the published studies: one HTML file that needs no other file and no network."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framewatt.published import words
from framewatt.published.tables import counts_table, deviating_table, readable, verdicts_table
from framewatt.report import page as report_page
from framewatt.report.html import inline
from framewatt.report.page import PageFigure
from framewatt.report.tables import Table, of_table
from framewatt.tables.table import Table as StudyTable
from framewatt.tables.table import to_markdown


@dataclass(frozen=True)
class Material:
    """What there is of one study.

    Attributes:
        study: its name.
        verdicts: framewatt.published.verdicts.VERDICTS_COLUMNS.
        facts: sentences on what the raw data show beyond the paper.
        tables: the tables behind them.
        figures: SVG files.
    """

    study: str
    verdicts: pd.DataFrame
    facts: Sequence[str]
    tables: Sequence[StudyTable]
    figures: Sequence[Path]


@dataclass(frozen=True)
class Section:
    """A study on the page."""

    study: str
    citation: str
    summary: Sequence[str]
    counts: Table
    deviating: Table
    verdicts: Table
    left_out: str
    facts: Sequence[str]
    tables: Sequence[Table]
    figures: Sequence[PageFigure]


def build_page(materials: Iterable[Material], given: Mapping[str, str]) -> str:
    """The page.

    Args:
        materials: of every study, in the order of the page.
        given: configuration key -> whether the raw results that it names are given, in words.

    Returns:
        HTML; the same material gives the same text.
    """
    materials = list(materials)
    folders = [Path(__file__).parent, Path(report_page.__file__).parent]
    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("published.html.j2").render(
        lead=words.lead({material.study: material.verdicts for material in materials}),
        given=list(given.items()),
        sections=[_section(material) for material in materials],
    )


def build_summary(materials: Iterable[Material]) -> str:
    """What the page says, without its long tables and figures, as Markdown."""
    parts = []
    for material in materials:
        study, frame = material.study, material.verdicts
        sentences = [*words.summary(frame), *material.facts]
        parts += [f"### {study}", f"{words.CITATIONS[study]}.", "\n".join(f"- {sentence}" for sentence in sentences)]
        parts += [to_markdown(counts_table(study, frame)).rstrip(), to_markdown(deviating_table(study, frame)).rstrip()]
    return "\n\n".join(parts) + "\n"


def _section(material: Material) -> Section:
    study, verdicts = material.study, material.verdicts
    shown, left_out = readable(verdicts)
    return Section(
        study,
        words.CITATIONS[study],
        words.summary(verdicts),
        replace(of_table(counts_table(study, verdicts)), source=None),
        replace(of_table(deviating_table(study, verdicts)), source=None),
        of_table(verdicts_table(study, shown)),
        left_out,
        material.facts,
        [of_table(table) for table in material.tables],
        [_figure(path) for path in material.figures],
    )


def _figure(path: Path) -> PageFigure:
    caption = path.stem.replace("_figure", ", Figure ")
    alternative = f"{caption}, drawn from the raw results; the numbers are in the tables of the same study."
    # The file is the workflow's own; whatever text is in it was escaped when matplotlib wrote it.
    svg = Markup(inline(path.read_text(encoding="utf-8"), f"svg-{path.stem}", alternative))  # noqa: S704  # see above
    return PageFigure(path.stem, caption, svg, [])
