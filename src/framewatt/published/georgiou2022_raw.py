"""georgiou2022's raw results, as the workflow imported them, in the words of the paper."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from framewatt.frames.totals import TOTAL
from framewatt.published.georgiou2022_tables import RAW_COLUMNS

GPU = "gpu:0"

_DOMAINS = {"pkg_energy": "cpu:package", "ram_energy": "cpu:dram"}
_RUN = ["cell", "repetition"]
_READING_S = 1.0
"""Seconds that the authors let every reading of nvidia-smi stand for."""


def raw_results(runs: pd.DataFrame, watts: pd.DataFrame, models: Iterable[str]) -> pd.DataFrame:
    """The raw results as the paper's tables take them.

    Args:
        runs: the runs frame of the imported study, factors workload, framework and phase.
        watts: see `sums_of_watts`.
        models: names of the models in the paper's tables; a workload is the model whose letters and digits it has.

    Returns:
        RAW_COLUMNS and gpu_integral, one row per run with what is known of it, in the order of the models.
    """
    by_letters = {_letters(model): model for model in models}
    ok = runs[runs["status"] == "ok"]
    energy = ok[ok["domain"] != TOTAL].pivot(index=_RUN, columns="domain", values="energy_gross_j")
    heads = ok[ok["domain"] == TOTAL].set_index(_RUN)
    raw = pd.DataFrame(
        {
            "phase": heads["phase"],
            "model": heads["workload"].map(lambda name: by_letters.get(_letters(name), name)),
            "framework": heads["framework"].str.lower(),
            **{name: energy.get(domain) for name, domain in _DOMAINS.items()},
            "gpu_energy": watts.set_index(_RUN)["gpu_energy"],
            "gpu_integral": energy.get(GPU),
            "run_time": heads["duration_s"],
        },
        index=heads.index,
    )
    raw = raw.reset_index("repetition").reset_index(drop=True)[[*RAW_COLUMNS, "gpu_integral"]]
    place = {model: number for number, model in enumerate(by_letters.values())}
    raw = raw.sort_values("model", kind="stable", ignore_index=True, key=lambda names: names.map(place))
    return raw.astype(dict.fromkeys(raw.columns[4:], "float64"))


def no_raw_results() -> pd.DataFrame:
    """The raw results where none are given."""
    return pd.DataFrame(columns=[*RAW_COLUMNS, "gpu_integral"])


def sums_of_watts(records: Iterable[Mapping[str, Any]], traces: Iterable[Path]) -> pd.DataFrame:
    """The authors' GPU joules of every run: the plain sum of its readings, each standing for one second.

    Args:
        records: run records.
        traces: their power.parquet, in the same order.

    Returns:
        Columns cell, repetition, gpu_energy (joules).
    """
    rows = []
    for record, path in zip(records, traces, strict=True):
        if record["status"] == "ok":
            trace = pq.read_table(path, columns=["domain", "quantity", "value"])
            gpu = (trace["domain"].to_numpy() == GPU) & (trace["quantity"].to_numpy() == "power_w")
            joules = float(np.nansum(trace["value"].to_numpy()[gpu])) * _READING_S
            rows.append((record["cell_id"], record["repetition"], joules if gpu.any() else None))
    return pd.DataFrame(rows, columns=[*_RUN, "gpu_energy"])


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
