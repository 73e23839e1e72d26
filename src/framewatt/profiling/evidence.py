"""What is known of a cell that may suggest something to try: from its timeline, its runs and its export."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.files import read_json
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.profiling.operators import API, OPERATOR
from framewatt.study.cell import FIXED, Cell
from framewatt.study.factors import PlainCell
from framewatt.study.options import QUANTISED
from framewatt.study.runtimes import RUNTIMES
from framewatt.workloads.registry import engine_facts

_READS = "host_reads_per_step"

Shares = Mapping[str, float]
"""Percent of a cell's joules by name."""


@dataclass(frozen=True)
class Seen:
    """A cell; None is unknown, and what has no joules of its own is in no share.

    Attributes:
        families: percent of the joules by family of operators, over its domains; empty without a timeline.
        operators: as above, by operator.
        apis: as above, by API.
        host_reads_per_step: calls in which the host waits for a number of the device.
        faults_per_cpu_s: minor page faults of its runs in a second of their processor time: the median.
        weights_among_inputs: of its export, as the check of it counted them.
        engine: the library that executes it.
    """

    families: Shares = field(default_factory=dict)
    operators: Shares = field(default_factory=dict)
    apis: Shares = field(default_factory=dict)
    host_reads_per_step: float | None = None
    faults_per_cpu_s: float | None = None
    weights_among_inputs: int | None = None
    engine: str = ""


@dataclass(frozen=True)
class Evidence:
    """Why something is worth trying.

    Attributes:
        text: in words.
        share_percent: of the cell's joules that it concerns; None where that is not told.
    """

    text: str
    share_percent: float | None = None


Look = Callable[[Seen], Evidence | None]
"""Looks for evidence in a cell; None where there is none, or it cannot be had."""


def joules_in(*families: str, least_percent: float) -> Look:
    """A share of the joules in families of operators."""

    def look(seen: Seen) -> Evidence | None:
        share = sum(seen.families.get(family, 0.0) for family in families)
        return Evidence(", ".join(families), share) if share >= least_percent else None

    return look


def joules_of_updates(least_percent: float) -> Look:
    """Return what looks for a share of the joules in the API that updates weights."""

    def look(seen: Seen) -> Evidence | None:
        ends = engine_facts("UPDATE_API").get(seen.engine)
        if ends is None:
            return None
        shares = {api: share for api, share in seen.apis.items() if api.startswith(ends[0]) and api.endswith(ends[1])}
        share = sum(shares.values())
        return Evidence(", ".join(shares), share) if shares and share >= least_percent else None

    return look


def host_reads(least_per_step: float) -> Look:
    """Calls in which the host waits for a number, in the steps."""

    def look(seen: Seen) -> Evidence | None:
        calls = seen.host_reads_per_step
        if calls is None or calls < least_per_step:
            return None
        shares = [
            seen.operators[name] for name in engine_facts("HOST_READS").get(seen.engine, ()) if name in seen.operators
        ]
        return Evidence(f"item(), nonzero(): {calls:.3g} a step", sum(shares) if shares else None)

    return look


def page_faults(least_per_cpu_s: float) -> Look:
    """Page faults that memory serves: of memory that was let go of, and is asked for again.

    By processor time and not by the clock, since each takes some, and others on the machine have no part in it.
    """

    def look(seen: Seen) -> Evidence | None:
        if seen.faults_per_cpu_s is None or seen.faults_per_cpu_s < least_per_cpu_s:
            return None
        return Evidence(f"page faults: {seen.faults_per_cpu_s:,.0f} a processor second")

    return look


def weights_among_inputs(seen: Seen) -> Evidence | None:
    """Weights that a graph lists among its inputs."""
    return Evidence(f"weights among inputs: {seen.weights_among_inputs}") if seen.weights_among_inputs else None


def seen_in(
    cells: Iterable[PlainCell],
    rows: pd.DataFrame,
    joules: pd.DataFrame,
    about: pd.DataFrame,
    exports: Mapping[str, int | None],
) -> dict[str, Seen]:
    """What is known of each cell, by name.

    Args:
        cells: of the study.
        rows: its runs, from statistics.selection.totals.
        joules: a row an operator or API of a cell (operators.COLUMNS).
        about: a row a timeline (operators.ABOUT); older ones lack columns.
        exports: of `weights_in_exports`.
    """
    by_operator, by_api = (joules[joules["by"] == by] for by in (OPERATOR, API))
    families, operators, apis = _shares(by_operator, "family"), _shares(by_operator, "name"), _shares(by_api, "name")
    reads = _numbers(about, _READS).groupby(about["cell"]).first()
    counted = rows[rows["counts"]]
    cpu_s = _numbers(counted, "run_cpu_s")
    faults = _numbers(counted, "minor_faults") / cpu_s.where(cpu_s > 0)
    faults_per_cpu_s = faults.groupby(counted["cell"]).median()
    return {
        cell.id: Seen(
            families.get(cell.id, {}),
            operators.get(cell.id, {}),
            apis.get(cell.id, {}),
            _known(reads.get(cell.id)),
            _known(faults_per_cpu_s.get(cell.id)),
            exports.get(Cell(**{name: cell.to_dict()[name] for name in FIXED}).export),
            RUNTIMES[cell.to_dict()["runtime"]].engine,
        )
        for cell in cells
    }


def weights_in_exports(folders: Iterable[str | Path]) -> dict[str, int | None]:
    """Weights among the inputs of each export, by the name of its folder: the model, or `<model>/<precision>`.

    Args:
        folders: of the checks of exports, `…/<model>/check` or `…/<model>/<precision>/check`.
    """
    found = {}
    for folder in map(Path, folders):
        of = folder.parent
        name = f"{of.parent.name}/{of.name}" if of.name in QUANTISED else of.name
        found[name] = read_json(folder / CHECK_RECORD).get("weights_among_inputs")
    return found


def _shares(rows: pd.DataFrame, name: str) -> dict[str, dict[str, float]]:
    """Percent of a cell's joules by a column, over its domains."""
    by_name = rows.groupby(["cell", name], sort=False)["energy_j"].sum()
    total = rows.groupby("cell", sort=False)["energy_j"].sum()
    found: dict[str, dict[str, float]] = {}
    for (cell, one), energy_j in by_name.items():
        found.setdefault(str(cell), {})[str(one)] = 100 * float(energy_j / total[cell])
    return found


def _numbers(rows: pd.DataFrame, name: str) -> "pd.Series[float]":
    """A column as numbers; NaN where it is missing, or there is none."""
    column: Any = rows[name] if name in rows else pd.Series(float("nan"), rows.index)
    return pd.to_numeric(column).astype("float64")


def _known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
