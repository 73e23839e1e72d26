"""Accuracies of own trainings, in the metrics that georgiou2022 names."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import FRAMEWORKS
from framewatt.replication.contract import Measured
from framewatt.replication.georgiou2022_runs import RUNTIMES, model_of
from framewatt.runs.verdict import counts
from framewatt.tables.columns import Show, number, table_of, text_of
from framewatt.tables.table import Table, significant
from framewatt.tasks import METRICS as ALL_METRICS

METRICS = {
    "NCF": "hit_rate_10",
    "Transformer-xl": "perplexity",
    "GNMT": "bleu",
    "ResNet-50": "top5_error",
    "Mask R-CNN": "mask_box_ap",
    "SSD": "box_ap",
}
"""By model, the metric of the paper (3.4, RQ2): hit rate, perplexity, BLEU, top-5 error, average precision of boxes."""


def accuracies(measured: Measured) -> Iterator[tuple[str, str, str, str, list[float]]]:
    """Model, framework, metric, which values of it are better, and its values, of all trainings that count.

    Every training begins from other weights, so that its values show what chance makes of an accuracy; the paper has
    one run of each. The metric is the one that the paper names, see METRICS.
    """
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in measured.records:
        model, framework = model_of(record["cell"]["workload"]), RUNTIMES.get(record["cell"]["runtime"])
        if model and framework and record["cell"]["phase"] == "train" and counts(record):
            found.setdefault((model, framework), []).append(record["quality"])
    for (model, framework), qualities in found.items():
        name = METRICS[model]
        told = [quality[name] for quality in qualities if name in quality]
        values = [float(one["value"]) for one in told if one["value"] is not None]
        if values:
            yield model, framework, name, str(told[0]["better"]), values


def by_model(measured: Measured) -> dict[str, dict[str, tuple[str, list[float]]]]:
    """Models with accuracies in both frameworks: by framework, which values are better, and the values."""
    found: dict[str, dict[str, tuple[str, list[float]]]] = {}
    for model, framework, _, way, values in accuracies(measured):
        found.setdefault(model, {})[framework] = way, values
    return {model: found[model] for model in METRICS if set(found.get(model, ())) == set(FRAMEWORKS)}


def p_of_accuracies(a: list[float], b: list[float]) -> float | None:
    """Welch's two-sided p of two frameworks' accuracies; None where it cannot be known."""
    if min(len(a), len(b)) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return None
    p = float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    return p if np.isfinite(p) else None


def accuracies_of_trainings(measured: Measured) -> Table:
    """The accuracies of both frameworks' trainings, model by model, in the metric that the paper names."""
    rows = []
    for model, found in by_model(measured).items():
        row: dict[str, Any] = {"model": model, "metric": METRICS[model], "better": found[FRAMEWORKS[0]][0]}
        for name in FRAMEWORKS:
            values = found[name][1]
            row |= {name: float(np.mean(values)), f"{name}_low": min(values), f"{name}_high": max(values)}
            row |= {f"{name}_runs": len(values)}
        rows.append({**row, "p": p_of_accuracies(*(found[name][1] for name in FRAMEWORKS))})
    ends = [f"{name}{end}" for name in FRAMEWORKS for end in ("", "_low", "_high", "_runs")]
    data = pd.DataFrame(rows, columns=["model", "metric", "better", *ends, "p"]).astype({"p": "float64"})
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Metric": lambda r: ALL_METRICS[r["metric"]].words,
        "Better": text_of("better"),
        **{f"{NAMES[name]}, mean": number(name) for name in FRAMEWORKS},
        **{f"{NAMES[name]}, from": number(f"{name}_low") for name in FRAMEWORKS},
        **{f"{NAMES[name]}, to": number(f"{name}_high") for name in FRAMEWORKS},
        "Trainings": text_of("pytorch_runs"),
        "p": lambda r: significant(r["p"], 2),
    }
    caption = "Accuracies of the measured trainings, each from other weights at the beginning; p: Welch's t"
    return table_of("accuracies", caption, data, shown)
