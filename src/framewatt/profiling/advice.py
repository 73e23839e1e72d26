"""What to try with a cell: suggested by evidence of its costs, with what it changed where the study ran both.

Nothing is advised that the study did not measure: a hint is listed only if the study has a cell that differs in nothing
but what the hint changes. The change is the ratio of their energies, block by block, with an interval that holds for
all listed hints together (Bonferroni). If the change was a loss, the table shows the loss.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from framewatt.base.files import read_json
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.profiling.api_names import UNTOLD
from framewatt.profiling.joules import BETWEEN
from framewatt.profiling.operators import API, OPERATOR
from framewatt.statistics.log_ratios import log_ratio, logs_of
from framewatt.statistics.selection import block_values, cells_of, totals
from framewatt.study.cell import FIXED, Cell
from framewatt.study.factors import PlainCell
from framewatt.study.options import FUSED, HEAP_STAYS, OPTIONS, QUANTISED, REMOVED, STEP
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
        share_percent: of the cell's joules that it concerns; None where that share is unknown.
    """

    text: str
    share_percent: float | None = None


Look = Callable[[Seen], Evidence | None]
"""Looks for evidence in a cell; None where there is none, or it cannot be had."""


def joules_in(*families: str, least_percent: float) -> Look:
    """Return what looks for a share of the joules in families of operators."""

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
    """Return what looks for calls in a step in which the host waits for a number."""

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
    """Return what looks for page faults that memory serves: the process released memory and requests it again.

    Faults are counted per second of processor time and not of the clock: each fault takes processor time, and other
    programs on the machine do not change that rate.
    """

    def look(seen: Seen) -> Evidence | None:
        if seen.faults_per_cpu_s is None or seen.faults_per_cpu_s < least_per_cpu_s:
            return None
        return Evidence(f"page faults: {seen.faults_per_cpu_s:,.0f} a processor second")

    return look


def weights_among_inputs(seen: Seen) -> Evidence | None:
    """Return weights that a graph lists among its inputs."""
    return Evidence(f"weights among inputs: {seen.weights_among_inputs}") if seen.weights_among_inputs else None


def seen_in(
    cells: Iterable[PlainCell],
    rows: pd.DataFrame,
    joules: pd.DataFrame,
    about: pd.DataFrame,
    exports: Mapping[str, int | None],
) -> dict[str, Seen]:
    """Return what is known of each cell, by name.

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
    """Return how many weights are among the inputs of each export, by its folder: `<model>` or `<model>/<precision>`.

    Args:
        folders: of the checks of exports, `…/<model>/check` or `…/<model>/<precision>/check`.
    """
    weights = {}
    for folder in map(Path, folders):
        export = folder.parent
        name = f"{export.parent.name}/{export.name}" if export.name in QUANTISED else export.name
        weights[name] = read_json(folder / CHECK_RECORD).get("weights_among_inputs")
    return weights


def _shares(rows: pd.DataFrame, name: str) -> dict[str, dict[str, float]]:
    """Return percent of a cell's joules by a column, over its domains."""
    by_name = rows.groupby(["cell", name], sort=False)["energy_j"].sum()
    total = rows.groupby("cell", sort=False)["energy_j"].sum()
    shares: dict[str, dict[str, float]] = {}
    for (cell, level), energy_j in by_name.items():
        shares.setdefault(str(cell), {})[str(level)] = 100 * float(energy_j / total[cell])
    return shares


def _numbers(rows: pd.DataFrame, name: str) -> "pd.Series[float]":
    """Return a column as numbers; NaN where it is missing, or there is none."""
    column: Any = rows[name] if name in rows else pd.Series(float("nan"), rows.index)
    return pd.to_numeric(column).astype("float64")


def _known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


COLUMNS = (
    *("cell", "hint", "evidence", "share_percent", "factor", "tried", "tried_cell", "blocks"),
    *("ratio", "ratio_low", "ratio_high", "told"),
)
"""A row a hint: energy of the cell that was tried over that of the cell, per unit of work.

The share is of the cell's joules, and missing where the evidence is another."""

LESS, MORE, UNKNOWN = "takes less", "takes more", "not told"

_QUANTITY = "energy_per_sample_j"
_OUTSIDE = (BETWEEN, UNTOLD)
_MANY_FAULTS_PER_CPU_S = 5_000
"""A fault took up to 4 us where it was measured, so that 5,000 in a second are 2 % of the work."""

_UNFUSED = ("normalisation", "activation, softmax")

Levels = Mapping[str, Any]


@dataclass(frozen=True)
class Hint:
    """Something to try.

    Attributes:
        name: in words.
        evidence: looks for what suggests it.
        factor: what to change.
        applies: whether it is for a cell of such levels.
        tries: whether another level of the factor is what to try, by the cell's levels and the other's.
    """

    name: str
    evidence: Look
    factor: str
    applies: Callable[[Levels], bool]
    tries: Callable[[Levels, Levels], bool]


def _engine(levels: Levels) -> str:
    return str(RUNTIMES[levels["runtime"]].engine)


def _can_compile_eager(levels: Levels) -> bool:
    return bool(engine_facts("EAGER").get(_engine(levels))) and "compile" in RUNTIMES[levels["runtime"]].honours


def _has(option: str) -> Callable[[Levels], bool]:
    """Return whether the runtime of a cell has an option."""
    return lambda levels: option in RUNTIMES[levels["runtime"]].honours


def _runs_exports(levels: Levels) -> bool:
    return not RUNTIMES[levels["runtime"]].trains


def _in_framework(levels: Levels) -> bool:
    return bool(levels["phase"] == "infer") and not _runs_exports(levels)


def _exported(levels: Levels) -> bool:
    return bool(levels["phase"] == "infer") and _runs_exports(levels)


HINTS = (
    Hint(
        "larger batches: much is spent outside operators, or in ones that are soon over",
        joules_in(*_OUTSIDE, least_percent=10.0),
        "batch_size",
        lambda levels: True,
        lambda levels, other: other["batch_size"] > levels["batch_size"],
    ),
    Hint(
        "a compiled graph in place of eager calls: much is spent outside operators",
        joules_in(*_OUTSIDE, least_percent=5.0),
        "compile",
        _can_compile_eager,
        lambda levels, other: other["compile"] == "compiled" != levels["compile"],
    ),
    Hint(
        "channels-last memory: convolutions take the joules",
        joules_in("convolution", least_percent=30.0),
        "layout",
        _has("layout"),
        lambda levels, other: other["layout"] == "channels_last" != levels["layout"],
    ),
    Hint(
        "a runtime that fuses: normalisation and activations are operators of their own",
        joules_in(*_UNFUSED, least_percent=5.0),
        "runtime",
        _in_framework,
        lambda levels, other: _runs_exports(other),
    ),
    Hint(
        "another export: its normalisation was not folded into convolutions",
        joules_in("normalisation", least_percent=2.0),
        "runtime",
        _exported,
        lambda levels, other: _runs_exports(other),
    ),
    Hint(
        "weights off the list of a graph's inputs: none of them is a constant",
        weights_among_inputs,
        "weight_inputs",
        _exported,
        lambda levels, other: other["weight_inputs"] == REMOVED != levels["weight_inputs"],
    ),
    Hint(
        "a heap that is kept: memory goes back to the kernel and is faulted in again",
        page_faults(_MANY_FAULTS_PER_CPU_S),
        "heap",
        lambda levels: True,
        lambda levels, other: other["heap"] == HEAP_STAYS != levels["heap"],
    ),
    Hint(
        "a fused optimiser: its update takes the joules of many small operators",
        joules_of_updates(least_percent=2.0),
        "update",
        _has("update"),
        lambda levels, other: other["update"] == FUSED != levels["update"],
    ),
    Hint(
        "losses read after the epoch: the host waits for numbers in each step",
        host_reads(least_per_step=1.0),
        "loss_read",
        lambda levels: bool(levels["phase"] == "train"),
        lambda levels, other: other["loss_read"] != STEP == levels["loss_read"],
    ),
)
"""In the order of tables."""


def advice(
    joules: pd.DataFrame, about: pd.DataFrame, runs: pd.DataFrame, exports: Mapping[str, int | None]
) -> pd.DataFrame:
    """Return the hints for the cells of a study.

    Args:
        joules: a row an operator or API of a cell (operators.COLUMNS).
        about: a row a timeline (operators.ABOUT).
        runs: the runs frame.
        exports: weights among the inputs of each export, see weights_in_exports.

    Returns:
        COLUMNS.
    """
    rows = totals(runs)
    cells = cells_of(runs)
    seen = seen_in(cells, rows, joules, about, exports)
    hints = [
        {"cell": cell.id, "hint": hint.name, "evidence": evidence.text, "share_percent": evidence.share_percent}
        | {"factor": hint.factor, "tried": other.to_dict()[hint.factor], "tried_cell": other.id}
        for cell in cells
        for hint in HINTS
        if (evidence := hint.evidence(seen[cell.id]))
        for other in _others(cell, hint, cells)
    ]
    named = dict.fromkeys(name for hint in hints for name in (hint["tried_cell"], hint["cell"]))
    # Only the few columns that count are passed on: a search in all columns takes several times longer.
    values = block_values(rows[["cell", "repetition", "counts", _QUANTITY]], list(named), _QUANTITY)
    return pd.DataFrame([hint | _gain(values, hint, len(hints)) for hint in hints], columns=list(COLUMNS))


def _levels_of(cell: PlainCell) -> dict[str, Any]:
    """Return levels of a cell; of an option that it does not have, the default."""
    return {name: OPTIONS[name].default if name in OPTIONS and pd.isna(level) else level for name, level in cell.levels}


def _others(cell: PlainCell, hint: Hint, cells: Sequence[PlainCell]) -> Iterable[PlainCell]:
    """Yield cells that differ in what a hint changes alone; ONNX Runtime's provider comes with the runtime."""
    levels = _levels_of(cell)
    if hint.factor not in levels or not hint.applies(levels):
        return
    changed = {hint.factor, *(["provider"] if hint.factor == "runtime" else [])}
    for other in cells:
        theirs = _levels_of(other)
        alike = all(levels[name] == theirs[name] for name in levels if name not in changed)
        if alike and other.id != cell.id and hint.tries(levels, theirs):
            yield other


def _gain(values: pd.DataFrame, hint: Mapping[str, Any], hints: int) -> dict[str, Any]:
    """Return what a hint changed: the ratio of energies, with an interval that holds for all hints together.

    Args:
        values: energy by block and cell, see selection.block_values.
        hint: the row so far.
        hints: number of all rows.
    """
    tried, plain = (logs_of(values[name].to_numpy()) for name in (hint["tried_cell"], hint["cell"]))
    ratio = log_ratio(tried, plain, paired=True)
    low, high = (float(end) for end in ratio.within(0.025 / hints))
    verdict = LESS if high < 1 else MORE if low > 1 else UNKNOWN
    return {
        **{"blocks": int(ratio.runs), "ratio": float(ratio.ratio), "ratio_low": low, "ratio_high": high},
        "told": verdict if np.isfinite([low, high]).all() else UNKNOWN,
    }
