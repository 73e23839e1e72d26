"""Alizadeh and Castor 2024: no raw results are public, so its tables are compared with each other and its sentences."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from framewatt.papers.contract import Paper, Recounted, Sources

if TYPE_CHECKING:
    from framewatt.papers.replication import Measured
    from framewatt.tables.table import Table


class Alizadeh2024(Paper):
    """Original and exported models in different runtimes."""

    name = "alizadeh2024"
    citation = (
        "N. Alizadeh and F. Castor: Green AI: A Preliminary Empirical Study on Energy Consumption in DL "
        "Models Across Different Runtime Infrastructures. CAIN 2024"
    )
    replicated = ("claims", "table1", "table2", "table3")

    def recount(self, sources: Sources) -> Recounted:
        """Recount the paper's numbers from its own tables."""
        from framewatt.papers.alizadeh2024.recount import recount

        return Recounted(recount(sources.resources))

    def table_makers(self) -> "Mapping[str, Callable[[Measured], Table]]":
        """Return Tables 1 to 3 and the verdicts on its claims."""
        from framewatt.papers.alizadeh2024.own_tables import TABLES

        return TABLES


PAPER = Alizadeh2024()
