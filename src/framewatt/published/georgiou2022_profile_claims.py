"""How the numbers in the sentences of georgiou2022 follow from its Tables 5 to 8 (profiles)."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from framewatt.published.printed import Answer
from framewatt.published.resources import read_table

_TABLES = {
    "5": "georgiou2022_table5_pytorch_training.csv",
    "6": "georgiou2022_table6_pytorch_inference.csv",
    "7": "georgiou2022_table7_tensorflow_training.csv",
    "8": "georgiou2022_table8_tensorflow_inference.csv",
}


def mean_cost(resources: Path, table: str, functions: str, models: str = "") -> Answer:
    """The mean over the rows of some functions of their share of the run time."""
    rows = read_table(resources / _TABLES[table])
    rows = rows[rows["function"].isin(functions.split())]
    if models:
        rows = rows[rows["model"].isin(models.split())]
    costs = rows["cost_percent"].astype("float64")
    return Answer(float(costs.mean()), "" if len(costs) == 1 else f"{len(costs)} rows")


def functions_of_type(resources: Path, type: str) -> Answer:  # the column of the tables
    """How many different functions of Tables 5 to 8 have a type."""
    rows = pd.concat([read_table(resources / name) for name in _TABLES.values()])
    names = sorted(set(rows.loc[rows["type"] == type, "function"]))
    return Answer(len(names), ", ".join(names))


FUNCTIONS: dict[str, Callable[..., Answer]] = {f.__name__: f for f in (mean_cost, functions_of_type)}
