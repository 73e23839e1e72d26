"""What to deploy: the choices that a workload has on a data set, which of them are as accurate, and which are best."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from framewatt.factors import PlainCell, factors_of
from framewatt.statistics.equivalence import equivalence
from framewatt.statistics.hypothesis_tests import compare_pair, correct
from framewatt.statistics.intervals import Values, is_constant
from framewatt.statistics.objectives import BEST, NOT_APART, OBJECTIVES, WORSE
from framewatt.statistics.pareto import pareto_front
from framewatt.statistics.power import smallest_p
from framewatt.statistics.selection import cells_of, counted, totals

QUANTITIES = ("energy_per_sample_j", "latency_p50_s", "latency_p95_s", "time_per_sample_s", "accuracy")

_TASK = ("workload", "dataset")
_COLUMNS = [
    *("device", "n", *QUANTITIES, "estimated", "on_front", "as_accurate", "accuracy_p", "accuracy_note"),
    *(f"{objective}_{what}" for objective in OBJECTIVES for what in ("verdict", "p", "smallest_p")),
]
"""Columns behind cell and the factors. Quantities are means over the runs that count. `accuracy_p` and `<objective>_p`
are corrected; `smallest_p` is the smallest that so many runs could have given, corrected."""


def deploy_columns(factors: list[str]) -> list[str]:
    """Columns of the frame of a study with these factors."""
    return ["cell", *factors, *_COLUMNS]


def judge_choices(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Judge every inference cell among those of its workload and data set, which are the choices.

    On the Pareto front is a choice whose mean energy per sample, latency (median and 95th percentile of a batch) and
    accuracy no other choice beats in one without losing in another; accuracy counts where it is known of all.

    As accurate are choices that are equivalent to the most accurate one (see `equivalence`), p corrected over the
    workload's choices. Where no choice's accuracy is known, all take part, and `accuracy_note` says so.

    Of the choices that are as accurate, each objective's best is the one with the smallest mean. The others are tested
    against it by the study's test, p times their number (Bonferroni). Those not told apart and the best hold the truly
    best choice with a confidence of 1 - alpha, although the best was picked by looking: it is left out only if one of
    the others, of which there are as many as the correction counts, beats it by chance (Gupta 1965).

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: test, correction, alpha, accuracy_margin.

    Returns:
        `deploy_columns`, a row an inference cell; empty where the study has none, or samples are not known.
    """
    factors = factors_of(runs)
    columns = deploy_columns(factors)
    if not {"phase", *_TASK} <= set(factors):
        return pd.DataFrame(columns=columns)
    rows = totals(runs[runs["phase"] == "infer"])
    for name in ("latency_p50_s", "latency_p95_s"):
        rows[name] = pd.to_numeric(rows[name]).astype("float64")
    tasks: dict[tuple[Any, ...], list[PlainCell]] = {}
    for cell in cells_of(rows):
        levels = cell.to_dict()
        tasks.setdefault(tuple(levels[name] for name in _TASK), []).append(cell)
    judged = [row for cells in tasks.values() for row in _judge_task(rows, cells, settings)]
    frame = pd.DataFrame(judged, columns=columns)
    kinds = dict.fromkeys(("on_front", "as_accurate"), "boolean") | {"n": "Int64", "estimated": "bool"}
    numbers = [name for name in columns if name in QUANTITIES or name.endswith("_p")]
    return frame.astype(kinds | dict.fromkeys(numbers, "float64"))


def _judge_task(rows: pd.DataFrame, cells: list[PlainCell], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices of one workload on one data set."""
    runs = {cell.id: counted(rows, cell.id, "energy_per_sample_j") for cell in cells}
    judged = {cell.id: {"cell": cell.id, **cell.to_dict(), **_means(runs[cell.id])} for cell in cells}
    usable = [row for row in judged.values() if row["n"]]
    _mark_front(usable)
    _mark_accuracy(usable, runs, settings)
    for objective, quantity in OBJECTIVES.items():
        _mark_best([row for row in usable if row["as_accurate"]], runs, objective, quantity, settings)
    return list(judged.values())


def _means(runs: pd.DataFrame) -> dict[str, Any]:
    """Means over runs; of a quantity that a run does not have, unknown."""
    if runs.empty:
        return {"n": 0, "estimated": False}
    means = {name: _mean(runs[name].to_numpy(dtype=np.float64)) for name in QUANTITIES}
    return {"device": runs["device"].iloc[0], "n": len(runs), "estimated": bool(runs["estimated"].any()), **means}


def _mean(values: Values) -> float:
    # The floating-point mean of equal accuracies can miss them by a bit, and one of them would then look better.
    return float(values[0] if is_constant(values) else values.mean())


def _mark_front(usable: list[dict[str, Any]]) -> None:
    names = ["energy_per_sample_j", "latency_p50_s", "latency_p95_s"]
    losses = np.array([[row[name] for name in names] for row in usable]).reshape(-1, len(names))
    accuracy = np.array([row["accuracy"] for row in usable])
    if not np.isnan(accuracy).any():
        losses = np.column_stack([losses, -accuracy])
    known = ~np.isnan(losses).any(axis=1)
    front = np.zeros(len(usable), dtype=bool)
    front[known] = pareto_front(losses[known])
    for row, on_front, judged in zip(usable, front, known, strict=True):
        row["on_front"] = bool(on_front) if judged else None


def _mark_accuracy(usable: list[dict[str, Any]], runs: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> None:
    """Which choices are as accurate as the most accurate one."""
    known = [row for row in usable if not np.isnan(row["accuracy"])]
    for row in usable:
        row |= {"as_accurate": None if known else True, "accuracy_note": "accuracy unknown"}
    if not known:
        return
    most = max(known, key=lambda row: row["accuracy"])
    others = [row for row in known if row is not most]
    margin, paired = settings["accuracy_margin"], _paired(settings)
    found = [equivalence(*_pairs(runs, most, row, "accuracy", paired), margin, paired=paired) for row in others]
    most |= {"as_accurate": True, "accuracy_note": "the most accurate"}
    for row, one, p in zip(others, found, correct([one.p for one in found], settings["correction"]), strict=True):
        shown = one.equal if p is None else p <= settings["alpha"]
        row |= {"as_accurate": shown, "accuracy_p": p, "accuracy_note": one.note}


def _mark_best(
    equal: list[dict[str, Any]],
    runs: Mapping[str, pd.DataFrame],
    objective: str,
    quantity: str,
    settings: Mapping[str, Any],
) -> None:
    """The best of choices that are as accurate, and which others are not told apart from it."""
    known = [row for row in equal if not np.isnan(row[quantity])]
    if not known:
        return
    best = min(known, key=lambda row: row[quantity])
    best[f"{objective}_verdict"] = BEST
    for row in known:
        if row is best:
            continue
        a, b = _pairs(runs, best, row, quantity, _paired(settings))
        p = compare_pair(settings["test"], a, b).p
        corrected = None if p is None else min(1.0, p * (len(known) - 1))
        possible = smallest_p(settings["test"], a.size, b.size) * (len(known) - 1) if min(a.size, b.size) else 1.0
        apart = corrected is not None and corrected <= settings["alpha"]
        row |= {
            f"{objective}_verdict": WORSE if apart else NOT_APART,
            f"{objective}_p": corrected,
            f"{objective}_smallest_p": min(1.0, possible),
        }


def _paired(settings: Mapping[str, Any]) -> bool:
    return bool(settings["test"] == "wilcoxon")


def _pairs(
    runs: Mapping[str, pd.DataFrame],
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    quantity: str,
    paired: bool,
) -> tuple[Values, Values]:
    """A quantity of two choices, over the blocks that both have where runs are paired."""
    a, b = (runs[row["cell"]][quantity].dropna() for row in (first, second))
    if paired:
        both = a.index.intersection(b.index)
        a, b = a.loc[both], b.loc[both]
    return a.to_numpy(dtype=np.float64), b.to_numpy(dtype=np.float64)
