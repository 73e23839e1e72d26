"""Tables of the page: those of the study, as in their files, and those that the report itself makes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from framewatt.report.material import Material
from framewatt.tables.fairness import models_of_runs
from framewatt.tables.names import TABLES
from framewatt.tables.table import Table as StudyTable

_LONG_ROWS = 24

_VERDICTS = ("Verdict", "Costs more", "Least energy")
"""Headings of columns that hold what a table is read for; a table has one of them at most."""

_NAMES = ("Choice", "Runtime", "Provider", "Cell A")
"""Headings of columns that name a row best, where the first column does not."""

_KEY_OF_RUNS = 2
"""The first columns of a table of runs, which name a run's folder: cell and repetition."""


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes:
        name: its id is `table-<name>`.
        caption: what it holds.
        header: names of the columns.
        rows: as shown, each as long as the header.
        numeric: names of the columns that are right-aligned.
        source: the file that holds it in full precision, below the study's results; None where there is none.
        of_runs: whether each row is a run that has a record: its first two columns are cell and repetition.
    """

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[str] = frozenset()
    source: str | None = None
    of_runs: bool = False

    @property
    def long(self) -> bool:
        """Whether the table is long enough to get a scroll box of its own on a screen."""
        return len(self.rows) > _LONG_ROWS

    @cached_property
    def same(self) -> list[tuple[str, str]]:
        """Heading and value of the columns that say the same in every row, which is shown once above the table."""
        return [(self.header[place], self.rows[0][place] or "none") for place in self._constant]

    @cached_property
    def columns(self) -> list[int]:
        """Places of the columns that rows show: what names a row, then the varying ones, the verdict last."""
        varying = sorted(set(range(len(self.header))) - set(self._constant))
        names = [place for heading in _NAMES for place in varying if self.header[place] == heading]
        return sorted(varying, key=lambda place: (place not in names[:1], place == self.verdict))

    @cached_property
    def verdict(self) -> int | None:
        """Place of the column of the verdict; None where there is none."""
        places = [place for place, name in enumerate(self.header) if name in _VERDICTS]
        return places[0] if places else None

    @cached_property
    def _constant(self) -> list[int]:
        """Places of the columns with one value; none where a single row, or nothing but equal rows, would be left."""
        if len(self.rows) < 2:
            return []
        first = _KEY_OF_RUNS if self.of_runs else 0
        places = [place for place in range(first, len(self.header)) if len({row[place] for row in self.rows}) == 1]
        return places if len(places) < len(self.header) else []


def study_tables(material: Material) -> list[Table]:
    """The study's tables, rounded as in their Markdown and LaTeX files."""
    results = _results(material)
    tables = [(entry, entry.make(results)) for entry in TABLES.values()]
    return [page_table(table) for entry, table in tables if len(table.data) or not entry.only_with_rows]


def _results(material: Material) -> dict[str, Any]:
    """The material by the names that tables are registered with (see framewatt.tables.results)."""
    return {
        **{field.name: getattr(material, field.name) for field in fields(material)},
        "deploy": material.choices,
        "costs": material.plan["settings"].get("costs", {}),
        "statistics": material.plan["settings"]["statistics"],
        "models": [*material.models, *models_of_runs(material.records, material.models)],
    }


def page_table(table: StudyTable, folder: str = "tables") -> Table:
    """Return a table of the study as the page shows it, with the name of its file below `folder`."""
    rows = [[str(value) for value in row] for row in table.shown.itertuples(index=False)]
    return Table(
        table.name, table.caption, list(table.shown.columns), rows, table.numeric, f"{folder}/{table.name}.csv"
    )
