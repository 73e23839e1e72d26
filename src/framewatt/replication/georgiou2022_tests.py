"""Both frameworks beside each other: means, effect sizes and a test, model by model and quantity by quantity."""

from typing import Any

import pandas as pd

from framewatt.published.georgiou2022_claims import ENERGIES, FRAMEWORKS, MEANS_COLUMNS, PHASES
from framewatt.published.georgiou2022_tables import either_a12
from framewatt.replication.contract import Measured
from framewatt.replication.georgiou2022_runs import ENERGY, MODELS, own_runs, places_of
from framewatt.statistics.hypothesis_tests import correct
from framewatt.statistics.log_ratios import log_ratio, logs_of, number

TESTS_COLUMNS = [
    *MEANS_COLUMNS,
    *("pytorch_median", "tensorflow_median", "pytorch_runs", "tensorflow_runs", "blocks"),
    *("ratio", "ratio_low", "ratio_high", "p_single", "estimated", "why"),
]
"""Columns of `tested`, index phase, model, quantity. `ratio` is PyTorch over TensorFlow, the geometric mean over
blocks; `p_single` is its p by itself, `p` after Holm's correction over the models of a phase and quantity."""


def tested(own: pd.DataFrame) -> pd.DataFrame:
    """Both frameworks beside each other, and Student's t on logarithms of their ratios within blocks.

    Args:
        own: OWN_COLUMNS.

    Returns:
        TESTS_COLUMNS, index phase, model, quantity: every model of the paper in both phases, of every energy that some
        run has, of run time and ENERGY. Where a framework has no run, or both did not do the same work (`why`),
        everything is NaN.
    """
    quantities = [*(name for name in ENERGIES if own[name].notna().any()), "run_time", ENERGY]
    cases = pd.MultiIndex.from_product(
        [list(PHASES), list(MODELS.values()), quantities], names=["phase", "model", "quantity"]
    )
    rows = {case: row for case in cases if (row := _tested(own, *case))}
    found = pd.DataFrame.from_dict(rows, orient="index", columns=TESTS_COLUMNS)
    found.index = pd.MultiIndex.from_tuples(list(rows), names=cases.names) if rows else cases[:0]
    found = found.reindex(cases)
    for _, part in found.groupby(["phase", "quantity"]):
        known = part[part["p_single"].notna()]
        found.loc[known.index, "p"] = correct(list(known["p_single"]), "holm")
    return found


def tests_of(measured: Measured, of: str) -> pd.DataFrame:
    """Both frameworks beside each other, from PROGRAM or WINDOW, see `tested`."""
    return tested(own_runs(measured, places_of(measured), of))


def _tested(own: pd.DataFrame, phase: str, model: str, quantity: str) -> dict[str, Any] | None:
    part = own[(own["phase"] == phase) & (own["model"] == model)]
    if part["units"].nunique() > 1:
        # Each took its own number of passes to fill a window: how long a program took says nothing of its framework.
        found = ", ".join(
            f"{units} by {cell}" for units, cell in sorted(set(zip(part["units"], part["cell"], strict=True)))
        )
        return {"why": f"{model} ({PHASES[phase]}): programs did not do the same work: units {found}"}
    wide = part.pivot(index="repetition", columns="framework", values=quantity).reindex(columns=list(FRAMEWORKS))
    each = {name: wide[name].dropna() for name in FRAMEWORKS}
    if any(values.empty for values in each.values()):
        return None
    ratio = log_ratio(logs_of(wide["pytorch"]), logs_of(wide["tensorflow"]), paired=True)
    low, high = ratio.within(0.025)
    return {
        **{name: float(values.mean()) for name, values in each.items()},
        **{f"{name}_median": float(values.median()) for name, values in each.items()},
        **{f"{name}_runs": len(values) for name, values in each.items()},
        "blocks": int(ratio.runs),
        "a12": either_a12(*(values.to_numpy() for values in each.values())),
        **{"ratio": number(ratio.ratio), "ratio_low": number(low), "ratio_high": number(high)},
        "p_single": number(ratio.p_two_sided()),
        "estimated": bool(part["estimated"].any()) and quantity != "run_time",
    }
