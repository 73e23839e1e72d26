"""How the numbers in the sentences of alizadeh2024 follow from its tables.

Every function takes the tables and the arguments of a row of `alizadeh2024_claims.csv`. A cell of Table 1 is named
`<model>/<batch size>/<runtime>`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from framewatt.papers.methods import outliers as tukey_outliers
from framewatt.papers.printed import Answer, NotGivenError, Recount, numbers, read_claims, read_table, recount_claims
from framewatt.papers.verdicts import verdicts
from framewatt.statistics.trends import spearman

INFERENCE = ["model", "batch_size", "runtime"]
EXECUTION_PROVIDERS = ["model", "exported_from", "execution_provider"]

ORIGINALS = {"mx2onnx": "mxnet", "tf2onnx": "tf", "torch2onnx": "torch"}
"""Runtime of a converted model -> framework that it was converted from, as the tables name them."""

EXPORTS = {original: converted for converted, original in ORIGINALS.items()}


@dataclass(frozen=True)
class Tables:
    """The tables of the paper as numbers.

    Attributes:
        inference: Table 1, index INFERENCE.
        accuracy: Table 2 in percent, index framework.
        providers: Table 3, index EXECUTION_PROVIDERS.
    """

    inference: pd.DataFrame
    accuracy: pd.DataFrame
    providers: pd.DataFrame


def cell(tables: Tables, quantity: str, of: str) -> Answer:
    """A number of Table 1 as it stands there."""
    return Answer(_cell(tables, quantity, of))


def times(tables: Tables, quantity: str, of: str, over: str) -> Answer:
    """The ratio of two numbers of Table 1."""
    return Answer(_cell(tables, quantity, of) / _cell(tables, quantity, over))


def percent_more(tables: Tables, quantity: str, of: str, than: str) -> Answer:
    """How much larger one number of Table 1 is than another, in percent of the other."""
    return Answer(100 * (_cell(tables, quantity, of) / _cell(tables, quantity, than) - 1))


def percent_less(tables: Tables, quantity: str, of: str, than: str) -> Answer:
    """How much smaller one number of Table 1 is than another, in percent of the other."""
    return Answer(100 * (1 - _cell(tables, quantity, of) / _cell(tables, quantity, than)))


def lower(tables: Tables, quantity: str, of: str, than: str) -> Answer:
    """In how many pairs of cells of Table 1 the first has the smaller number."""
    pairs = list(zip(of.split(), than.split(), strict=True))
    higher = [(a, b) for a, b in pairs if not _cell(tables, quantity, a) < _cell(tables, quantity, b)]
    return _counted(len(pairs), [f"{a} against {b}" for a, b in higher])


def converted_lower(tables: Tables, quantity: str, batch_size: str = "") -> Answer:
    """In how many rows of Table 1 the converted model has the smaller number than its original."""
    changes = _conversions(tables, quantity, batch_size)
    return _counted(len(changes), changes.index[changes >= 0].tolist())


def converted_higher(tables: Tables, quantity: str, batch_size: str = "") -> Answer:
    """In how many rows of Table 1 the converted model has the larger number than its original."""
    changes = _conversions(tables, quantity, batch_size)
    return _counted(len(changes), changes.index[changes <= 0].tolist())


def worsened(tables: Tables, quantity: str, statistic: str) -> Answer:
    """The smallest or largest rise, in percent, among the models that conversion made worse at batch size 64."""
    changes = _conversions(tables, quantity, "64")
    rises = changes[changes > 0]
    return Answer(float(rises.agg(statistic)), ", ".join(f"{name} {rise:+.1f} %" for name, rise in rises.items()))


def spearman_rho(tables: Tables, a: str, b: str) -> Answer:
    """Spearman's rho of two columns over the rows of Table 1."""
    known = _columns(tables, a, b)
    return Answer(spearman(known[a], known[b])[0], f"n = {len(known)}")


def spearman_p(tables: Tables, a: str, b: str) -> Answer:
    """Two-sided p of Spearman's rho of two columns of Table 1, by Student's t."""
    known = _columns(tables, a, b)
    return Answer(spearman(known[a], known[b])[1], f"n = {len(known)}")


def cpu_to_gpu(tables: Tables, outliers: str) -> Answer:
    """Sum of CPU energy over sum of GPU energy of Table 1, in percent; removed are Tukey's outliers of the ratio."""
    used = _columns(tables, "cpu_energy_j", "gpu_energy_j")
    ratio = used["cpu_energy_j"] / used["gpu_energy_j"]
    note = f"the mean of the {len(used)} ratios is {100 * ratio.mean():.1f} %"
    if outliers == "removed":
        removed = used.index[tukey_outliers(ratio.to_numpy())]
        used = used.drop(index=removed)
        note = "removed: " + ", ".join("/".join(key) for key in removed)
    return Answer(100 * float(used["cpu_energy_j"].sum() / used["gpu_energy_j"].sum()), note)


def accuracy_difference(tables: Tables, model: str, of: str, than: str) -> Answer:
    """Difference of two accuracies of Table 2, in percentage points."""
    return Answer(float(tables.accuracy.loc[of, model] - tables.accuracy.loc[than, model]))


def accuracy_percent_less(tables: Tables, model: str, of: str, than: str) -> Answer:
    """How much smaller one accuracy of Table 2 is than another, in percent of the other."""
    a, b = tables.accuracy.loc[of, model], tables.accuracy.loc[than, model]
    return Answer(float(100 * (1 - a / b)), f"{b - a:.2f} percentage points")


def most_accurate(tables: Tables, framework: str, models: str) -> Answer:
    """For how many models a framework has the highest accuracy of Table 2."""
    best = tables.accuracy[models.split()].idxmax()
    return _counted(len(best), [f"{m}: {best[m]}" for m in best.index if best[m] != framework])


def not_printed(tables: Tables, what: str) -> Answer:
    """Not recounted: no table prints what it follows from."""
    return Answer(None, f"{what} are not printed")


def tensorrt_lower(tables: Tables, quantity: str) -> Answer:
    """For how many exports of Table 3 TensorRT has the smaller number than CUDA."""
    by_provider = _by_provider(tables, quantity)
    difference = by_provider["TensorRT"] - by_provider["CUDA"]
    if difference.isna().any():
        raise NotGivenError(f"{quantity} of an export is unknown")
    higher = difference.index[difference >= 0].tolist()
    return _counted(len(by_provider), higher)


def tensorrt_percent(tables: Tables, quantity: str, exported_from: str, direction: str) -> Answer:
    """TensorRT's number less CUDA's (or CUDA's less TensorRT's) in Table 3, in percent of CUDA's."""
    row = _by_provider(tables, quantity).loc[exported_from]
    change = 100 * float(row["TensorRT"] / row["CUDA"] - 1)
    return Answer(change if direction == "more" else -change)


FUNCTIONS: dict[str, Callable[..., Answer]] = {
    function.__name__: function
    for function in (
        cell,
        times,
        percent_more,
        percent_less,
        lower,
        converted_lower,
        converted_higher,
        worsened,
        spearman_rho,
        spearman_p,
        cpu_to_gpu,
        accuracy_difference,
        accuracy_percent_less,
        most_accurate,
        not_printed,
        tensorrt_lower,
        tensorrt_percent,
    )
}


def _cell(tables: Tables, quantity: str, name: str) -> float:
    """A number of Table 1.

    Raises:
        KeyError: there is no such cell, or no such quantity of any.
        NotGivenError: it is unknown.
    """
    value = float(tables.inference.loc[tuple(name.split("/")), quantity])
    if math.isnan(value):
        raise NotGivenError(f"{quantity} of {name} is unknown")
    return value


def conversions(tables: Tables, batch_size: str = "") -> dict[str, str]:
    """Return the converted cells of Table 1 with an original in it, each with the name of the original.

    Args:
        tables: of the paper, or of own runs.
        batch_size: of the cells; empty takes all.
    """
    return {
        f"{model}/{batch}/{runtime}": f"{model}/{batch}/{original}"
        for model, batch, runtime in tables.inference.index
        if batch_size in ("", batch) and (model, batch, original := ORIGINALS.get(runtime)) in tables.inference.index
    }


def _conversions(tables: Tables, quantity: str, batch_size: str) -> pd.Series:
    """Change of a number by conversion, in percent of the original's, by converted cell."""
    changes = {
        converted: 100 * (_cell(tables, quantity, converted) / _cell(tables, quantity, original) - 1)
        for converted, original in conversions(tables, batch_size).items()
    }
    return pd.Series(changes, dtype="float64")


def _columns(tables: Tables, *quantities: str) -> pd.DataFrame:
    """Columns of Table 1, without the rows in which one is unknown."""
    return pd.DataFrame({name: tables.inference[name] for name in quantities}).dropna()


def _by_provider(tables: Tables, quantity: str) -> pd.DataFrame:
    return tables.providers[quantity].droplevel("model").unstack("execution_provider")


def _counted(total: int, exceptions: list[str]) -> Answer:
    """How many of a number are as claimed, and which are not."""
    note = f"not so: {', '.join(exceptions)}" if exceptions else ""
    return Answer(total - len(exceptions), note, out_of=total)


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
        framewatt.papers.verdicts.VERDICTS_COLUMNS.
    """
    tables = read_tables(resources)
    recounts = [
        *consistency("Table 1", resources),
        *consistency("Table 3", resources),
        *recount_claims(read_claims(resources / "alizadeh2024_claims.csv"), FUNCTIONS, tables),
    ]
    return verdicts(STUDY, recounts)


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
