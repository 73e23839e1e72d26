"""Georgiou et al. 2022: six models in PyTorch and TensorFlow, training and inference, ten runs each."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from framewatt.papers.contract import Paper, RawResults, Recounted, Sources

if TYPE_CHECKING:
    import pandas as pd

    from framewatt.papers.replication import Measured
    from framewatt.profiling.collection import Names
    from framewatt.tables.table import Table


class Georgiou2022(Paper):
    """Energy and run time of whole programs, with their profiles."""

    name = "georgiou2022"
    citation = (
        "S. Georgiou, M. Kechagia, T. Sharma, F. Sarro and Y. Zou: Green AI: Do Deep Learning Frameworks "
        "Have Different Costs? ICSE 2022, doi:10.1145/3510003.3510221"
    )
    raw_results = RawResults(
        "measurements_train",
        ("measurements_*", "cProfile_results"),
        ("runs", "records", "profiles"),
        compares_profiles=True,
    )
    tables: Mapping[str, str] = {
        "p_value_variants": "Which test gives the printed p: how many of all printed pairs of p and A12 ten runs a "
        "framework can give, and how many p come out of the runs that are given",
        "spearman_variants": "Table 4: Spearman's rho of energy and run time over which numbers, and how many of a "
        "framework's three printed rho it gives",
        "figure1": "The numbers behind Figure 1: mean energy (PKG + RAM + GPU) and run time",
        "outside_of_runs": "Printed means that lie outside the range of the runs that are given (J, s)",
        "medians": "TensorFlow over PyTorch by means and by medians",
        "gpu_sums": "GPU joules: the sum of one reading a second against the integral over the run",
        "spread": "The runs of every model, framework and quantity: mean with its 95 % interval, drift with the "
        "number of the run, outliers, bimodality (J, s)",
        "functions": "Functions over 1 % of a profiled run that Tables 5 to 8 leave out",
    }
    figures = ("figure1",)
    replicated = (
        "answers",
        "claims",
        "claims_of_window",
        "table2",
        "table3",
        "table4",
        "accuracies",
        "figure1",
        "caches",
    )

    def recount(self, sources: Sources) -> Recounted:
        """Recount the paper's tables and sentences from the raw results and profiles."""
        from framewatt.papers.georgiou2022 import beyond, figures
        from framewatt.papers.georgiou2022.profiles import compare_sources
        from framewatt.papers.georgiou2022.recount import printed_means, read_raw_results, recount, spearman_variants

        resources = sources.resources
        raw = read_raw_results(sources)
        compared = compare_sources(sources)
        return Recounted(
            recount(resources, raw, compared),
            {
                "p_value_variants": beyond.p_value_variants(raw, resources),
                "spearman_variants": spearman_variants(printed_means(resources), raw, resources),
                "figure1": beyond.figure1(raw),
                "outside_of_runs": beyond.outside_of_runs(raw, resources),
                "medians": beyond.medians(raw),
                "gpu_sums": beyond.gpu_sums(raw),
                "spread": beyond.spread(raw),
                "functions": beyond.left_out_functions(compared),
            },
            {"figure1": figures.draw(*beyond.total_energy(raw))},
        )

    def facts(self, tables: "Mapping[str, pd.DataFrame]") -> list[str]:
        """Return sentences on the tests, medians, GPU joules and spread of the raw results."""
        from framewatt.papers.georgiou2022.beyond import facts

        return facts(tables)

    def table_makers(self) -> "Mapping[str, Callable[[Measured], Table]]":
        """Return its tables, the answers to its questions and the verdicts on its claims."""
        from framewatt.papers.georgiou2022.own_tables import TABLES

        return TABLES

    def profile_table(
        self, functions: "pd.DataFrame", profiles: "pd.DataFrame", resources: Path, names: "Names"
    ) -> "Table":
        """Return Tables 5 to 8 next to what the authors' profiles give."""
        from framewatt.papers.georgiou2022.profiles import compare, functions_published

        return functions_published(compare(functions, profiles, resources, names))


PAPER = Georgiou2022()
