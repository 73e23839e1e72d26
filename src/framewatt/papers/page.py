"""The page of the published studies: one HTML file that needs no other file and no network."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framewatt.base.spreadsheet import read_csv
from framewatt.papers import PAPERS
from framewatt.papers.contract import Paper
from framewatt.papers.printed import CUT_OFF, DEVIATES, REPRODUCED, UNKNOWN
from framewatt.papers.verdicts import (
    counts_table,
    deviating_table,
    plain_table,
    read_verdicts,
    readable,
    verdicts_table,
)
from framewatt.report import page as report_page
from framewatt.report.html import inline
from framewatt.report.page import PageFigure
from framewatt.report.tables import Table, page_table
from framewatt.tables.table import Table as StudyTable
from framewatt.tables.table import to_markdown


@dataclass(frozen=True)
class Material:
    """What there is of one study.

    Attributes:
        paper: the paper.
        verdicts: framewatt.papers.verdicts.VERDICTS_COLUMNS.
        facts: sentences on what the raw data show beyond the paper.
        tables: the tables behind them.
        figures: SVG files.
    """

    paper: Paper
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


def read_material(paper: Paper, files: Iterable[Path]) -> Material:
    """Return what there is of a paper.

    Args:
        paper: the paper.
        files: verdicts and tables (.csv) and figures (.svg) of all papers, each named `<paper>_<name>`.
    """
    begin = f"{paper.name}_"
    own = {path.name.removeprefix(begin): path for path in files if path.name.startswith(begin)}
    frames = {name: read_csv(own[f"{name}.csv"]) for name in paper.tables}
    shown = [name for name, caption in paper.tables.items() if caption and len(frames[name])]
    return Material(
        paper,
        read_verdicts(own["verdicts.csv"]),
        paper.facts(frames),
        [plain_table(f"{begin}{name}", paper.tables[name], frames[name]) for name in shown],
        [own[f"{name}.svg"] for name in paper.figures],
    )


def build_page(materials: Iterable[Material], given: Mapping[str, str]) -> str:
    """The page.

    Args:
        materials: of every study, in the order of the page.
        given: configuration key -> whether the raw results that it names are given, in words.

    Returns:
        HTML; the same material gives the same text.
    """
    materials = list(materials)
    templates = [Path(__file__).parent, Path(report_page.__file__).parent]
    folders = [(paper.config_key, paper.raw_results.holds) for paper in PAPERS.values() if paper.raw_results]
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2").render(
        lead=lead({material.paper.name: material.verdicts for material in materials}),
        given=list(given.items()),
        folders=folders,
        sections=[_section(material) for material in materials],
    )


def build_summary(materials: Iterable[Material]) -> str:
    """Return the page as Markdown, without its long tables and figures."""
    parts = []
    for material in materials:
        study, frame = material.paper.name, material.verdicts
        sentences = [*summarise(frame), *material.facts]
        parts += [f"### {study}", f"{material.paper.citation}.", "\n".join(f"- {sentence}" for sentence in sentences)]
        parts += [to_markdown(counts_table(study, frame)).rstrip(), to_markdown(deviating_table(study, frame)).rstrip()]
    return "\n\n".join(parts) + "\n"


def _section(material: Material) -> Section:
    study, verdicts = material.paper.name, material.verdicts
    shown, left_out = readable(verdicts)
    return Section(
        study,
        material.paper.citation,
        summarise(verdicts),
        replace(page_table(counts_table(study, verdicts)), source=None),
        replace(page_table(deviating_table(study, verdicts)), source=None),
        page_table(verdicts_table(study, shown)),
        left_out,
        material.facts,
        [page_table(table) for table in material.tables],
        [_figure(path) for path in material.figures],
    )


def _figure(path: Path) -> PageFigure:
    caption = path.stem.replace("_figure", ", Figure ")
    alternative = f"{caption}, drawn from the raw results; the numbers are in the tables of the same study."
    # The file is the workflow's own; whatever text is in it was escaped when matplotlib wrote it.
    svg = Markup(inline(path.read_text(encoding="utf-8"), f"svg-{path.stem}", alternative))  # noqa: S704  # see above
    return PageFigure(path.stem, caption, svg, [])


def lead(frames: dict[str, pd.DataFrame]) -> str:
    """All studies in a sentence or two."""
    every = pd.concat(frames.values())
    return f"{len(every)} published numbers of {len(frames)} studies were recounted: {_counted(every)}."


def summarise(frame: pd.DataFrame) -> list[str]:
    """Sentences that sum up the verdicts of one study."""
    sentences = [f"{len(frame)} numbers: {_counted(frame)}."]
    cut = frame["note"].fillna("").str.contains(CUT_OFF, regex=False).sum()
    if cut:
        sentences.append(f"Reproduced, but printed with the last digits cut off, not rounded: {cut}.")
    reasons = frame.loc[frame["verdict"] == UNKNOWN, "note"].value_counts()
    sentences += [f"Cannot be recomputed: {count}, since {reason}." for reason, count in reasons.items()]
    return sentences


def _counted(frame: pd.DataFrame) -> str:
    numbers = {verdict: int((frame["verdict"] == verdict).sum()) for verdict in (REPRODUCED, DEVIATES, UNKNOWN)}
    return (
        f"{numbers[REPRODUCED]} reproduced, {numbers[DEVIATES]} deviating, {numbers[UNKNOWN]} that cannot be recomputed"
    )
