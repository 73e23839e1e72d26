"""What to try with a cell: found by evidence in its timeline, and with what it changed where this study ran both.

Nothing is advised that the study did not measure: a hint is listed only where the study has a cell that differs in
nothing but what the hint changes. What it changed is the ratio of their energies, block by block, with an interval that
holds for all listed hints together (Bonferroni). It may well have been a loss, and then that is said.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from framewatt.profiling.families import UNTOLD
from framewatt.profiling.joules import BETWEEN
from framewatt.profiling.operators import OPERATOR
from framewatt.statistics.log_ratios import log_ratio, logs_of
from framewatt.statistics.selection import block_values, cells_of, totals
from framewatt.study.factors import PlainCell
from framewatt.study.options import OPTIONS
from framewatt.study.runtimes import ONNX_RUNTIME, RUNTIMES

COLUMNS = (
    *("cell", "hint", "evidence", "share_percent", "factor", "tried", "tried_cell", "blocks"),
    *("ratio", "ratio_low", "ratio_high", "told"),
)
"""A row a hint: energy of the cell that was tried over that of the cell, per unit of work."""

LESS, MORE, UNKNOWN = "takes less", "takes more", "not told"

_QUANTITY = "energy_per_sample_j"
_OUTSIDE = (BETWEEN, UNTOLD)
_UNFUSED = ("normalisation", "activation, softmax")

Levels = Mapping[str, Any]


@dataclass(frozen=True)
class Hint:
    """Something to try.

    Attributes:
        name: in words.
        of: families of operators whose share of the joules is the evidence.
        least_percent: the share from which it is one.
        factor: what to change.
        applies: whether it is for a cell of such levels.
        tries: whether another level of the factor is what to try, by the cell's levels and the other's.
    """

    name: str
    of: tuple[str, ...]
    least_percent: float
    factor: str
    applies: Callable[[Levels], bool]
    tries: Callable[[Levels, Levels], bool]


def _engine(levels: Levels) -> str:
    return str(RUNTIMES[levels["runtime"]].engine)


def _is_torch(levels: Levels) -> bool:
    return bool(levels["runtime"] == "torch")


def _trained_here(levels: Levels) -> bool:
    return bool(levels["phase"] == "infer") and _engine(levels) != ONNX_RUNTIME


def _exported(levels: Levels) -> bool:
    return bool(levels["phase"] == "infer") and _engine(levels) == ONNX_RUNTIME


HINTS = (
    Hint(
        "larger batches: much is spent outside operators, or in ones that are soon over",
        _OUTSIDE,
        10.0,
        "batch_size",
        lambda levels: True,
        lambda levels, other: other["batch_size"] > levels["batch_size"],
    ),
    Hint(
        "a compiled graph in place of eager calls: much is spent outside operators",
        _OUTSIDE,
        5.0,
        "compile",
        _is_torch,
        lambda levels, other: other["compile"] == "compiled" != levels["compile"],
    ),
    Hint(
        "channels-last memory: convolutions take the joules",
        ("convolution",),
        30.0,
        "layout",
        _is_torch,
        lambda levels, other: other["layout"] == "channels_last" != levels["layout"],
    ),
    Hint(
        "a runtime that fuses: normalisation and activations are operators of their own",
        _UNFUSED,
        5.0,
        "runtime",
        _trained_here,
        lambda levels, other: _engine(other) == ONNX_RUNTIME,
    ),
    Hint(
        "another export: its normalisation was not folded into convolutions",
        ("normalisation",),
        2.0,
        "runtime",
        _exported,
        lambda levels, other: _engine(other) == ONNX_RUNTIME,
    ),
)
"""In the order of tables."""


def advice(joules: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Hints for the cells that have a timeline.

    Args:
        joules: a row an operator or API of a cell (operators.COLUMNS).
        runs: the runs frame.

    Returns:
        COLUMNS.
    """
    rows = totals(runs)
    cells = cells_of(runs)
    shares = _shares(joules)
    found = [
        {"cell": cell.id, "hint": hint.name, "evidence": ", ".join(hint.of), "share_percent": share}
        | {"factor": hint.factor, "tried": other.to_dict()[hint.factor], "tried_cell": other.id}
        for cell in cells
        if cell.id in shares
        for hint in HINTS
        if (share := sum(shares[cell.id].get(family, 0.0) for family in hint.of)) >= hint.least_percent
        for other in _others(cell, hint, cells)
    ]
    return pd.DataFrame([one | _gain(rows, one, len(found)) for one in found], columns=list(COLUMNS))


def _shares(joules: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Percent of a cell's joules by family, over its domains."""
    rows = joules[joules["by"] == OPERATOR]
    by_family = rows.groupby(["cell", "family"], sort=False)["energy_j"].sum()
    total = rows.groupby("cell", sort=False)["energy_j"].sum()
    found: dict[str, dict[str, float]] = {}
    for (cell, family), energy_j in by_family.items():
        found.setdefault(str(cell), {})[str(family)] = 100 * float(energy_j / total[cell])
    return found


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


def _gain(rows: pd.DataFrame, hint: Mapping[str, Any], hints: int) -> dict[str, Any]:
    """What it changed: the ratio with an interval that holds for so many hints together."""
    values = block_values(rows, [hint["tried_cell"], hint["cell"]], _QUANTITY)
    tried, plain = (logs_of(values[name].to_numpy()) for name in values.columns)
    ratio = log_ratio(tried, plain, paired=True)
    low, high = (float(end) for end in ratio.within(0.025 / hints))
    told = LESS if high < 1 else MORE if low > 1 else UNKNOWN
    return {
        **{"blocks": int(ratio.runs), "ratio": float(ratio.ratio), "ratio_low": low, "ratio_high": high},
        "told": told if np.isfinite([low, high]).all() else UNKNOWN,
    }
