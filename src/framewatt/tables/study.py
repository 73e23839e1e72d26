"""The tables of a study, from its frames and statistics."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of, sorted_by
from framewatt.frames.headline import PER_RUN, PER_SAMPLE, Headline, headline_of_cells
from framewatt.frames.quality import QUALITY, metrics_in, primary_in, title_of, unit_of
from framewatt.statistics.selection import totals
from framewatt.study.factors import reading_order
from framewatt.tables.columns import (
    ESTIMATED,
    Show,
    bracketed,
    factor_columns,
    marked,
    mean,
    number,
    table_of,
    times,
    whole,
)
from framewatt.tables.ratios import ratio_of
from framewatt.tables.table import MISSING, Table, significant, text
from framewatt.tasks import METRICS, PRIMARY
from framewatt.tasks.quality import primary_of


def energy_time(cells: pd.DataFrame) -> Table:
    """One row per cell: energy and time of a sample (or of a run), power, energy of the window, spread, accuracy.

    Args:
        cells: the frame of `summarise_cells`.
    """
    factors, head = factors_of(cells), headline_of_cells(cells)
    primary = [name for name in PRIMARY if name in set(cells["quantity"])]
    quantities = list(dict.fromkeys([*head.quantities, "mean_power_w", "energy_gross_j", *primary]))
    rows = []
    for keys, part in cells.groupby(["cell", *factors], sort=False):
        by_quantity = part.set_index("quantity")
        row: dict[str, Any] = dict(zip(["cell", *factors], keys, strict=True))
        energy = by_quantity.loc[head.energy]
        row |= {"n": energy["n"], "left_out": energy["left_out"], "energy_estimated": bool(energy["estimated"])}
        for quantity in quantities:
            row |= {f"{quantity}{end}": by_quantity.loc[quantity][f"mean{end}"] for end in ("", "_low", "_high")}
        row["energy_cv_percent"] = energy["cv_percent"]
        row["energy_cv_after_blocks_percent"] = energy["cv_after_blocks_percent"]
        row["energy_flags"] = energy["flags"]
        rows.append(row)
    columns = ["cell", *factors, "n", "left_out", "energy_estimated"]
    columns += [f"{quantity}{end}" for quantity in quantities for end in ("", "_low", "_high")]
    data = pd.DataFrame(rows, columns=[*columns, "energy_cv_percent", "energy_cv_after_blocks_percent", "energy_flags"])
    data = sorted_by(data, reading_order(factors))
    shown: dict[str, Show] = factor_columns(data, factors) | {"Runs": lambda r: text(r["n"])}
    shown |= _headline_columns(head)
    shown["CV of energy (%)"] = lambda r: significant(r["energy_cv_percent"], 2)
    shown["CV after blocks (%)"] = lambda r: significant(r["energy_cv_after_blocks_percent"], 2)
    shown |= {PRIMARY[name].title: number(name) for name in primary if data[name].notna().any()}
    caption = "Energy and time of every cell: mean and the ends of its interval"
    if data["energy_estimated"].any():
        caption += "; energy marked (estimated) was not measured"
    return table_of("energy_time", caption, data, shown, factors)


def _headline_columns(head: Headline) -> dict[str, Show]:
    """Energy, time and power; per sample in mJ and ms, with the window's totals, which depend on its length."""
    power: dict[str, Show] = {"Mean power (W)": lambda r: marked(mean(r, "mean_power_w"), r)}
    if head == PER_RUN:
        return {
            "Energy (J)": lambda r: marked(mean(r, head.energy), r),
            "Time (s)": lambda r: mean(r, head.time),
            **power,
        }
    return {
        f"Energy per {head.per} (mJ)": lambda r: marked(mean(r, head.energy, 1000), r),
        f"Time per {head.per} (ms)": lambda r: mean(r, head.time, 1000),
        **power,
        "Energy of the window (J)": lambda r: marked(significant(r["energy_gross_j"]), r),
    }


def accuracy(runs: pd.DataFrame) -> Table:
    """Return a row for each cell: means of accuracy and the other metrics of its task, lowest and highest of the first.

    Args:
        runs: the runs frame; runs count as they do for energy.
    """
    factors, metrics, primary = factors_of(runs), metrics_in(runs), primary_in(runs)
    names = [metric.name for metric in metrics]
    rows = totals(runs)
    rows = rows.astype(dict.fromkeys(names, "float64"))
    # A cell without a run that counts keeps its row, empty.
    rows[[*names, QUALITY]] = rows[[*names, QUALITY]].where(rows["counts"], float("nan"))
    grouped = rows.groupby(["cell", *factors], sort=False)
    data = grouped[names].mean()
    data.insert(0, "n", grouped[QUALITY].count())
    shown_last: dict[str, Show] = {}
    for metric in primary:
        low, high = f"{metric.name}_min", f"{metric.name}_max"
        data[low], data[high] = grouped[metric.name].min(), grouped[metric.name].max()
        shown_last |= {f"Lowest {metric.words}": number(low), f"Highest {metric.words}": number(high)}
    data = sorted_by(data.reset_index(), reading_order(factors))
    shown: dict[str, Show] = factor_columns(data, factors) | {"Runs": lambda r: text(r["n"])}
    shown |= {metric.title: number(metric.name) for metric in metrics} | shown_last
    what = title_of([metric.name for metric in primary])
    return table_of("accuracy", f"{what} of every cell, from the outputs of the measured runs", data, shown, factors)


_EXPORT_KEYS = [
    "model",
    "framework",
    "status",
    "reason",
    "max_abs_difference",
    "equal_predictions_share",
    "equal_answers_share",
    "samples",
    "opset",
    "checker",
    "metric",
    "quality",
    "source_quality",
]


def export_agreement(exports: Iterable[Mapping[str, Any]]) -> Table:
    """One row per exported or quantised model: whether it runs, how far its outputs are from the framework's, quality.

    An export that failed or that the runtime rejects has its row, with the reason.

    Args:
        exports: records of the rule check_export.
    """
    rows = [{**record, **_qualities(record)} for record in exports]
    data = pd.DataFrame([{key: row.get(key) for key in _EXPORT_KEYS} for row in rows], columns=_EXPORT_KEYS)
    data = data.sort_values("model", ignore_index=True)
    metrics = [METRICS[name] for name in data["metric"].dropna().unique()]
    what = title_of([metric.name for metric in metrics])
    percent, scale = (" (%)", 100) if all(metric.is_share() for metric in metrics) else ("", 1)
    shown: dict[str, Show] = {
        "Model": lambda r: text(r["model"]),
        "Framework": lambda r: text(r["framework"]),
        "Status": lambda r: text(r["status"]),
        "Largest difference": lambda r: significant(r["max_abs_difference"], 2),
        "Equal answers (%)": lambda r: significant(times(_equal(r), 100)),
        f"{what}{percent}": lambda r: significant(times(r["quality"], scale)),
        f"Of the source{percent}": lambda r: significant(times(r["source_quality"], scale)),
        "Samples": lambda r: whole(r["samples"]),
        "Opset": lambda r: whole(r["opset"]),
        "Checker": lambda r: text(r["checker"]),
        "Reason": lambda r: text(r["reason"]),
    }
    return table_of("export_agreement", "Exported models against their source", data, shown)


def _equal(row: Mapping[str, Any]) -> Any:
    """Return share of equal predictions, or of equal answers of a search; None where a task has neither."""
    shares = (row[f"equal_{what}_share"] for what in ("predictions", "answers"))
    return next((share for share in shares if pd.notna(share)), None)


def _qualities(record: Mapping[str, Any]) -> dict[str, Any]:
    """The primary metric of an exported or quantised model and of its source; unknown where weights are random."""
    own, source = record.get("quality") or {}, record.get("source_quality") or {}
    name = primary_of(own) or primary_of(source)
    if name is None:
        return {}
    return {
        "metric": name,
        "quality": own.get(name, {}).get("value"),
        "source_quality": source.get(name, {}).get("value"),
    }


def comparisons(compared: pd.DataFrame, runs: pd.DataFrame) -> Table:
    """Return a row for each comparison, with what a reader needs of it.

    Args:
        compared: the frame of `compare_cells`.
        runs: the runs frame, with columns that show what the unit of work is.
    """
    per = unit_of(runs.columns)
    kinds = {
        **dict(zip(PER_SAMPLE.quantities, (f"energy per {per}", f"time per {per}"), strict=True)),
        **dict(zip(PER_RUN.quantities, ("energy", "time"), strict=True)),
    }
    shown: dict[str, Show] = {
        "Quantity": lambda r: kinds[r["quantity"]] + (ESTIMATED if r["estimated"] else ""),
        "Cell A": lambda r: text(r["cell_a"]),
        "Cell B": lambda r: text(r["cell_b"]),
        "Runs": _runs_of,
        "B / A": ratio_of,
        "Corrected p": lambda r: significant(r["p_corrected"], 3),
        "Costs more": _costs_more,
        "Equal, p": lambda r: significant(r["equal_p"], 3),
        "Beside, corrected p": lambda r: significant(r["beside_p_corrected"], 3),
        "A more, of blocks (%)": lambda r: significant(times(r["a_costs_more"], 100), 3),
        "A12": lambda r: bracketed(r["a12"], r["a12_low"], r["a12_high"]),
        "Totals B / A": lambda r: ratio_of(r, "ratio_of_means"),
        "Test": lambda r: text(r["test"]),
        "Flags": lambda r: text(r["flags"]) if text(r["flags"]) != MISSING else "",
    }
    return table_of("comparisons", "Comparisons of cells that differ in compared factors only", compared, shown)


def _costs_more(row: Mapping[str, Any]) -> str:
    """Return which cell costs more, where the difference is significant."""
    if pd.isna(row["significant"]):
        return MISSING
    return "A" if row["costs_more"] == row["cell_a"] else "B" if row["costs_more"] == row["cell_b"] else "not shown"


def failures(runs: pd.DataFrame) -> Table:
    """Return a row for each run that does not count, with the reason; empty where every run counts.

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
    return table_of("failures", "Runs that do not count", data, shown)


def _runs_of(row: Mapping[str, Any]) -> str:
    return whole(row["n_pairs"]) + " pairs" if not pd.isna(row["n_pairs"]) else f"{row['n_a']}, {row['n_b']}"
