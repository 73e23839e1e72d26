"""The tables of a study, from its frames and statistics."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.frames import FACTORS, TOTAL
from framewatt.statistics.selection import totals
from framewatt.tables.table import MISSING, Table, significant, text, with_half_width

_ESTIMATED = " (estimated)"
"""Stands behind every number that an estimate made, so that it cannot pass for a measurement."""

_NAMES = {
    "workload": "Workload",
    "dataset": "Data set",
    "phase": "Phase",
    "runtime": "Runtime",
    "provider": "Provider",
    "batch_size": "Batch size",
    "precision": "Number format",
}

_QUALITY = {"accuracy": "Accuracy", "precision_macro": "Precision", "recall_macro": "Recall", "f1_macro": "F1"}

Show = Callable[[Mapping[str, Any]], str]


def energy_time(cells: pd.DataFrame) -> Table:
    """A row a cell: energy and time a sample, power, energy of the window, spread, accuracy.

    Args:
        cells: the frame of `summarise_cells`; `±` is half its interval of the mean.
    """
    quantities = ["energy_per_sample_j", "time_per_sample_s", "mean_power_w", "energy_gross_j", "accuracy"]
    rows = []
    for keys, part in cells.groupby(["cell", *FACTORS], sort=False):
        by_quantity = part.set_index("quantity")
        row: dict[str, Any] = dict(zip(["cell", *FACTORS], keys, strict=True))
        energy = by_quantity.loc["energy_per_sample_j"]
        row |= {"n": energy["n"], "left_out": energy["left_out"], "energy_estimated": bool(energy["estimated"])}
        for quantity in quantities:
            row |= {f"{quantity}{end}": by_quantity.loc[quantity][f"mean{end}"] for end in ("", "_low", "_high")}
        row["energy_cv_percent"] = energy["cv_percent"]
        row["energy_flags"] = energy["flags"]
        rows.append(row)
    columns = ["cell", *FACTORS, "n", "left_out", "energy_estimated"]
    columns += [f"{quantity}{end}" for quantity in quantities for end in ("", "_low", "_high")]
    data = _sorted(pd.DataFrame(rows, columns=[*columns, "energy_cv_percent", "energy_flags"]))
    shown: dict[str, Show] = _factors(data) | {
        "Runs": lambda r: text(r["n"]),
        "Energy per sample (mJ)": lambda r: _marked(_mean(r, "energy_per_sample_j", 1000), r),
        "Time per sample (ms)": lambda r: _mean(r, "time_per_sample_s", 1000),
        "Mean power (W)": lambda r: _marked(_mean(r, "mean_power_w"), r),
        "Total energy (J)": lambda r: _marked(significant(r["energy_gross_j"]), r),
        "CV of energy (%)": lambda r: significant(r["energy_cv_percent"], 2),
        "Accuracy": lambda r: significant(r["accuracy"]),
    }
    caption = "Energy and time of every cell: mean ± half the bootstrap interval of the mean"
    if data["energy_estimated"].any():
        caption += "; energy marked (estimated) was not measured"
    return _table("energy_time", caption, data, shown)


def accuracy(runs: pd.DataFrame) -> Table:
    """A row a cell: means of accuracy and of macro precision, recall and F1, lowest and highest accuracy.

    Args:
        runs: the runs frame; runs count as they do for energy.
    """
    rows = totals(runs)
    rows = rows.astype(dict.fromkeys(_QUALITY, "float64"))
    # A cell without a run that counts keeps its row, empty.
    rows[list(_QUALITY)] = rows[list(_QUALITY)].where(rows["counts"])
    grouped = rows.groupby(["cell", *FACTORS], sort=False)
    data = grouped[list(_QUALITY)].mean()
    data.insert(0, "n", grouped["accuracy"].count())
    data["accuracy_min"], data["accuracy_max"] = grouped["accuracy"].min(), grouped["accuracy"].max()
    data = _sorted(data.reset_index())
    shown: dict[str, Show] = _factors(data) | {"Runs": lambda r: text(r["n"])}
    shown |= {heading: _number(name) for name, heading in _QUALITY.items()}
    shown |= {"Lowest accuracy": _number("accuracy_min"), "Highest accuracy": _number("accuracy_max")}
    return _table("accuracy", "Accuracy of every cell, from the outputs of the measured runs", data, shown)


_EXPORT_KEYS = [
    "model",
    "framework",
    "status",
    "reason",
    "max_abs_difference",
    "equal_predictions_share",
    "samples",
    "opset",
    "checker",
]


def export_agreement(exports: Iterable[Mapping[str, Any]]) -> Table:
    """A row an exported model: whether it runs and how far its outputs are from the framework's.

    An export that failed or that the runtime rejects has its row, with the reason.

    Args:
        exports: records of the rule check_export.
    """
    data = pd.DataFrame([{key: record.get(key) for key in _EXPORT_KEYS} for record in exports], columns=_EXPORT_KEYS)
    data = data.sort_values("model", ignore_index=True)
    shown: dict[str, Show] = {
        "Model": lambda r: text(r["model"]),
        "Framework": lambda r: text(r["framework"]),
        "Status": lambda r: text(r["status"]),
        "Largest difference": lambda r: significant(r["max_abs_difference"], 2),
        "Equal predictions (%)": lambda r: significant(_times(r["equal_predictions_share"], 100)),
        "Samples": lambda r: _whole(r["samples"]),
        "Opset": lambda r: _whole(r["opset"]),
        "Checker": lambda r: text(r["checker"]),
        "Reason": lambda r: text(r["reason"]),
    }
    return _table("export_agreement", "Exported models against their source", data, shown)


def comparisons(compared: pd.DataFrame) -> Table:
    """A row a comparison, what a reader needs of it.

    Args:
        compared: the frame of `compare_cells`.
    """
    kinds = {"energy_per_sample_j": "energy per sample", "time_per_sample_s": "time per sample"}
    shown: dict[str, Show] = {
        "Quantity": lambda r: kinds[r["quantity"]] + (_ESTIMATED if r["estimated"] else ""),
        "Cell A": lambda r: text(r["cell_a"]),
        "Cell B": lambda r: text(r["cell_b"]),
        "Runs": _runs_of,
        "Ratio B/A": lambda r: _bracketed(r["ratio"], r["ratio_low"], r["ratio_high"]),
        "p": lambda r: significant(r["p"], 3),
        "Corrected p": lambda r: significant(r["p_corrected"], 3),
        "Significant": lambda r: MISSING if pd.isna(r["significant"]) else "yes" if r["significant"] else "no",
        "A12": lambda r: _bracketed(r["a12"], r["a12_low"], r["a12_high"]),
        "Magnitude": lambda r: text(r["magnitude"]),
        "Test": lambda r: text(r["test"]),
        "Flags": lambda r: text(r["flags"]) if text(r["flags"]) != MISSING else "",
    }
    return _table("comparisons", "Comparisons of cells that differ in runtime or provider only", compared, shown)


def epochs(epoch_frame: pd.DataFrame, runs: pd.DataFrame) -> Table:
    """A row a training cell and epoch: means over the runs that count.

    Args:
        epoch_frame: the epochs frame.
        runs: the runs frame, which says which runs count.
    """
    numbers = ["energy_gross_j", "duration_s", "loss_mean", *_QUALITY]
    of_total = epoch_frame[epoch_frame["domain"] == TOTAL].astype(dict.fromkeys(numbers, "float64"))
    every = totals(runs)
    of_total = of_total.merge(every.loc[every["counts"], ["cell", "repetition"]], on=["cell", "repetition"])
    of_total["estimated"] = of_total["estimated"].eq(True)
    grouped = of_total.groupby(["cell", *FACTORS, "epoch"], sort=False)
    data = grouped[numbers].mean()
    data.insert(0, "n", grouped["repetition"].count())
    data.insert(1, "energy_estimated", grouped["estimated"].any())
    data = _sorted(data.reset_index(), "epoch")
    shown: dict[str, Show] = _factors(data) | {
        "Epoch": lambda r: text(r["epoch"]),
        "Runs": lambda r: text(r["n"]),
        "Energy (J)": lambda r: _marked(significant(r["energy_gross_j"]), r),
        "Time (s)": _number("duration_s"),
        "Loss": _number("loss_mean"),
        **{heading: _number(name) for name, heading in _QUALITY.items()},
    }
    return _table("epochs", "Training epoch by epoch, means over runs", data, shown)


def failures(runs: pd.DataFrame) -> Table:
    """A row a run that does not count, with the reason; empty where every run counts.

    Args:
        runs: the runs frame.
    """
    rows = totals(runs)
    rows = rows[~rows["counts"]].sort_values(["cell", "repetition"], ignore_index=True)
    data = rows[["cell", "repetition", "status", "valid"]].assign(reason=rows["why_not"])
    shown: dict[str, Show] = {
        "Cell": lambda r: text(r["cell"]),
        "Repetition": lambda r: text(r["repetition"]),
        "Reason": lambda r: text(r["reason"]),
    }
    return _table("failures", "Runs that do not count", data, shown)


_TEXTS = {*_NAMES.values()} - {"Batch size"}
_TEXTS |= {"Model", "Framework", "Status", "Checker", "Reason", "Cell", "Cell A", "Cell B"}
_TEXTS |= {"Quantity", "Significant", "Magnitude", "Test", "Flags"}
"""Headings of columns that are aligned to the left."""


def _table(name: str, caption: str, data: pd.DataFrame, columns: Mapping[str, Show]) -> Table:
    records: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in data.to_dict("records")]
    shown = pd.DataFrame([{heading: show(row) for heading, show in columns.items()} for row in records])
    shown = shown.reindex(columns=list(columns))
    return Table(name, caption, data, shown, frozenset(set(columns) - _TEXTS))


def _sorted(data: pd.DataFrame, *last: str) -> pd.DataFrame:
    """Rows by training before inference, then the factors as a reader looks them up."""
    keys = ["phase", "workload", "dataset", "batch_size", "precision", "runtime", "provider", *last]
    return data.sort_values(
        keys,
        kind="stable",
        ignore_index=True,
        key=lambda column: column.map({"train": 0, "infer": 1}) if column.name == "phase" else column,
    )


def _factors(data: pd.DataFrame) -> dict[str, Show]:
    """Columns of the factors; number format only where the study varies it."""
    names = [name for name in _NAMES if name != "precision" or data["precision"].nunique() > 1]
    return {_NAMES[name]: _text_of(name) for name in names}


def _text_of(name: str) -> Show:
    return lambda row: text(row[name])


def _number(name: str) -> Show:
    return lambda row: significant(row[name])


def _mean(row: Mapping[str, Any], name: str, factor: float = 1) -> str:
    return with_half_width(*(_times(row[f"{name}{end}"], factor) for end in ("", "_low", "_high")))


def _marked(number: str, row: Mapping[str, Any]) -> str:
    return number + _ESTIMATED if row["energy_estimated"] and number != MISSING else number


def _times(value: Any, factor: float) -> float | None:
    return None if value is None or pd.isna(value) else value * factor


def _whole(value: Any) -> str:
    return MISSING if value is None or pd.isna(value) else str(int(value))


def _bracketed(value: Any, low: Any, high: Any) -> str:
    if pd.isna(low) or pd.isna(high):
        return significant(value, 3)
    return f"{significant(value, 3)} [{significant(low, 3)}, {significant(high, 3)}]"


def _runs_of(row: Mapping[str, Any]) -> str:
    return _whole(row["n_pairs"]) + " pairs" if not pd.isna(row["n_pairs"]) else f"{row['n_a']}, {row['n_b']}"
