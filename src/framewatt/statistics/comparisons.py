"""A row a comparison of two cells."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from framewatt.headline import headline_of_runs
from framewatt.statistics.effect_size import a12, a12_interval, cliffs_delta, magnitude
from framewatt.statistics.hypothesis_tests import compare_pair, correct
from framewatt.statistics.intervals import Values, generator, ratio_interval
from framewatt.statistics.pairs import comparable_pairs
from framewatt.statistics.power import smallest_p
from framewatt.statistics.selection import ENERGIES, by_reason, cells_of, counted, left_out, totals

_FLOATS = [
    "mean_a",
    "mean_b",
    "median_a",
    "median_b",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p",
    "p_corrected",
    "a12",
    "a12_low",
    "a12_high",
    "cliffs_delta",
    "smallest_p",
    "smallest_p_corrected",
]

COMPARISONS_COLUMNS = [
    "quantity",
    "group",
    "cell_a",
    "cell_b",
    "n_a",
    "n_b",
    "n_pairs",
    "mean_a",
    "mean_b",
    "median_a",
    "median_b",
    "ratio",
    "ratio_low",
    "ratio_high",
    "test",
    "p",
    "p_corrected",
    "significant",
    "a12",
    "a12_low",
    "a12_high",
    "magnitude",
    "cliffs_delta",
    "estimated",
    "smallest_p",
    "smallest_p_corrected",
    "flags",
]
"""Columns of the comparisons. `n_a` and `n_b` are the cells' runs that count, `n_pairs` the complete blocks (Wilcoxon
only); every other number is over the runs that the test used. `ratio` is mean_b / mean_a; `a12` is the probability
that a run of A has the larger value. `smallest_p` is the smallest p that so many runs can give."""


def compare_cells(runs: pd.DataFrame, settings: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """Compare all pairs of cells that differ in compared factors only, by energy and time of a sample, or of a run.

    Wilcoxon's signed-rank test pairs the runs of a block and uses blocks in which both runs count; Mann-Whitney's
    takes the runs as independent. Both are exact where the runs allow it, and `test` says which it was. The family
    of the correction is all comparisons of one quantity, those without a p included.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare, test, correction, alpha, confidence, resamples.
        seed: of the bootstrap of the ratios (pairs resampled together for Wilcoxon).

    Returns:
        COMPARISONS_COLUMNS, a row a quantity and pair.

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    pairs = comparable_pairs(cells_of(rows), settings["compare"])
    found: list[dict[str, Any]] = []
    for quantity in headline_of_runs(rows).quantities:
        family = [
            {"quantity": quantity, "group": group, "cell_a": a.id, "cell_b": b.id}
            | _compare(rows, a.id, b.id, quantity, settings, generator(seed, a.id, b.id, quantity))
            for group, a, b in pairs
        ]
        _judge(family, settings)
        found += family
    for row in found:
        row["flags"] = "; ".join(row["flags"])
    frame = pd.DataFrame(found, columns=COMPARISONS_COLUMNS)
    integers = dict.fromkeys(["n_a", "n_b", "n_pairs"], "Int64")
    return frame.astype(integers | dict.fromkeys(_FLOATS, "float64") | {"significant": "boolean", "estimated": "bool"})


def _compare(
    rows: pd.DataFrame, cell_a: str, cell_b: str, quantity: str, settings: Mapping[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    """One comparison, before the correction over its family."""
    paired = settings["test"] == "wilcoxon"
    used_a, used_b = counted(rows, cell_a, quantity), counted(rows, cell_b, quantity)
    row: dict[str, Any] = {"n_a": len(used_a), "n_b": len(used_b)}
    flags = _left_out_flags(rows, cell_a, cell_b, quantity, paired)
    if paired:
        blocks = used_a.index.intersection(used_b.index)
        used_a, used_b = used_a.loc[blocks], used_b.loc[blocks]
        row["n_pairs"] = len(blocks)
    estimated = [bool(used["estimated"].any()) and quantity in ENERGIES for used in (used_a, used_b)]
    row["estimated"] = any(estimated)
    if estimated[0] != estimated[1]:
        flags.append(f"{cell_a if estimated[0] else cell_b} is estimated, the other is not")
    a, b = (used[quantity].to_numpy(dtype=np.float64) for used in (used_a, used_b))
    outcome = compare_pair(settings["test"], a, b)
    row |= {"test": outcome.test, "p": outcome.p, "flags": flags, "magnitude": ""}
    flags += [outcome.note] if outcome.note else []
    if a.size and b.size:
        row |= _size_effect(a, b, settings["confidence"]) | {"smallest_p": smallest_p(settings["test"], a.size, b.size)}
        interval = ratio_interval(a, b, paired, settings["confidence"], settings["resamples"], rng)
        row |= {"ratio_low": interval.low, "ratio_high": interval.high}
        flags += [f"no interval of the ratio: {interval.note}"] if interval.note else []
    return row


def _size_effect(a: Values, b: Values, confidence: float) -> dict[str, Any]:
    """Means, medians, their ratio and the effect sizes."""
    mean_a, mean_b, effect = float(a.mean()), float(b.mean()), a12(a, b)
    low, high = a12_interval(effect, a.size, b.size, confidence)
    return {
        "mean_a": mean_a,
        "mean_b": mean_b,
        "median_a": float(np.median(a)),
        "median_b": float(np.median(b)),
        "ratio": mean_b / mean_a if mean_a else None,
        "a12": effect,
        "a12_low": low,
        "a12_high": high,
        "magnitude": magnitude(effect),
        "cliffs_delta": cliffs_delta(a, b),
    }


def _judge(family: list[dict[str, Any]], settings: Mapping[str, Any]) -> None:
    """Correct the p values of one quantity and judge them.

    The corrected p of either method never falls when a p of the family rises, so that the corrected smallest p
    values bound the corrected p values from below.
    """
    corrected = correct([row["p"] for row in family], settings["correction"])
    bounds = correct([row.get("smallest_p") for row in family], settings["correction"])
    for row, p, bound in zip(family, corrected, bounds, strict=True):
        row |= {"p_corrected": p, "smallest_p_corrected": bound}
        row["significant"] = None if p is None else p <= settings["alpha"]
        if p is not None and bound is not None and bound > settings["alpha"]:
            row["flags"].append(f"too few runs for significance: corrected p of {bound:.3g} at best")


def _left_out_flags(rows: pd.DataFrame, cell_a: str, cell_b: str, quantity: str, paired: bool) -> list[str]:
    """Runs that the comparison does without, and why."""
    flags = []
    blocks = {cell: set(rows.loc[rows["cell"] == cell, "repetition"]) for cell in (cell_a, cell_b)}
    for cell, other in ((cell_a, cell_b), (cell_b, cell_a)):
        missing = left_out(rows, cell, quantity)
        if paired:
            missing |= dict.fromkeys(sorted(blocks[other] - blocks[cell]), "no run")
        kind = "block" if paired else "repetition"
        flags += [f"{kind} {which} left out: {cell}: {why}" for why, which in by_reason(missing).items()]
    return flags
