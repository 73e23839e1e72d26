"""alizadeh2024: no raw data is public, so its printed tables are compared with each other and with its sentences."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from framewatt.published import alizadeh2024_claims as claims
from framewatt.published.alizadeh2024_claims import EXECUTION_PROVIDERS, INFERENCE, Tables
from framewatt.published.printed import Answer
from framewatt.published.resources import numbers, read_claims, read_table, recount_claims
from framewatt.published.verdicts import Recount, verdicts

STUDY = "alizadeh2024"

_DECIMALS = 2
"""Digits behind the point of the printed tables, which drop trailing zeros: 1136 is 1136.00."""

_HALF = 0.5 * 10**-_DECIMALS

_FILES = {
    "Table 1": ("alizadeh2024_table1_inference.csv", INFERENCE),
    "Table 3": ("alizadeh2024_table3_execution_providers.csv", EXECUTION_PROVIDERS),
}


def recount(resources: Path) -> pd.DataFrame:
    """The verdicts of alizadeh2024.

    Args:
        resources: folder of the published tables and claims.

    Returns:
        framewatt.published.verdicts.VERDICTS_COLUMNS.
    """
    tables = read_tables(resources)
    found = [
        *consistency("Table 1", resources),
        *consistency("Table 3", resources),
        *recount_claims(read_claims(resources / "alizadeh2024_claims.csv"), claims.FUNCTIONS, tables),
    ]
    return verdicts(STUDY, found)


def read_tables(resources: Path) -> Tables:
    """The three tables as numbers."""
    inference, providers = (numbers(read_table(resources / name), keys) for name, keys in _FILES.values())
    accuracy = numbers(read_table(resources / "alizadeh2024_table2_accuracy.csv"), ["framework"])
    return Tables(inference, accuracy, providers)


def consistency(table: str, resources: Path) -> Iterator[Recount]:
    """Two columns of every row, each recounted from the others: total = GPU + CPU, GPU energy = power x time.

    Both follow from rounded numbers, so each carries the range that their rounding allows.

    Args:
        table: `Table 1` or `Table 3`.
        resources: folder of the published tables.
    """
    name, keys = _FILES[table]
    printed = read_table(resources / name).set_index(keys)
    for key, row in printed.iterrows():
        label = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
        number = row.astype("float64")
        yield Recount(
            table,
            label,
            "total energy",
            row["total_energy_j"],
            "J",
            _sum(number["gpu_energy_j"], number["cpu_energy_j"]),
            "printed GPU energy + printed CPU energy",
            _DECIMALS,
        )
        yield Recount(
            table,
            label,
            "GPU energy",
            row["gpu_energy_j"],
            "J",
            _product(number["gpu_power_w"], number["inference_time_s"]),
            "printed GPU power x printed inference time",
            _DECIMALS,
        )


def _sum(a: float, b: float) -> Answer:
    return Answer(a + b, low=a + b - 2 * _HALF, high=a + b + 2 * _HALF)


def _product(a: float, b: float) -> Answer:
    return Answer(a * b, low=(a - _HALF) * (b - _HALF), high=(a + _HALF) * (b + _HALF))
