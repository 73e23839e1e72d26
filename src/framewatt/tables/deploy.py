"""What to deploy: every choice of a workload, which ones are best in what, and what 1,000 inferences of it take."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of, label, sorted_by
from framewatt.frames.quality import title_of, unit_of
from framewatt.statistics.accuracies import OBJECTIVES, WORSE
from framewatt.statistics.deploy import BEST_QUALITY
from framewatt.study.factors import GIVEN, reading_order
from framewatt.tables.columns import Show, factor_columns, marked, number, table_of, times, whole
from framewatt.tables.ratios import ratio_range
from framewatt.tables.table import MISSING, Table, significant

INFERENCES = 1000
"""Number of inferences for which carbon and money are given."""

_J_PER_KWH = 3.6e6
_FIRST = ("runtime", "provider")
"""Factors that name a choice first."""

_HEADINGS = {"energy": "Least energy", "latency": "Lowest latency", "throughput": "Highest throughput"}


def with_costs(choices: pd.DataFrame, costs: Mapping[str, Any]) -> pd.DataFrame:
    """Choices with what INFERENCES samples take: `kwh`, `co2e_g`, `price` and its `currency`; unknown is missing.

    Args:
        choices: the frame of `judge_choices`.
        costs: the study's `costs`: `intensity_g_per_kwh` and `price` (`per_kwh`, `currency`), each None where the study
            does not say; a study of files has none.
    """
    kwh = choices["energy_per_sample_j"] * INFERENCES / _J_PER_KWH
    intensity, price = costs.get("intensity_g_per_kwh"), costs.get("price")
    unknown = pd.Series(float("nan"), index=choices.index, dtype="float64")
    return choices.assign(
        kwh=kwh,
        co2e_g=unknown if intensity is None else kwh * intensity,
        price=unknown if price is None else kwh * price["per_kwh"],
        currency=None if price is None else price["currency"],
    )


def deploy(choices: pd.DataFrame, costs: Mapping[str, Any]) -> Table:
    """One row per choice: energy, accuracy and latency, one verdict per objective, and what 1,000 inferences take.

    Factors that distinguish the choices are one column; those that all have in common have their own.

    Args:
        choices: the frame of `judge_choices`.
        costs: the study's `costs`, see `with_costs`.
    """
    factors = [name for name in factors_of(choices) if name != "phase"]
    data = with_costs(choices, costs)
    if len(data):
        first = [name for name in reading_order(factors) if name in GIVEN]
        data = sorted_by(data.sort_values("energy_per_sample_j", kind="stable"), first)
    chosen = sorted((one for one in reading_order(factors) if one not in GIVEN), key=lambda one: one not in _FIRST)
    varied = [name for name in chosen if data[name].nunique() > 1]
    shown: dict[str, Show] = factor_columns(data, [name for name in factors if name not in varied])
    shown |= {
        "Choice": lambda r: label(r, varied or chosen),
        f"Energy per {unit_of(data['metric'])} (mJ)": lambda r: _marked(times(r["energy_per_sample_j"], 1000), r),
        title_of(data["metric"]): number("quality"),
        "As good": _as_good,
        **{heading: _verdict(objective) for objective, heading in _HEADINGS.items()},
        "Latency, 95 % (ms)": lambda r: significant(times(r["latency_p95_s"], 1000)),
        "Runs": lambda r: whole(r["n"]),
    }
    if any(costs.get(name) is not None for name in ("intensity_g_per_kwh", "price")):
        shown[f"Wh of {INFERENCES:,}"] = lambda r: _marked(times(r["kwh"], 1000), r)
    if costs.get("intensity_g_per_kwh") is not None:
        shown[f"gCO2e of {INFERENCES:,}"] = lambda r: _marked(r["co2e_g"], r)
    if costs.get("price") is not None:
        shown[f"{costs['price']['currency']} of {INFERENCES:,}"] = lambda r: _marked(r["price"], r)
    return table_of("deploy", _caption(costs), data, shown, factors)


def _caption(costs: Mapping[str, Any]) -> str:
    caption = f"Choices for deployment, and what {INFERENCES:,} inferences take (gross energy of the timed window)"
    prices = []
    if costs.get("intensity_g_per_kwh") is not None:
        source = f" ({costs['intensity_source']})" if costs["intensity_source"] else ""
        prices.append(f"{costs['intensity_g_per_kwh']:g} gCO2e/kWh{source}")
    if costs.get("price") is not None:
        prices.append(f"{costs['price']['per_kwh']:g} {costs['price']['currency']}/kWh")
    return f"{caption}, at {' and '.join(prices)}" if prices else caption


def _marked(value: Any, row: Mapping[str, Any]) -> str:
    return marked(significant(value), {"energy_estimated": row["estimated"]})


def _as_good(row: Mapping[str, Any]) -> str:
    """Return whether a choice is as good as the best one, as text; the report states in words by which test."""
    if pd.isna(row["quality"]):
        return MISSING
    if row["quality_note"] == BEST_QUALITY:
        return BEST_QUALITY
    return "not shown" if pd.isna(row["as_good"]) or not row["as_good"] else "yes"


def _verdict(objective: str) -> Show:
    assert objective in OBJECTIVES

    def show(row: Mapping[str, Any]) -> str:
        verdict = row[f"{objective}_verdict"]
        if not isinstance(verdict, str):
            return MISSING
        ratio, low, high = (row[f"{objective}_ratio{end}"] for end in ("", "_low", "_high"))
        if pd.isna(ratio) or ratio == 1:
            return verdict
        shown = ratio_range(ratio, low, high)
        return shown if verdict == WORSE else f"{verdict}, {shown}"

    return show
