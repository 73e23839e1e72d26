"""Tables of the page: those of the study, as in their files, and those that the report itself makes."""

from collections.abc import Sequence
from dataclasses import dataclass

from framewatt import tables
from framewatt.report.material import Material

_LONG_ROWS = 24


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes:
        name: its id is `table-<name>`.
        caption: what it holds.
        header: names of the columns.
        rows: as shown, each as long as the header.
        numeric: names of the columns that are right-aligned.
        source: the file that holds it in full precision, or None.
    """

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[str] = frozenset()
    source: str | None = None

    @property
    def long(self) -> bool:
        """Whether the table is long enough to get a scroll box of its own on a screen."""
        return len(self.rows) > _LONG_ROWS


def study_tables(material: Material) -> list[Table]:
    """The study's tables, rounded as in their Markdown and LaTeX files."""
    made = [
        tables.energy_time(material.cells),
        tables.accuracy(material.runs),
        tables.fairness(
            [*material.models, *tables.models_of_runs(material.records, material.models)], material.exports
        ),
        tables.export_agreement(material.exports),
        tables.deploy(material.choices, material.plan["settings"].get("costs", {})),
        tables.comparisons(material.comparisons),
        tables.epochs(material.epochs, material.runs),
        *_of_training(material),
        tables.failures(material.runs),
    ]
    return [of_table(table) for table in made]


def _of_training(material: Material) -> list[tables.Table]:
    """Tables of training, which few studies have."""
    made = [tables.trends(material.trends), tables.to_accuracy(material.to_accuracy)]
    return [table for table in made if len(table.data)]


def replication_tables(material: Material) -> list[Table]:
    """The study's numbers beside those of the paper that it replicates."""
    return [of_table(table, "replication") for table in material.replication]


def of_table(table: tables.Table, folder: str = "tables") -> Table:
    """A table of a file, as it is shown there, with the name of the file."""
    rows = [[str(value) for value in row] for row in table.shown.itertuples(index=False)]
    return Table(
        table.name, table.caption, list(table.shown.columns), rows, table.numeric, f"{folder}/{table.name}.csv"
    )
