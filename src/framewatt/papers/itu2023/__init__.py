"""Sotillos Peceroso et al. 2023 (IT University of Copenhagen): the energy of every epoch of training."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from framewatt.papers.contract import Paper, RawResults, Recounted, Sources

if TYPE_CHECKING:
    import pandas as pd

    from framewatt.papers.replication import Measured
    from framewatt.tables.table import Table


class Itu2023(Paper):
    """ResNets of three depths on three data sets, in PyTorch and TensorFlow."""

    name = "itu2023"
    citation = (
        "C. Sotillos Peceroso, Í. Ó. Sigursson and J. del Pozo Lérida: Sustainable AI: Evaluating the energy "
        "efficiency of PyTorch and TensorFlow frameworks. IT University of Copenhagen, 2023"
    )
    # The authors' repository has a second folder `experiments`, of another project without a GPU.
    raw_results = RawResults("experiments", ("experiments/gpu",), ("records", "authors"))
    tables: Mapping[str, str] = {
        "epochs_beside": "",
        "two_ways": "Energy of ten epochs in the authors' way and integrated",
        "repetitions": "The two runs of every combination of levels",
        "extremes": "Largest readings, and time behind the last epoch",
    }
    figures = ("figure1", "figure2", "figure3", "figure4", "figure5")
    replicated = ("claims", "three_ways")

    def find_authors_files(self, folder: Path) -> list[Path]:
        """Return the tables of epochs that the authors computed."""
        from framewatt.papers.itu2023.recount import authors_tables

        return authors_tables(folder)

    def recount(self, sources: Sources) -> Recounted:
        """Recount the authors' table of epochs and the sentences of the report from the raw results."""
        from framewatt.papers.itu2023 import beyond, figures
        from framewatt.papers.itu2023.epochs import all_epochs, read_runs
        from framewatt.papers.itu2023.recount import recount
        from framewatt.runs.records import record_paths

        runs = read_runs(record_paths(str(sources.records)) if sources.records else [])
        epochs = all_epochs(runs)
        return Recounted(
            recount(sources.resources, epochs, sources.authors),
            {
                "epochs_beside": beyond.compare_epochs(epochs),
                "two_ways": beyond.two_ways(epochs),
                "repetitions": beyond.repetitions(epochs),
                "extremes": beyond.extremes(runs),
            },
            {
                "figure1": figures.draw_series(runs),
                **{name: figures.draw_levels(epochs, name) for name in figures.FIGURES},
            },
        )

    def facts(self, tables: "Mapping[str, pd.DataFrame]") -> list[str]:
        """Return sentences on energy in two ways, on the spread of two runs, and on the largest readings."""
        from framewatt.papers.itu2023.beyond import facts

        return facts(tables)

    def table_makers(self) -> "Mapping[str, Callable[[Measured], Table]]":
        """Return the verdicts on its claims, alone and next to those of its authors' files."""
        from framewatt.papers.itu2023.own_tables import TABLES

        return TABLES


PAPER = Itu2023()
