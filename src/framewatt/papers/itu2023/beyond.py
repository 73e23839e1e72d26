"""What itu2023's raw results show beyond the report: tables, and sentences with their numbers."""

from collections.abc import Iterable, Mapping

import pandas as pd

from framewatt.figures.power_traces import TracedRun
from framewatt.papers.itu2023.epochs import FACTORS, as_published

_MIB = 2.0**20
_NAMED_GPU = "one RTX 2070 (Table I), a GPU with 8192 MiB of memory"


def compare_epochs(epochs: pd.DataFrame) -> pd.DataFrame:
    """Every epoch of every run in both ways: mean reading x time, and the integral with interpolated edges.

    Args:
        epochs: of all runs, see framewatt.papers.itu2023.epochs.all_epochs.
    """
    frame = epochs[[*FACTORS, "repetition", "epoch_number"]].copy()
    frame["mean_power_w"], frame["time_s"] = epochs["power"], epochs["total_time"]
    frame["product_j"] = epochs["power"] * epochs["total_time"]
    frame["integrated_j"] = epochs["energy_integrated"]
    frame["difference_percent"] = 100 * (frame["product_j"] / frame["integrated_j"] - 1)
    return frame


def two_ways(epochs: pd.DataFrame) -> pd.DataFrame:
    """Joules of ten epochs in the authors' way and in framewatt's, one row per combination of levels.

    The authors multiply the mean power of both runs by their mean time. That differs from the mean of the runs' own
    products where the slower run draws less power (`averaging_percent`), and each product differs from the integral
    over the epoch with interpolated edges, since the plain mean gives the readings at its edges too little or too much
    time (`readings_percent`).

    Args:
        epochs: of all runs, see framewatt.papers.itu2023.epochs.all_epochs.
    """
    authors = as_published(epochs)["energy"].groupby(FACTORS).sum()
    own = epochs.assign(product=epochs["power"] * epochs["total_time"])
    per_run = own.groupby([*FACTORS, "repetition"])[["product", "energy_integrated"]].sum(min_count=1)
    means = per_run.groupby(FACTORS).mean()
    frame = pd.DataFrame({"authors_j": authors, "mean_of_products_j": means["product"]})
    frame["integrated_j"] = means["energy_integrated"]
    frame["averaging_percent"] = 100 * (frame["authors_j"] / frame["mean_of_products_j"] - 1)
    frame["readings_percent"] = 100 * (frame["mean_of_products_j"] / frame["integrated_j"] - 1)
    frame["difference_percent"] = 100 * (frame["authors_j"] / frame["integrated_j"] - 1)
    return _as_read(frame)


def repetitions(epochs: pd.DataFrame) -> pd.DataFrame:
    """Difference of the two runs of a combination, one row per combination of levels."""
    sums = epochs.groupby([*FACTORS, "repetition"])[["energy_integrated", "total_time"]].sum(min_count=1)
    wide = sums.unstack("repetition")
    frame = pd.DataFrame(index=wide.index)
    for column, name, unit in (("energy_integrated", "energy", "j"), ("total_time", "time", "s")):
        for repetition in (1, 2):
            values = wide.get((column, repetition))
            frame[f"{name}_run{repetition}_{unit}"] = float("nan") if values is None else values
        frame[f"{name}_difference_percent"] = 100 * (frame[f"{name}_run2_{unit}"] / frame[f"{name}_run1_{unit}"] - 1)
    return _as_read(frame)


def extremes(runs: Iterable[TracedRun]) -> pd.DataFrame:
    """Largest readings, and mean seconds of readings after the last epoch, one row per framework.

    Returns:
        Columns framework, runs, largest_power_w, largest_memory_mib, mean_seconds_behind_last_epoch.
    """
    rows = []
    for run in runs:
        if run.record["epochs"]:
            largest = run.power.groupby("quantity")["value"].max()
            last = run.record["windows"][f"epoch-{run.record['epochs'][-1]['epoch']}"]["end_monotonic_ns"]
            behind_s = (int(run.power["monotonic_ns"].max()) - last) * 1e-9
            framework = run.record["cell"]["framework"]
            rows.append((framework, largest["power_w"], largest["memory_used_b"] / _MIB, behind_s))
    frame = pd.DataFrame(rows, columns=["framework", "power", "memory", "behind"])
    grouped = frame.groupby("framework")
    return pd.DataFrame(
        {
            "runs": grouped.size(),
            "largest_power_w": grouped["power"].max(),
            "largest_memory_mib": grouped["memory"].max(),
            "mean_seconds_behind_last_epoch": grouped["behind"].mean(),
        }
    ).reset_index()


def facts(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Sentences on the tables of this module, by the names of its functions; none where no raw results are given."""
    single, ways, apart, largest = (tables[name] for name in ("epochs_beside", "two_ways", "repetitions", "extremes"))
    return [*_ways_facts(ways), *_single_facts(single), *_apart_facts(apart), *_extremes_facts(largest)]


def _ways_facts(ways: pd.DataFrame) -> list[str]:
    known = ways.dropna(subset=["difference_percent", "averaging_percent", "readings_percent"])
    if known.empty:
        return []
    return [
        f"Over ten epochs, the authors' energy is {_range(known['difference_percent'])} from the integral; multiplying "
        f"the mean power of both runs by their mean time makes {_range(known['averaging_percent'])} of it, and the "
        f"plain mean of the readings {_range(known['readings_percent'])}."
    ]


def _single_facts(compared: pd.DataFrame) -> list[str]:
    single = compared["difference_percent"].dropna()
    if single.empty:
        return []
    return [
        f"In single epochs of single runs, mean reading x time is {_range(single)} from the integral (median "
        f"{single.median():+.2f} %, {len(single)} epochs)."
    ]


def _apart_facts(apart: pd.DataFrame) -> list[str]:
    both = apart.dropna(subset=["energy_difference_percent"])
    if both.empty:
        return []
    most = both.loc[both["energy_difference_percent"].abs().idxmax()]
    return [
        f"The two runs of a combination differ by up to {abs(most['energy_difference_percent']):.1f} % in energy "
        f"({most['framework']}, {most['dataset']}, {most['model']}, batch size {most['batch_size']}); the median is "
        f"{both['energy_difference_percent'].abs().median():.1f} %."
    ]


def _extremes_facts(largest: pd.DataFrame) -> list[str]:
    if largest.empty:
        return []
    memory = largest.loc[largest["largest_memory_mib"].idxmax()]
    behind = [f"{row.mean_seconds_behind_last_epoch:.1f} s ({row.framework})" for row in largest.itertuples()]
    return [
        f"The largest reading of memory in use is {memory['largest_memory_mib']:.0f} MiB ({memory['framework']}), that "
        f"of power {largest['largest_power_w'].max():.0f} W; the report names {_NAMED_GPU}.",
        f"Readings go on for {', '.join(behind)} behind the last epoch on average and belong to none; epoch 1 holds "
        "everything from the first reading on.",
    ]


def _as_read(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows by data set, model (the shallowest first), batch size and framework, which become the first columns."""
    levels = ["dataset", "model", "batch_size", "framework"]
    frame = frame.reset_index()
    ordered = frame.sort_values(levels, ignore_index=True, key=_depth)
    return ordered[[*levels, *(column for column in frame.columns if column not in levels)]]


def _depth(column: pd.Series) -> pd.Series:
    """Numbers of layers for names of models, other levels as they are."""
    return column.str.extract(r"(\d+)", expand=False).astype("float64") if column.name == "model" else column


def _range(values: pd.Series) -> str:
    return f"{values.min():+.2f} % to {values.max():+.2f} %"
