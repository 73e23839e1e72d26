"""Own runs beside the paper that a study replicates: its tables, and a verdict for each of its claims."""

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    # Not imported at run time: the workflow needs only names of tables, and starts faster without pandas.
    from framewatt.replication.contract import Measured
    from framewatt.tables.table import Table

PAPERS = {
    "alizadeh2024": ("claims", "table1", "table2", "table3"),
    "georgiou2022": (
        "answers",
        "claims",
        "claims_of_window",
        "table2",
        "table3",
        "table4",
        "accuracies",
        "figure1",
        "caches",
    ),
    "itu2023": ("claims", "three_ways"),
}
"""Tables of each paper that a study may name under `replicates`, in the order of the page.

A paper's module in this package has `TABLES`: what makes each of them of `Measured`, by name.
"""


def names_of(paper: str | None) -> tuple[str, ...]:
    """The tables of a paper; none where a study replicates nothing."""
    return PAPERS[paper] if paper else ()


def makers(paper: str | None) -> "Mapping[str, Callable[[Measured], Table]]":
    """What makes the tables of a paper, by name."""
    if not paper:
        return {}
    module = importlib.import_module(f"framewatt.replication.{paper}")
    return cast("Mapping[str, Callable[[Measured], Table]]", module.TABLES)
