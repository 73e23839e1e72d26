"""What to try with a cell: found by evidence of its costs, and with what it changed where this study ran both.

Nothing is advised that the study did not measure: a hint is listed only where the study has a cell that differs in
nothing but what the hint changes. What it changed is the ratio of their energies, block by block, with an interval that
holds for all listed hints together (Bonferroni). It may well have been a loss, and then that is said.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from framewatt.profiling.api_names import UNTOLD
from framewatt.profiling.evidence import (
    Look,
    host_reads,
    joules_in,
    joules_of_updates,
    page_faults,
    seen_in,
    weights_among_inputs,
)
from framewatt.profiling.joules import BETWEEN
from framewatt.statistics.log_ratios import log_ratio, logs_of
from framewatt.statistics.selection import block_values, cells_of, totals
from framewatt.study.factors import PlainCell
from framewatt.study.options import FUSED, KEPT, OPTIONS, REMOVED, STEP
from framewatt.study.runtimes import RUNTIMES
from framewatt.workloads.registry import engine_facts

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
"""One took up to four microseconds where it was measured, so that so many are a fiftieth of the work."""

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
        lambda levels, other: other["heap"] == KEPT != levels["heap"],
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
    """Hints for the cells of a study.

    Args:
        joules: a row an operator or API of a cell (operators.COLUMNS).
        about: a row a timeline (operators.ABOUT).
        runs: the runs frame.
        exports: weights among the inputs of each export, see evidence.weights_in_exports.

    Returns:
        COLUMNS.
    """
    rows = totals(runs)
    cells = cells_of(runs)
    seen = seen_in(cells, rows, joules, about, exports)
    found = [
        {"cell": cell.id, "hint": hint.name, "evidence": evidence.text, "share_percent": evidence.share_percent}
        | {"factor": hint.factor, "tried": other.to_dict()[hint.factor], "tried_cell": other.id}
        for cell in cells
        for hint in HINTS
        if (evidence := hint.evidence(seen[cell.id]))
        for other in _others(cell, hint, cells)
    ]
    named = dict.fromkeys(name for one in found for name in (one["tried_cell"], one["cell"]))
    # Of the few columns that count: looking for cells in all of them takes several times as long.
    values = block_values(rows[["cell", "repetition", "counts", _QUANTITY]], list(named), _QUANTITY)
    return pd.DataFrame([one | _gain(values, one, len(found)) for one in found], columns=list(COLUMNS))


def _levels_of(cell: PlainCell) -> dict[str, Any]:
    """Levels of a cell; of an option that it does not have, the default."""
    return {name: OPTIONS[name].default if name in OPTIONS and pd.isna(level) else level for name, level in cell.levels}


def _others(cell: PlainCell, hint: Hint, cells: Sequence[PlainCell]) -> Iterable[PlainCell]:
    """Cells that differ in what a hint changes alone; ONNX Runtime's provider comes with the runtime."""
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
    """What it changed: the ratio with an interval that holds for so many hints together.

    Args:
        values: energy by block and cell, see selection.block_values.
        hint: the row so far.
        hints: number of all rows.
    """
    tried, plain = (logs_of(values[name].to_numpy()) for name in (hint["tried_cell"], hint["cell"]))
    ratio = log_ratio(tried, plain, paired=True)
    low, high = (float(end) for end in ratio.within(0.025 / hints))
    told = LESS if high < 1 else MORE if low > 1 else UNKNOWN
    return {
        **{"blocks": int(ratio.runs), "ratio": float(ratio.ratio), "ratio_low": low, "ratio_high": high},
        "told": told if np.isfinite([low, high]).all() else UNKNOWN,
    }
