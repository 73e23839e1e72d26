"""Epochs of a training study for figures and trends: those of runs that count, labelled by their levels."""

from collections.abc import Sequence

import pandas as pd

from framewatt.frames.factor_columns import factors_of
from framewatt.frames.factor_words import label, phrase
from framewatt.frames.quality import with_quality
from framewatt.frames.totals import TOTAL
from framewatt.statistics.selection import totals

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
    kept = epochs[epochs["domain"] == domain].merge(
        every.loc[every["counts"], ["cell", "repetition"]], on=["cell", "repetition"]
    )
    kept[_NUMBERS] = kept[_NUMBERS].apply(pd.to_numeric, errors="coerce").astype("float64")
    kept["estimated"] = kept["estimated"].eq(True)
    kept = with_quality(kept)
    return kept.sort_values(["cell", "repetition", "epoch"], ignore_index=True)


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
