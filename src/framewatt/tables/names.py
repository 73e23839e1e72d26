"""The tables of every study, in the order of the report: the one place where a table is registered.

Snakemake reads this at every start, so it imports no pandas: a function is imported when its table is made.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framewatt.tables.table import Table


@dataclass(frozen=True)
class StudyTable:
    """A table that is made of every study.

    Attributes:
        name: of its files and of its function, which returns a Table of this name.
        module: of framewatt.tables, which holds the function.
        arguments: what the function is called with, in its order; `results.Results` has the names.
        only_with_rows: whether the report leaves the table out where it has no rows; its files are there all the same.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    only_with_rows: bool = False

    def make(self, results: Mapping[str, Any]) -> "Table":
        """Make the table.

        Args:
            results: of the study, by name.
        """
        function = getattr(importlib.import_module(f"framewatt.tables.{self.module}"), self.name)
        table: Table = function(*(results[name] for name in self.arguments))
        return table


_ALL = [
    StudyTable("energy_time", "study", ("cells",)),
    StudyTable("accuracy", "study", ("runs",)),
    StudyTable("fairness", "fairness", ("models", "exports")),
    StudyTable("parity", "parity", ("parity",), only_with_rows=True),
    StudyTable("export_agreement", "study", ("exports",)),
    StudyTable("deploy", "deploy", ("deploy", "costs")),
    StudyTable("load", "load", ("runs", "statistics"), only_with_rows=True),
    StudyTable("machines", "machines", ("machines",), only_with_rows=True),
    StudyTable("comparisons", "study", ("comparisons", "runs")),
    StudyTable("epochs", "training", ("epochs", "runs")),
    StudyTable("trends", "training", ("trends",), only_with_rows=True),
    StudyTable("to_accuracy", "training", ("to_accuracy",), only_with_rows=True),
    StudyTable("failures", "study", ("runs",)),
]

TABLES = {table.name: table for table in _ALL}
"""By name."""

SUFFIXES = ("csv", "md", "tex")
"""Formats of a table's files."""
