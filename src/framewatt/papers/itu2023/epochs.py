"""Epochs of itu2023: computed as its authors did, and as framewatt does."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.figures.power_traces import TracedRun
from framewatt.runs.records import read_run

FACTORS = ["batch_size", "framework", "dataset", "model"]
KEYS = ["epoch_number", *FACTORS]

GAUGES = {
    "power": "power_w",
    "temp": "temperature_c",
    "mem_used": "memory_used_b",
    "gpu_util": "utilization_percent",
    "mem_util": "memory_utilization_percent",
}
"""Column of the authors' file -> quantity of a trace."""

METRICS = {"precision": "precision_macro", "recall": "recall_macro", "accuracy": "accuracy", "f1": "f1_macro"}
"""Column of the authors' file -> metric of a record."""

UNITS = {"power": "W", "temp": "°C", "mem_used": "MiB", "gpu_util": "%", "mem_util": "%", "total_time": "s"}
UNITS |= dict.fromkeys(METRICS, "share") | {"energy": "J"}
"""Column of the authors' file -> its unit."""

DIGITS = 3
"""Digits behind the point to which the authors rounded everything."""

_ROUNDED_FIRST = ["precision", "recall", "f1"]
"""Metrics that the authors' numbers fit only where each run's value is rounded before the runs are averaged."""

_NOISE = 1e-9
"""Floating-point error of a mean: a mean that is this close to a rounding tie may be rounded up or down."""

_MIB = 2.0**20


def epochs_of(run: TracedRun) -> pd.DataFrame:
    """Every epoch of a run, as the authors computed it and as framewatt does.

    The authors date an epoch by the whole second in which the training script wrote its line. The first begins with the
    first reading of nvidia-smi, before the script loads anything; readings behind the last line belong to none. An
    epoch's gauges are the plain means of the readings in it.

    Args:
        run: with windows `epoch-1`, `epoch-2`, … and the trace of one GPU.

    Returns:
        KEYS, repetition, GAUGES, total_time, METRICS, and framewatt's `energy_integrated` (joules, edges interpolated)
        with its window's `energy_time` (seconds).

    Raises:
        FramewattError: the trace lacks a quantity of GAUGES.
    """
    record = run.record
    ends_ns = [record["windows"][f"epoch-{epoch['epoch']}"]["end_monotonic_ns"] for epoch in record["epochs"]]
    time_ns, readings = _readings(run)
    edges_ns = np.array([time_ns[0], *ends_ns])
    # Readings carry milliseconds and ends of epochs none, so that no reading is at an end.
    epoch = np.searchsorted(edges_ns[1:], time_ns, side="left")
    means = readings.groupby(epoch).mean().reindex(range(len(ends_ns)))
    frame = means.assign(
        **{name: record["cell"][name] for name in FACTORS},
        epoch_number=[epoch["epoch"] for epoch in record["epochs"]],
        repetition=record["repetition"],
        total_time=np.diff(edges_ns) * 1e-9,
        **{
            column: [
                epoch["quality"][name]["value"] if name in epoch["quality"] else None for epoch in record["epochs"]
            ]
            for column, name in METRICS.items()
        },
        **_integrated(record),
    )
    return frame.reset_index(drop=True).astype(dict.fromkeys([*METRICS, "energy_integrated"], "float64"))


def as_published(epochs: pd.DataFrame) -> pd.DataFrame:
    """The authors' table: means over the runs, and joules as rounded mean power times rounded mean time.

    Args:
        epochs: of all runs, see `epochs_of`.

    Returns:
        index KEYS; `runs`, GAUGES, total_time, METRICS before their last rounding, and energy with the least and
        largest value that ties leave it.
    """
    rounded = epochs.copy()
    rounded[_ROUNDED_FIRST] = rounded[_ROUNDED_FIRST].round(DIGITS)
    grouped = rounded.groupby(KEYS)
    columns = [*GAUGES, "total_time", *METRICS]
    table = grouped[columns].mean()
    for name, noise in (("energy", 0.0), ("energy_low", -_NOISE), ("energy_high", _NOISE)):
        power, time = ((table[column] + noise).round(DIGITS) for column in ("power", "total_time"))
        table[name] = power * time
    table.insert(0, "runs", grouped.size())
    return table


def all_epochs(runs: Iterable[TracedRun]) -> pd.DataFrame:
    """The epochs of every run that has some."""
    parts = [epochs_of(run) for run in runs if run.record["epochs"]]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)


_COLUMNS = [*GAUGES, *FACTORS, "epoch_number", "repetition", "total_time", *METRICS, "energy_integrated", "energy_time"]


def _readings(run: TracedRun) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Times of the readings, and one column per gauge."""
    of = {str(quantity): part for quantity, part in run.power.groupby("quantity", observed=True)}
    missing = [quantity for quantity in GAUGES.values() if quantity not in of]
    if missing:
        raise FramewattError(
            f"{run.record['cell_id']}: its trace has {', '.join(of)}, but not {', '.join(missing)}. Import logs of "
            "nvidia-smi with all quantities."
        )
    # A line of nvidia-smi holds every quantity, so that all have the times of power.
    readings = pd.DataFrame({name: of[quantity]["value"].to_numpy() for name, quantity in GAUGES.items()})
    readings["mem_used"] /= _MIB
    return of[GAUGES["power"]]["monotonic_ns"].to_numpy(), readings


def _integrated(record: Mapping[str, Any]) -> dict[str, list[float | None]]:
    windows = [record["windows"][f"epoch-{epoch['epoch']}"] for epoch in record["epochs"]]
    gpu = [next(window["domains"][name] for name in window["domains"] if name.startswith("gpu")) for window in windows]
    return {
        "energy_integrated": [energy["energy_gross_j"] for energy in gpu],
        "energy_time": [window["duration_s"] for window in windows],
    }


def read_runs(paths: Iterable[Path]) -> list[TracedRun]:
    """The runs that could be imported, with their traces.

    Args:
        paths: run records, each in one folder with its power.parquet.
    """
    records = [(read_run(path), path) for path in paths]
    return [
        TracedRun({**record, "cell": authors_levels(record["cell"])}, pd.read_parquet(path.with_name("power.parquet")))
        for record, path in records
        if record["status"] == "ok"
    ]


def authors_levels(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The levels of a cell as in the names of the authors' files: `resnet50`, `pytorch`, 32."""
    return {
        "batch_size": int(cell["batch_size"]),
        "framework": str(cell["framework"]).lower(),
        "dataset": str(cell["dataset"]),
        "model": str(cell["workload"]).lower().replace("-", ""),
    }
