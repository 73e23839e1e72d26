"""One row per comparison of two cells."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.best_set import comparable_pairs, mixing, p_of_equal
from framewatt.statistics.effect_size import Values, a12, a12_interval, cliffs_delta, magnitude, ratio_of_means_interval
from framewatt.statistics.hypothesis_tests import compare_pair, correct
from framewatt.statistics.log_ratios import FEWEST, log_ratio, logs_of, number
from framewatt.statistics.power import smallest_p
from framewatt.statistics.selection import ENERGIES, by_reason, cells_of, counted, left_out, totals
from framewatt.study.statistical_tests import CHECK_OF, RANK_SUM, SIGNED_RANK, is_of_ranks, is_paired

_SIZES = [
    *("mean_a", "mean_b", "median_a", "median_b", "ratio", "ratio_low", "ratio_high"),
    *("ratio_of_means", "ratio_of_means_low", "ratio_of_means_high"),
]
_EFFECTS = ["a_costs_more", "a12", "a12_low", "a12_high"]
_FLOATS = [
    *_SIZES,
    *_EFFECTS,
    *("p", "p_corrected", "beside_p", "beside_p_corrected", "equal_p", "cliffs_delta"),
    *("smallest_p", "smallest_p_corrected"),
]

COMPARISONS_COLUMNS = [
    *("quantity", "group", "cell_a", "cell_b", "n_a", "n_b", "n_pairs"),
    *_SIZES,
    *(
        "test",
        "p",
        "p_corrected",
        "significant",
        "costs_more",
        "beside_test",
        "beside_p",
        "beside_p_corrected",
        "equal_p",
    ),
    *_EFFECTS,
    *("magnitude", "cliffs_delta", "estimated", "smallest_p", "smallest_p_corrected", "flags"),
]
"""Columns of the comparisons. `n_a` and `n_b` are the cells' runs that count, `n_pairs` the complete blocks (paired
tests only); every other number is over the runs that the test used. `ratio` is the geometric mean of B / A over blocks
(without blocks: the ratio of geometric means), `ratio_of_means` mean_b / mean_a, the ratio of totals. `costs_more` is
the cell that costs more, where the difference is significant, by the estimate that belongs to the test. `beside_test`
and its p check the main test with one of other assumptions, corrected by Holm within the group. `equal_p` is the p of
equivalence within the study's margin. `a_costs_more` is the share of blocks in which A costs more, ties counting half;
`a12` the probability that a run of A has the larger value, `magnitude` a word for it if each cell has 20 runs or more.
`smallest_p` is the smallest p that a rank test can give with so many runs."""

FEWEST_FOR_A_WORD = 20
"""Fewest runs of either cell for a word of A12: with 5 runs each and no difference, 31 % of A12 would be "large"."""


def compare_cells(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Compare all pairs of cells that differ in compared factors only, by energy and time per sample, or per run.

    The default is Student's t on logarithms, paired over blocks in which both runs count, or Welch's t without blocks,
    corrected within the group; a rank test is the second test (`beside_test`). Where a study requests a rank test, as
    published papers have it, that is the main test, exact where the runs allow it, its family is all comparisons of one
    quantity, and t is the second test. Comparisons without a p stay in the family.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare, test, correction, alpha, confidence, equal_margin.

    Returns:
        COMPARISONS_COLUMNS, one row per quantity and pair.

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    pairs = comparable_pairs(cells_of(rows), settings["compare"])
    comparisons: list[dict[str, Any]] = []
    for quantity in headline_of_runs(rows).quantities:
        every = [
            {"quantity": quantity, "group": group} | _compare(rows, a.id, b.id, quantity, settings)
            for group, a, b in pairs
        ]
        groups = [
            [row for row in every if row["group"] == group] for group in dict.fromkeys(name for name, *_ in pairs)
        ]
        for family in [every] if is_of_ranks(settings) else groups:
            _judge(family, settings)
        for family in groups:
            for row, p in zip(family, correct([row["beside_p"] for row in family], "holm"), strict=True):
                row["beside_p_corrected"] = p
        comparisons += every
    for row in comparisons:
        row["flags"] = "; ".join(row["flags"])
    frame = pd.DataFrame(comparisons, columns=COMPARISONS_COLUMNS)
    integers = dict.fromkeys(["n_a", "n_b", "n_pairs"], "Int64")
    return frame.astype(integers | dict.fromkeys(_FLOATS, "float64") | {"significant": "boolean", "estimated": "bool"})


def _compare(
    rows: pd.DataFrame, cell_a: str, cell_b: str, quantity: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one comparison, before the correction over its family."""
    paired = is_paired(settings)
    used_a, used_b = counted(rows, cell_a, quantity), counted(rows, cell_b, quantity)
    row: dict[str, Any] = {"n_a": len(used_a), "n_b": len(used_b)}
    flags = _left_out_flags(rows, cell_a, cell_b, quantity, paired)
    if paired:
        blocks = used_a.index.intersection(used_b.index)
        used_a, used_b = used_a.loc[blocks], used_b.loc[blocks]
        row["n_pairs"] = len(blocks)
    flags += mixing(pd.concat([used_a, used_b]), paired=paired)
    estimated = [bool(used["estimated"].any()) and quantity in ENERGIES for used in (used_a, used_b)]
    row["estimated"] = any(estimated)
    if estimated[0] != estimated[1]:
        flags.append(f"{cell_a if estimated[0] else cell_b} is estimated, the other is not")
    a, b = (used[quantity].to_numpy(dtype=np.float64) for used in (used_a, used_b))
    outcome, check = compare_pair(settings["test"], a, b), compare_pair(CHECK_OF[settings["test"]], a, b)
    row |= {
        "cell_a": cell_a,
        "cell_b": cell_b,
        "test": outcome.test,
        "p": outcome.p,
        "flags": flags,
        "magnitude": "",
        "costs_more": "",
    }
    row |= {"beside_test": check.test, "beside_p": check.p}
    flags += [outcome.note] if outcome.note else []
    if a.size and b.size:
        row |= _sizes(a, b, settings, flags) | _effects(a, b, settings["confidence"], paired)
        row |= _direction(row, a, b, settings, flags)
        if is_of_ranks(settings):
            row["smallest_p"] = smallest_p(settings["test"], a.size, b.size)
    return row


def _sizes(a: Values, b: Values, settings: Mapping[str, Any], flags: list[str]) -> dict[str, Any]:
    """Return means, medians, and both ratios with their intervals."""
    paired, confidence = is_paired(settings), settings["confidence"]
    mean_a, mean_b = float(a.mean()), float(b.mean())
    ratio = log_ratio(logs_of(b), logs_of(a), paired=paired)
    low, high = (number(end) for end in ratio.within((1 - confidence) / 2))
    if low is None and min(a.size, b.size) >= FEWEST:
        flags.append("no interval of the ratio: it is the same in every block, or a run is 0 or less")
    total = ratio_of_means_interval(a, b, confidence, paired=paired)
    return {
        "mean_a": mean_a,
        "mean_b": mean_b,
        "median_a": float(np.median(a)),
        "median_b": float(np.median(b)),
        "ratio": number(ratio.ratio),
        "ratio_low": low,
        "ratio_high": high,
        "ratio_of_means": mean_b / mean_a if mean_a else None,
        "ratio_of_means_low": total.low,
        "ratio_of_means_high": total.high,
        "equal_p": number(p_of_equal(ratio, settings["equal_margin"])),
    }


def _effects(a: Values, b: Values, confidence: float, paired: bool) -> dict[str, Any]:
    """Return how often A costs more: over blocks, and over all pairs of runs."""
    effect = a12(a, b)
    low, high = a12_interval(effect, a.size, b.size, confidence)
    return {
        "a_costs_more": float(np.mean(a > b) + np.mean(a == b) / 2) if paired else None,
        "a12": effect,
        "a12_low": low,
        "a12_high": high,
        "magnitude": magnitude(effect) if min(a.size, b.size) >= FEWEST_FOR_A_WORD else "",
        "cliffs_delta": cliffs_delta(a, b),
    }


def _direction(
    row: Mapping[str, Any], a: Values, b: Values, settings: Mapping[str, Any], flags: list[str]
) -> dict[str, Any]:
    """Return the direction of the test's own estimate, positive where B costs more; flag estimates that disagree."""
    ways = {
        "geometric mean ratio": math.log(row["ratio"]) if row["ratio"] else 0.0,
        "ratio of means": row["mean_b"] - row["mean_a"],
        "A12": 0.5 - row["a12"],
    }
    signs = {name: float(np.sign(way)) if abs(way) > 1e-12 else 0.0 for name, way in ways.items()}
    if {1.0, -1.0} <= set(signs.values()):
        directions = [f"by {name} {row['cell_b' if sign > 0 else 'cell_a']}" for name, sign in signs.items() if sign]
        flags.append(f"which costs more depends on the estimate: {', '.join(directions)}")
    if settings["test"] == SIGNED_RANK:
        return {"towards_b": float(np.sign(b - a) @ stats.rankdata(np.abs(b - a)))}
    return {"towards_b": signs["A12" if settings["test"] == RANK_SUM else "geometric mean ratio"]}


def _judge(family: list[dict[str, Any]], settings: Mapping[str, Any]) -> None:
    """Correct the p values of a family and judge them.

    The corrected p of either method never falls when a p of the family rises, so that the corrected smallest p
    values bound the corrected p values from below.
    """
    corrected = correct([row["p"] for row in family], settings["correction"])
    bounds = correct([row.get("smallest_p") for row in family], settings["correction"])
    for row, p, bound in zip(family, corrected, bounds, strict=True):
        row |= {"p_corrected": p, "smallest_p_corrected": bound}
        row["significant"] = None if p is None else p <= settings["alpha"]
        if row["significant"] and row["towards_b"]:
            row["costs_more"] = row["cell_b" if row["towards_b"] > 0 else "cell_a"]
        if p is not None and bound is not None and bound > settings["alpha"]:
            row["flags"].append(f"too few runs for significance: corrected p of {bound:.3g} at best")


def _left_out_flags(rows: pd.DataFrame, cell_a: str, cell_b: str, quantity: str, paired: bool) -> list[str]:
    """Return flags of the runs that are left out of the comparison, with the reason."""
    flags = []
    blocks = {cell: set(rows.loc[rows["cell"] == cell, "repetition"]) for cell in (cell_a, cell_b)}
    for cell, other in ((cell_a, cell_b), (cell_b, cell_a)):
        missing = left_out(rows, cell, quantity)
        if paired:
            missing |= dict.fromkeys(sorted(blocks[other] - blocks[cell]), "no run")
        kind = "block" if paired else "repetition"
        flags += [f"{kind} {which} left out: {cell}: {why}" for why, which in by_reason(missing).items()]
    return flags
