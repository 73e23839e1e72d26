"""Any two cells side by side: the numbers of each, and what their comparison says, as data of the page's script."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.frames.headline import counts
from framewatt.frames.quality import METRIC, QUALITY, title_of, with_quality
from framewatt.report.groups import groups_of
from framewatt.report.material import Material
from framewatt.report.numbers import NO_BREAK_SPACE, UNKNOWN, known, p_value, si, si_range, significant
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.ratios import ratio_range

_MIB = 2**20
_LATENCIES = {"latency_p50_s": "Latency, median", "latency_p95_s": "Latency, 95th percentile"}


def side_by_side(material: Material) -> dict[str, Any]:
    """What the page's script needs to show two cells next to each other.

    Returns:
        `rows`, what is told of a cell; `cells`, each with its `group`, `name` and the `values` of these rows, in the
        order of groups; `pairs`, each with the places `a` and `b` of its cells, and the sentences of their comparison.
        Without two cells that have a run that counts, `cells` and `pairs` are empty.
    """
    values = numbers_of(material)
    # What is known of no cell at all has no row.
    rows = [words for words in next(iter(values.values()), {}) if any(one[words] != UNKNOWN for one in values.values())]
    cells = [
        {
            "cell": cell,
            "group": group.name,
            "name": name,
            "values": [_or_unknown(values[cell][words]) for words in rows],
        }
        for group in groups_of(material.plan).values()
        for cell, name in group.labels.items()
        if cell in values
    ]
    if len(cells) < 2:
        return {"rows": [], "cells": [], "pairs": []}
    places = {str(cell["cell"]): place for place, cell in enumerate(cells)}
    names = {str(cell["cell"]): str(cell["name"]) for cell in cells}
    return {
        "rows": rows,
        "cells": [{name: value for name, value in cell.items() if name != "cell"} for cell in cells],
        "pairs": _pairs(material, places, names),
    }


def cell_summaries(material: Material) -> dict[str, str]:
    """Name, energy and time of every cell that has a run that counts, with the intervals of the means, by cell."""
    first = {cell: list(told.items())[:2] for cell, told in numbers_of(material).items()}
    return {
        cell: f"{name} ({group.name}): {'; '.join(f'{words} {_or_unknown(value)}' for words, value in first[cell])}"
        for group in groups_of(material.plan).values()
        for cell, name in group.labels.items()
        if cell in first
    }


def numbers_of(material: Material) -> dict[str, dict[str, str]]:
    """The numbers of every cell that has a run that counts, in words: energy, time, latency, throughput and others.

    Returns:
        by cell: what is told, and its number with the interval of its mean, where there is one.
    """
    runs = with_quality(material.totals[counts(material.totals)])
    head = material.headline
    means = material.cells[material.cells["quantity"].isin(head.quantities)].set_index(["cell", "quantity"])
    quality = title_of(list(runs[METRIC])) if len(runs) else ""
    memory_b = _memory_b(material)
    found: dict[str, dict[str, str]] = {}
    for cell, part in runs.groupby("cell", sort=True):
        name = str(cell)
        mark = ESTIMATED if bool(part["estimated"].any()) else ""
        energy, time = (
            _mean(means, name, quantity, unit) for quantity, unit in zip(head.quantities, ("J", "s"), strict=True)
        )
        found[name] = {
            f"Energy a {head.per}": energy + mark if energy != UNKNOWN else UNKNOWN,
            f"Time a {head.per}": time,
            **{words: si(_average(part, column), "s") for column, words in _LATENCIES.items()},
            "Throughput": _throughput(_average(part, "throughput_per_s"), head.per),
            "Most memory of a run": _memory(memory_b.get(name)),
            quality: significant(_average(part, QUALITY)),
            "Runs that count": str(len(part)),
        }
    return found


def _or_unknown(value: str) -> str:
    return "unknown" if value == UNKNOWN else value


def _mean(means: pd.DataFrame, cell: str, quantity: str, unit: str) -> str:
    if (cell, quantity) not in means.index:
        return UNKNOWN
    row = means.loc[(cell, quantity)]
    return si_range(row["mean"], row["mean_low"], row["mean_high"], unit)


def _average(part: pd.DataFrame, column: str) -> float:
    return float(pd.to_numeric(part[column], errors="coerce").mean()) if column in part else float("nan")


def _throughput(rate_per_s: float, per: str) -> str:
    return f"{significant(rate_per_s)}{NO_BREAK_SPACE}{per}s/s" if known(rate_per_s) else UNKNOWN


def _memory_b(material: Material) -> dict[str, float]:
    """The largest peak memory of the runs of every cell whose records tell it."""
    found: dict[str, float] = {}
    for record in material.records:
        peak_b = (record.get("workload") or {}).get("peak_memory_b")
        if peak_b is not None and known(peak_b):
            found[record["cell_id"]] = max(found.get(record["cell_id"], 0.0), float(peak_b))
    return found


def _memory(peak_b: float | None) -> str:
    return UNKNOWN if peak_b is None else f"{peak_b / _MIB:.0f}{NO_BREAK_SPACE}MiB"


def _pairs(material: Material, places: Mapping[str, int], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The sentences of every compared pair, energy first."""
    head = material.headline
    spent = {head.energy: "energy", head.time: "time"}
    found: dict[tuple[int, int], list[str]] = {}
    for row in material.comparisons.to_dict("records"):
        if row["quantity"] in spent and row["cell_a"] in places and row["cell_b"] in places:
            pair = (places[row["cell_a"]], places[row["cell_b"]])
            found.setdefault(pair, []).append(_sentence(row, spent[row["quantity"]], head.per, names))
    return [{"a": a, "b": b, "told": told} for (a, b), told in sorted(found.items())]


def _sentence(row: Mapping[Any, Any], spent: str, per: str, names: Mapping[str, str]) -> str:
    """What a comparison says; the cell that takes more is named first, with its ratio to the other."""
    ratio, low, high = row["ratio"], row["ratio_low"], row["ratio_high"]
    what = f"{spent} a {per}{ESTIMATED if row['estimated'] is True or str(row['estimated']) == 'True' else ''}"
    if not known(ratio):
        return f"{what[:1].upper()}{what[1:]}: too few runs to compare."
    larger, smaller = row["cell_b"], row["cell_a"]
    shown = row["significant"] is True or str(row["significant"]) == "True"
    if row["costs_more"] == smaller if shown else ratio < 1:
        larger, smaller = smaller, larger
        ratio = 1 / ratio
        low, high = (1 / high, 1 / low) if known(low, high) and low > 0 else (None, None)
    times = f"{ratio_range(ratio, low, high)} compared with {names[smaller]}"
    p = p_value(row["p_corrected"])
    if pd.isna(row["significant"]):
        return f"{names[larger]} took {what} {times}; no test could be made."
    if shown:
        return f"{names[larger]} takes more {what}: {times} ({p})."
    return f"No difference of {what} is shown: {names[larger]} took {times} ({p})."
