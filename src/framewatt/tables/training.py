"""Tables of training: every epoch, trends of energy with batch size and work, cost to reach an accuracy."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of, sorted_by
from framewatt.frames.quality import metrics_in, title_of, words_of
from framewatt.statistics.to_accuracy import counted_epochs
from framewatt.study.factors import reading_order
from framewatt.tables.columns import Show, bracketed, factor_columns, marked, mean, number, table_of, text_of, times
from framewatt.tables.table import Table, significant, text

_GPU = {
    "gpu_temperature_c": ("GPU temperature (°C)", 1.0),
    "gpu_memory_used_b": ("GPU memory (GiB)", 2.0**-30),
    "gpu_utilization_percent": ("GPU utilisation (%)", 1.0),
    "gpu_memory_utilization_percent": ("GPU memory utilisation (%)", 1.0),
}


def epochs(epoch_frame: pd.DataFrame, runs: pd.DataFrame) -> Table:
    """Return a row for each training cell and epoch: means over the runs that count, as in the ITU 2023 study's table.

    Args:
        epoch_frame: the epochs frame.
        runs: the runs frame; it has which runs count.
    """
    rows, metrics = counted_epochs(epoch_frame, runs), metrics_in(epoch_frame)
    numbers = ["energy_gross_j", "duration_s", "mean_power_w", *_GPU, "loss_mean", *(metric.name for metric in metrics)]
    rows = rows.astype(dict.fromkeys(numbers, "float64"))
    factors = factors_of(epoch_frame)
    grouped = rows.groupby(["cell", *factors, "epoch"], sort=False)
    data = grouped[numbers].mean()
    data.insert(0, "n", grouped["repetition"].count())
    data.insert(1, "energy_estimated", grouped["estimated"].any())
    data["telemetry_unknown"] = grouped["telemetry_unknown"].first()
    data = sorted_by(data.reset_index(), [*reading_order(factors), "epoch"])
    shown: dict[str, Show] = factor_columns(data, factors) | {
        "Epoch": lambda r: text(r["epoch"]),
        "Runs": lambda r: text(r["n"]),
        "Energy (J)": lambda r: marked(significant(r["energy_gross_j"]), r),
        "Mean power (W)": lambda r: marked(significant(r["mean_power_w"]), r),
        "Time (s)": number("duration_s"),
        **{heading: _scaled(name, factor) for name, (heading, factor) in _GPU.items() if data[name].notna().any()},
        "Loss": number("loss_mean"),
        **{metric.title: number(metric.name) for metric in metrics},
    }
    caption = "Training epoch by epoch, means over runs"
    unknown = list(dict.fromkeys(data["telemetry_unknown"].dropna()))
    if unknown:
        caption += f"; unknown of GPUs: {'; '.join(unknown)}"
    return table_of("epochs", caption, data, shown, factors)


def trends(fitted: pd.DataFrame) -> Table:
    """Return a row for each line: the factor by which joules of an epoch change when batch size, or work, doubles.

    Args:
        fitted: the frame of `fit_trends`.
    """
    shown: dict[str, Show] = {
        "Along": lambda r: {"batch_size": "batch size", "flops_per_sample": "operations of a sample"}[r["along"]],
        "Of": text_of("group"),
        "Cells": text_of("label"),
        "Levels": text_of("n_levels"),
        "Runs": text_of("n"),
        "Energy when it doubles (times)": lambda r: _marked(_interval(r, "per_doubling"), r),
        "Exponent": lambda r: _interval(r, "exponent"),
        "R²": number("r_squared"),
        "Note": lambda r: "" if pd.isna(r["note"]) else str(r["note"]),
    }
    caption = "Energy of an epoch after the first, along batch size and operations of a sample: fitted power laws"
    return table_of("trends", caption, fitted, shown)


def to_accuracy(reached: pd.DataFrame) -> Table:
    """Return a row for each training cell and target: joules and seconds of training until the target is reached.

    Args:
        reached: the frame of `to_accuracy`.
    """
    factors = factors_of(reached)
    shown: dict[str, Show] = factor_columns(reached, factors) | {
        f"{title_of(reached['metric'])} to reach": number("target"),
        "Reached by runs": lambda r: f"{r['reached']} of {r['n']}",
        "After epochs": number("epochs"),
        "Energy (J)": lambda r: _marked(mean(r, "energy_j"), r),
        "Time (s)": lambda r: mean(r, "time_s"),
        f"Best {words_of(reached['metric'])}": number("best"),
    }
    caption = "Joules and seconds of training until the test set is answered as well; unknown where a run was not"
    return table_of("to_accuracy", caption, reached, shown, factors)


def _scaled(name: str, factor: float) -> Show:
    return lambda row: significant(times(row[name], factor))


def _interval(row: Mapping[str, Any], name: str) -> str:
    return bracketed(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _marked(shown: str, row: Mapping[str, Any]) -> str:
    return marked(shown, {**row, "energy_estimated": row["estimated"]})
