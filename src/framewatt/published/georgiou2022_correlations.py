"""Table 4 of georgiou2022: Spearman's rho of energy and run time, and which numbers reproduce it."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import FRAMEWORKS, PHASES, QUANTITIES, require
from framewatt.published.printed import REPRODUCED, Answer, judge
from framewatt.published.resources import NotGivenError, read_table
from framewatt.published.verdicts import Recount
from framewatt.statistics.trends import spearman

VARIANTS_COLUMNS = ["numbers", "framework", "values", "rho_pkg", "rho_ram", "rho_gpu", "reproduced", "printed"]
"""Columns of the variants: over which numbers rho was taken, how many `values` they are, and how many of the
framework's `printed` rho come out."""


def recount_correlations(printed: pd.DataFrame, raw: pd.DataFrame, resources: Path) -> Iterator[Recount]:
    """Table 4 from the means of training: as Table 2 prints them, and from the raw results.

    Args:
        printed: means, see framewatt.published.georgiou2022_claims.MEANS_COLUMNS.
        raw: means of the raw results.
        resources: folder of the published tables.
    """
    for row in printed_rho(resources).to_dict("records"):
        for framework in FRAMEWORKS:
            for basis, means in (("printed means", printed), ("raw results", raw)):
                yield Recount(
                    "Table 4",
                    row["pair"],
                    f"{NAMES[framework]}, from the {basis}",
                    row[f"{framework}_rho"],
                    "rho",
                    _rho_of_training(means, framework, row["quantity"]),
                    "Spearman's rho over the training means of the six models",
                )


def spearman_variants(printed: pd.DataFrame, raw: pd.DataFrame, resources: Path) -> pd.DataFrame:
    """How many of the printed rho every choice of numbers gives.

    Args:
        printed: means, as above.
        raw: one row per run, see framewatt.published.georgiou2022_tables.RAW_COLUMNS.
        resources: folder of the published tables.

    Returns:
        VARIANTS_COLUMNS, one row per choice and framework; raw results that are not given have none.
    """
    table = printed_rho(resources)
    rows = []
    for framework in FRAMEWORKS:
        as_printed = dict(zip(table["quantity"], table[f"{framework}_rho"], strict=True))
        choices = {**_of_printed(printed, framework), **_of_runs(raw[raw["framework"] == framework])}
        for name, numbers in choices.items():
            rho = {quantity: spearman(numbers[quantity], numbers["run_time"])[0] for quantity in as_printed}
            hits = sum(judge(Answer(rho[quantity]), text)[0] == REPRODUCED for quantity, text in as_printed.items())
            rows.append([name, NAMES[framework], len(numbers), *rho.values(), hits, len(as_printed)])
    return pd.DataFrame(rows, columns=VARIANTS_COLUMNS)


def printed_rho(resources: Path) -> pd.DataFrame:
    """Table 4 as it is printed: columns pair, pytorch_rho, tensorflow_rho (text), quantity."""
    table = read_table(resources / "georgiou2022_table4_spearman.csv")
    return table.assign(quantity=table["pair"].str.split().str[0].str.lower() + "_energy")


def _of_printed(means: pd.DataFrame, framework: str) -> dict[str, pd.DataFrame]:
    """Printed means by model: of either phase, their sums, and both phases together."""
    training, inference = (means.xs(phase)[framework].unstack("quantity") for phase in PHASES)
    return {
        "printed means, training": training,
        "printed means, inference": inference,
        "printed means, training + inference": training + inference,
        "printed means, both phases": pd.concat([training, inference]),
    }


def _of_runs(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Raw results of either phase: means and medians by model, and all runs."""
    found = {}
    for phase, name in PHASES.items():
        given = runs[runs["phase"] == phase]
        if len(given):
            by_model = given.groupby("model")[list(QUANTITIES)]
            found[f"raw results, {name}, means"] = by_model.mean()
            found[f"raw results, {name}, medians"] = by_model.median()
            found[f"raw results, {name}, all runs"] = given
    return found


def _rho_of_training(means: pd.DataFrame, framework: str, quantity: str) -> Answer:
    try:
        require(means, means.loc[["train"]].index)
    except NotGivenError as missing:
        return Answer(None, str(missing))
    training = means.xs("train")[framework].unstack("quantity")
    rho, p = spearman(training[quantity], training["run_time"])
    return Answer(rho, f"n = {len(training)}, exact p = {p:.2g}" if p is not None else "no rho")
