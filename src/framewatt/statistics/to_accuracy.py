"""Joules and seconds of training until a network is as good as a target: by accuracy, or its task's metric."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.factor_words import factors_of, label, phrase, sorted_by
from framewatt.frames.quality import is_higher_better, with_quality
from framewatt.frames.totals import TOTAL
from framewatt.statistics.effect_size import mean_interval
from framewatt.statistics.selection import totals
from framewatt.study.factors import reading_order
from framewatt.tasks import METRICS

LABEL = "label"
"""Column with the levels of the compared factors, and of every other factor that is not one of PANELS."""

PANELS = ("dataset", "workload", "batch_size")
"""Factors with panels or axes of their own; a study that lacks one is treated as having a single level of it."""

_NUMBERS = [
    *("energy_gross_j", "duration_s", "mean_power_w", "gpu_utilization_percent"),
    *("gpu_memory_utilization_percent", "gpu_memory_used_b", "gpu_temperature_c", "flops_per_sample"),
]


def counted_epochs(epochs: pd.DataFrame, runs: pd.DataFrame, domain: str = TOTAL) -> pd.DataFrame:
    """The epochs of the runs that count, in one domain, with numeric columns, `metric` and `quality`.

    Args:
        epochs: the epochs frame.
        runs: the runs frame.
        domain: `total` or a meter's.
    """
    every = totals(runs)
    rows = epochs[epochs["domain"] == domain].merge(
        every.loc[every["counts"], ["cell", "repetition"]], on=["cell", "repetition"]
    )
    rows[_NUMBERS] = rows[_NUMBERS].apply(pd.to_numeric, errors="coerce").astype("float64")
    rows["estimated"] = rows["estimated"].eq(True)
    rows = with_quality(rows)
    return rows.sort_values(["cell", "repetition", "epoch"], ignore_index=True)


def gpu_or_total(epochs: pd.DataFrame) -> str:
    """The domain that papers report: the GPU where every run has exactly one, else the total."""
    gpus = epochs.loc[epochs["domain"].astype(str).str.startswith("gpu:"), ["cell", "repetition", "domain"]]
    gpus = gpus.drop_duplicates()
    every = epochs[["cell", "repetition"]].drop_duplicates()
    return str(gpus["domain"].iloc[0]) if len(gpus) == len(every) and gpus["domain"].nunique() == 1 else TOTAL


def labelled(rows: pd.DataFrame, compared: Sequence[str]) -> pd.DataFrame:
    """Add LABEL and every factor of PANELS to a frame; a factor that the study lacks is empty, a batch size 1."""
    factors = factors_of(rows)
    varied = [name for name in factors if name not in (*PANELS, *compared) and rows[name].nunique() > 1]
    names = [
        " ".join(filter(None, [label(levels, compared), phrase(levels, varied)]))
        for levels in rows[factors].astype(object).to_dict("records")
    ]
    absent = {name: 1 if name == "batch_size" else "" for name in PANELS if name not in factors}
    return rows.assign(**{LABEL: names}, **absent)


_COLUMNS = [
    "target",
    "n",
    "reached",
    "metric",
    "best",
    "epochs",
    "energy_j",
    "energy_j_low",
    "energy_j_high",
    "time_s",
    "time_s_low",
    "time_s_high",
    "estimated",
    "note",
]
"""Columns after cell and the factors: of `n` runs that count, `reached` is the number that reached `target` (a value
of `metric`), after `epochs` on average, for `energy_j` and `time_s`, which are missing unless all runs did; `note`
is the reason."""


def to_accuracy(epochs: pd.DataFrame, runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Energy and time of the epochs up to the first after which the primary metric is as good as a target, or better.

    It is known after whole epochs only, and the cost of evaluating it is not included. Where some run never
    reaches the target, no mean is given, since that of the others would be biased.

    Args:
        epochs: the epochs frame.
        runs: the runs frame, which marks the runs that count.
        settings: the study's `statistics`: accuracy_targets, confidence.

    Returns:
        cell, the factors, and _COLUMNS; one row per training cell and target, targets ascending.
    """
    factors = factors_of(epochs)
    counted = counted_epochs(epochs, runs)
    rows = [
        {**dict(zip(["cell", *factors], keys, strict=True)), **_cell(part, target, settings)}
        for keys, part in counted.groupby(["cell", *factors], sort=False)
        for target in sorted(settings["accuracy_targets"])
    ]
    frame = pd.DataFrame(rows, columns=["cell", *factors, *_COLUMNS])
    return sorted_by(frame, [*reading_order(factors), "target"]) if rows else frame


def _cell(part: pd.DataFrame, target: float, settings: Mapping[str, Any]) -> dict[str, Any]:
    metric = part["metric"].iloc[0]
    higher = is_higher_better(metric)
    arrivals = [_arrival(run.sort_values("epoch"), target, higher=higher) for _, run in part.groupby("repetition")]
    there = [arrival for arrival in arrivals if arrival is not None]
    row: dict[str, Any] = {
        "target": target,
        "n": len(arrivals),
        "reached": len(there),
        "metric": metric,
        "best": part["quality"].max() if higher else part["quality"].min(),
        "estimated": bool(part["estimated"].any()),
        "note": "" if len(there) == len(arrivals) else f"{len(there)} of {len(arrivals)} runs reached it",
    }
    if not METRICS[metric].is_possible(target):
        return row | {"note": f"no value of {METRICS[metric].words} is {target:g}"}
    if len(there) < len(arrivals):
        return row
    row["epochs"] = float(np.mean([epoch for epoch, _, _ in there]))
    for place, name in ((1, "energy_j"), (2, "time_s")):
        values = np.array([arrival[place] for arrival in there])
        interval = mean_interval(values, settings["confidence"])
        row |= {name: float(values.mean()), f"{name}_low": interval.low, f"{name}_high": interval.high}
        if interval.note and interval.note not in row["note"]:
            row["note"] = f"no interval: {interval.note}"
    return row


def _arrival(run: pd.DataFrame, target: float, *, higher: bool) -> tuple[int, float, float] | None:
    """Epoch, joules and seconds after which a run reaches the target; None where it never does.

    Args:
        run: its epochs, in order.
        target: value of the metric.
        higher: whether higher values are better.
    """
    quality = run["quality"].to_numpy()
    good = np.flatnonzero(quality >= target if higher else quality <= target)
    if not len(good):
        return None
    until = run.iloc[: int(good[0]) + 1]
    return (
        int(until["epoch"].iloc[-1]),
        float(until["energy_gross_j"].sum(skipna=False)),
        float(until["duration_s"].sum()),
    )
