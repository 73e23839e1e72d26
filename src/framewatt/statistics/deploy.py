"""What to deploy: the inference cells that are equally good, the cheapest of them, and what each does under load."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.factor_words import factors_of
from framewatt.frames.quality import counts_right_answers, is_higher_better, is_share, words_of
from framewatt.runs.verdict import FEW_REQUESTS, OVERLOADED
from framewatt.statistics.accuracies import BEST, NOT_APART, NOT_LESS, OBJECTIVES, WORSE, TestSets, equivalence
from framewatt.statistics.answers import find_best
from framewatt.statistics.effect_size import Values, is_constant, ratio_of_means_interval
from framewatt.statistics.hypothesis_tests import correct
from framewatt.statistics.selection import cells_of, counted, totals
from framewatt.statistics.stopping import ONCE, Looks
from framewatt.study.factors import PlainCell, given_in, rate_of
from framewatt.study.statistical_tests import is_paired


def pareto_front(losses: Values) -> np.ndarray:
    """Which choices are on the Pareto front: no other is at least as good in everything and better in something.

    Args:
        losses: shape (choices, objectives), smaller is better, no NaN; equal choices are all on the front.

    Returns:
        shape (choices,), bool.
    """
    as_good = (losses[:, None] <= losses[None]).all(axis=2)
    better = (losses[:, None] < losses[None]).any(axis=2)
    return np.asarray(~(as_good & better).any(axis=0))


QUANTITIES = ("energy_per_sample_j", "latency_p50_s", "latency_p95_s", "time_per_sample_s", "quality")

BEST_QUALITY = "the best"
"""Note of the choice with the best value of the task's metric."""

BY_VALUE = "by its value alone"
SIZE_UNKNOWN = ", since the size of the test set is unknown"
"""Note of a choice if its metric is no share of right answers, so that no test compares it with that of the best."""

TOO_SLOW = "overloaded at this rate"
"""Note of a choice that does not answer as many requests as arrive: it is none."""

_UNKNOWN = TestSets()
_COLUMNS = [
    *("device", "n", *QUANTITIES, "metric", "estimated", "on_front", "as_good", "quality_p", "quality_note"),
    *("total_ratio", "total_ratio_low", "total_ratio_high"),
    *(f"{objective}_{what}" for objective in OBJECTIVES for what in ("verdict", "ratio", "ratio_low", "ratio_high")),
]
"""Columns after cell and the factors. Quantities are means over the runs that count. `quality` is the value of
`metric`, the one that the task is compared by; `quality_p` is corrected.
`total_ratio` is the ratio of mean energy to that of the choice with the least mean, which is what many inferences
differ by (interval: Fieller). `<objective>_ratio` is the ratio to the choice with the least geometric mean in the
confidence set of the best, its interval that of the answer."""


def deploy_columns(factors: list[str]) -> list[str]:
    """Columns of the frame of a study with these factors."""
    return ["cell", *factors, *_COLUMNS]


def judge_choices(
    runs: pd.DataFrame, settings: Mapping[str, Any], tested: TestSets = _UNKNOWN, looks: Looks = ONCE
) -> pd.DataFrame:
    """Judge every inference cell against the others of its workload and data set; these cells are the choices.

    The Pareto front is over mean energy per sample, latency (95th percentile of a batch) and quality (the
    task's primary metric, such as accuracy), which is an objective only where it is known for all choices.

    Choices count as equally accurate where they are equivalent to the most accurate one (see `equivalence`), p
    corrected over the workload's choices. Of a metric that is no share of right answers (perplexity, average
    precision) no test is known: there choices count as equally good if their values differ by at most the margin (of a
    metric that is no share, such as perplexity: by that share of the best value), and `quality_note` is BY_VALUE. The
    same rule holds where the size of the test set is unknown. Where no accuracy is known, all choices take part, and
    `quality_note` states that. Of choices with the same accuracy, the lowest-energy choice counts as the most accurate.

    Among the equally accurate choices, each objective has its confidence set of the best (see `best_set`). A choice
    that is alone in it is the best; a choice outside of it takes more.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: test, correction, alpha, confidence, accuracy_margin.
        tested: the test sets behind the accuracies.
        looks: how the study looked at its results.

    Where requests arrive at a rate, each rate is answered by itself, and a cell that was overloaded in half of its runs
    or more is not judged (its note is TOO_SLOW).

    Returns:
        `deploy_columns`, one row per inference cell; empty where the study has none, or numbers of samples are unknown.
    """
    factors = factors_of(runs)
    columns = deploy_columns(factors)
    if not {"phase", "workload", "dataset"} <= set(factors):
        return pd.DataFrame(columns=columns)
    rows = totals(runs[runs["phase"] == "infer"])
    for name in ("latency_p50_s", "latency_p95_s"):
        rows[name] = pd.to_numeric(rows[name]).astype("float64")
    tasks: dict[tuple[Any, ...], list[PlainCell]] = {}
    for cell in cells_of(rows):
        levels = cell.to_dict()
        tasks.setdefault(tuple(levels[name] for name in given_in(factors)), []).append(cell)
    judged = [row for cells in tasks.values() for row in _judge_task(rows, cells, settings, tested, looks)]
    frame = pd.DataFrame(judged, columns=columns)
    kinds = dict.fromkeys(("on_front", "as_good"), "boolean") | {"n": "Int64", "estimated": "bool"}
    numbers = [name for name in columns if name in QUANTITIES or name == "quality_p" or "_ratio" in name]
    return frame.astype(kinds | dict.fromkeys(numbers, "float64"))


def _judge_task(
    rows: pd.DataFrame, cells: list[PlainCell], settings: Mapping[str, Any], tested: TestSets, looks: Looks
) -> list[dict[str, Any]]:
    """The choices of one workload on one data set."""
    runs = {cell.id: counted(rows, cell.id, "energy_per_sample_j") for cell in cells}
    judged = {cell.id: {"cell": cell.id, **cell.to_dict(), **_means(runs[cell.id])} for cell in cells}
    for name, row in judged.items():
        if "busy_share" in rows and (runs[name]["busy_share"].median() > OVERLOADED):
            row["quality_note"] = TOO_SLOW
    usable = [row for row in judged.values() if row["n"] and row.get("quality_note") != TOO_SLOW]
    _mark_front(usable)
    _mark_totals(usable, runs, settings)
    _mark_quality(usable, settings, tested)
    for objective, quantity in _objectives(cells[0]).items():
        _mark_best([row for row in usable if row["as_good"]], runs, objective, quantity, settings, looks)
    return list(judged.values())


def _objectives(cell: PlainCell) -> dict[str, str]:
    """What choices are compared by; where requests arrive at a rate, all who keep up have the same throughput."""
    if rate_of(cell.to_dict().get("load")) is None:
        return dict(OBJECTIVES)
    return {name: quantity for name, quantity in OBJECTIVES.items() if name != "throughput"}


def _means(runs: pd.DataFrame) -> dict[str, Any]:
    """Means over runs; unknown for a quantity that some run lacks."""
    if runs.empty:
        return {"n": 0, "estimated": False, "metric": ""}
    means = {name: _mean(runs[name].to_numpy(dtype=np.float64)) for name in QUANTITIES}
    first = {name: runs[name].iloc[0] for name in ("device", "metric")}
    return {**first, "n": len(runs), "estimated": bool(runs["estimated"].any()), **means}


def _mean(values: Values) -> float:
    # The floating-point mean of equal qualities can be off by one bit, so that one cell would look better.
    return float(values[0] if is_constant(values) else values.mean())


def _mark_front(usable: list[dict[str, Any]]) -> None:
    names = ["energy_per_sample_j", "latency_p95_s"]
    losses = np.array([[row[name] for name in names] for row in usable]).reshape(-1, len(names))
    quality = np.array([row["quality"] for row in usable])
    if len(usable) and not np.isnan(quality).any():
        losses = np.column_stack([losses, -quality if is_higher_better(usable[0]["metric"]) else quality])
    known = ~np.isnan(losses).any(axis=1)
    front = np.zeros(len(usable), dtype=bool)
    front[known] = pareto_front(losses[known])
    for row, on_front, judged in zip(usable, front, known, strict=True):
        row["on_front"] = bool(on_front) if judged else None


def _mark_totals(usable: list[dict[str, Any]], runs: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> None:
    """Set the ratio of total energy, which is what is paid for: each mean over the least mean."""
    known = [row for row in usable if not np.isnan(row["energy_per_sample_j"])]
    least = min(known, key=lambda row: row["energy_per_sample_j"], default=None)
    for row in known:
        if least is None or row is least:
            continue
        a, b = (runs[one["cell"]]["energy_per_sample_j"].dropna() for one in (least, row))
        if is_paired(settings):
            both = a.index.intersection(b.index)
            a, b = a.loc[both], b.loc[both]
        ends = ratio_of_means_interval(a.to_numpy(), b.to_numpy(), settings["confidence"], paired=is_paired(settings))
        ratio = float(b.mean() / a.mean()) if len(a) and a.mean() else None
        row |= {"total_ratio": ratio, "total_ratio_low": ends.low, "total_ratio_high": ends.high}


def _mark_quality(usable: list[dict[str, Any]], settings: Mapping[str, Any], tested: TestSets) -> None:
    """Mark the choices that are as good as the best one."""
    known = [row for row in usable if not np.isnan(row["quality"])]
    for row in usable:
        row |= {"as_good": None if known else True, "quality_note": f"{words_of([row['metric']])} unknown"}
    if not known:
        return
    margin = settings["accuracy_margin"]
    better = max if is_higher_better(known[0]["metric"]) else min
    best = better(row["quality"] for row in known)
    # Of choices with the same accuracy the cheapest: it is the one that others would have to be equal to.
    most = min((row for row in known if row["quality"] == best), key=lambda row: row["energy_per_sample_j"])
    metric = known[0]["metric"]
    without_size = any(tested.size(row["cell"]) is None for row in known)
    if without_size or not counts_right_answers(metric):
        largest = margin if is_share(metric) else margin * abs(most["quality"])
        why = BY_VALUE + (SIZE_UNKNOWN if counts_right_answers(metric) else "")
        for row in known:
            near = abs(row["quality"] - most["quality"]) <= largest
            row |= {"as_good": near, "quality_note": BEST_QUALITY if row is most else why}
        return
    others = [row for row in known if row is not most]
    results = [
        equivalence((most["cell"], most["quality"]), (row["cell"], row["quality"]), tested, margin) for row in others
    ]
    most |= {"as_good": True, "quality_note": BEST_QUALITY}
    for row, one, p in zip(others, results, correct([one.p for one in results], settings["correction"]), strict=True):
        shown = one.same or (p is not None and p <= settings["alpha"])
        row |= {"as_good": shown, "quality_p": p, "quality_note": one.note}


def _mark_best(
    equal: list[dict[str, Any]],
    runs: Mapping[str, pd.DataFrame],
    objective: str,
    quantity: str,
    settings: Mapping[str, Any],
    looks: Looks,
) -> None:
    """Mark the equally good choices that may be best in an objective, and the ratios of all to the reference."""
    values = pd.DataFrame({row["cell"]: runs[row["cell"]][quantity] for row in equal}, dtype="float64")
    confidence_set = find_best(values, settings["alpha"], paired=is_paired(settings), looks=looks)
    if confidence_set is None:
        return
    ratios = confidence_set.ratios
    for row in equal:
        if row["cell"] not in confidence_set.cells:
            continue
        inside = row["cell"] in confidence_set.best
        alone = confidence_set.settled or len(confidence_set.cells) == 1
        more = (ratios.get(row["cell"], {}).get("at_least") or 1.0) > 1
        row[f"{objective}_verdict"] = (BEST if alone else NOT_APART) if inside else WORSE if more else NOT_LESS
        if row["cell"] in ratios:
            ratio = ratios[row["cell"]]
            ends = {"ratio": "ratio", "ratio_low": "low", "ratio_high": "high"}
            row |= {f"{objective}_{name}": ratio[key] for name, key in ends.items()}
        else:
            row[f"{objective}_ratio"] = 1.0


LATENCIES = ["latency_p50_s", "latency_p95_s", "latency_p99_s"]
ENERGY_OF_A_REQUEST = "energy_per_request_j"
_LOAD_MEANS = [ENERGY_OF_A_REQUEST, *LATENCIES, "busy_share"]
_LOAD_COLUMNS = [
    "device",
    "rate_per_s",
    "n",
    "energy_estimated",
    *_LOAD_MEANS,
    "requests",
    "latency_p99_max_s",
    "overloaded",
    "keeps",
    "highest",
]


def under_load(runs: pd.DataFrame, deadline_s: float | None = None) -> pd.DataFrame:
    """What every choice does at each of its rates: means over the runs that count.

    Args:
        runs: the runs frame.
        deadline_s: seconds within which 99 % of requests are to be answered; None is no deadline.

    Returns:
        Columns cell, the factors and _LOAD_COLUMNS, one row a cell with an open loop; none without the factor `load`.
        `overloaded`: in half of the runs or more, the model was busy for nearly all of the window. `keeps`: every run
        kept the deadline, and it is not overloaded; missing without a deadline, without a run that counts, or where
        all runs together have fewer than FEW_REQUESTS. `highest`: the largest rate of its choice that keeps it, where
        all smaller ones do.
    """
    factors = factors_of(runs)
    columns = ["cell", *factors, *_LOAD_COLUMNS]
    if "load" not in factors:
        return pd.DataFrame(columns=columns)
    rows = totals(runs)
    rows = rows.assign(rate_per_s=rows["load"].map(rate_of)).dropna(subset=["rate_per_s"])
    if rows["requests"].isna().all():
        return pd.DataFrame(columns=columns)
    # A sample is a unit of work, such as a token; a request may have many.
    rows[ENERGY_OF_A_REQUEST] = rows["energy_gross_j"] / pd.to_numeric(rows["requests"])
    rows["requests"] = pd.to_numeric(rows["requests"]).where(rows["counts"])
    rows = rows.astype(dict.fromkeys(_LOAD_MEANS, "float64"))
    # A cell without a run that counts keeps its row, empty.
    rows[_LOAD_MEANS] = rows[_LOAD_MEANS].where(rows["counts"], float("nan"))
    grouped = rows.groupby(["cell", *factors, "device", "rate_per_s"], sort=False)
    choices = grouped[_LOAD_MEANS].mean()
    choices["n"] = grouped["counts"].sum()
    choices["energy_estimated"] = grouped["estimated"].any()
    choices["latency_p99_max_s"] = grouped["latency_p99_s"].max()
    choices["overloaded"] = grouped["busy_share"].median() > OVERLOADED
    choices["requests"] = grouped["requests"].sum()
    choices = choices.reset_index()
    choices["keeps"] = pd.array([_keeps(row, deadline_s) for row in choices.to_dict("records")], dtype="boolean")
    choices["highest"] = False
    choice = [name for name in factors if name != "load"]
    for _, part in choices.sort_values("rate_per_s").groupby(choice, sort=False):
        in_time = part[part["keeps"].fillna(value=False).cummin()]
        if len(in_time):
            choices.loc[in_time.index[-1], "highest"] = True
    return choices[columns].sort_values([*choice, "rate_per_s"], kind="stable", ignore_index=True)


def _keeps(row: dict[str, Any], deadline_s: float | None) -> bool | None:
    worst_s = row["latency_p99_max_s"]
    if deadline_s is None or not row["n"] or not isinstance(worst_s, float) or pd.isna(worst_s):
        return None
    if row["requests"] < FEW_REQUESTS:
        return None
    return worst_s <= deadline_s and not row["overloaded"]
