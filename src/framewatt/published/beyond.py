"""Findings in the raw results beyond the papers: captions of the tables, and sentences on them."""

from collections.abc import Callable, Mapping

import pandas as pd

from framewatt.published import georgiou2022_beyond, itu2023_beyond

CAPTIONS: dict[str, dict[str, str]] = {
    "georgiou2022": {
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
    },
    "itu2023": {
        "two_ways": "Energy of ten epochs in the authors' way and integrated",
        "repetitions": "The two runs of every combination of levels",
        "extremes": "Largest readings, and time behind the last epoch",
    },
    "alizadeh2024": {},
}
"""Study -> table that the page shows -> caption; the file of a table is `<study>_<table>.csv`."""

FACTS: dict[str, Callable[[Mapping[str, pd.DataFrame]], list[str]]] = {
    "georgiou2022": georgiou2022_beyond.facts,
    "itu2023": itu2023_beyond.facts,
    "alizadeh2024": lambda tables: [],
}
"""Study -> sentences on its tables."""
