"""The tables of a study, and their files as CSV, Markdown and LaTeX."""

from framewatt.tables.deploy import deploy
from framewatt.tables.fairness import fairness, models_of_runs
from framewatt.tables.functions import functions, functions_published
from framewatt.tables.study import (
    accuracy,
    comparisons,
    energy_time,
    export_agreement,
    failures,
)
from framewatt.tables.table import Table, to_csv, to_latex, to_markdown, write_table
from framewatt.tables.training import epochs, to_accuracy, trends

__all__ = [
    "Table",
    "accuracy",
    "comparisons",
    "deploy",
    "energy_time",
    "epochs",
    "export_agreement",
    "failures",
    "fairness",
    "functions",
    "functions_published",
    "models_of_runs",
    "to_accuracy",
    "to_csv",
    "to_latex",
    "to_markdown",
    "trends",
    "write_table",
]
