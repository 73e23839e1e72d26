"""Which cells cost other than before: the runs of two packages side by side (Welch's t on logarithms)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.statistics.log_ratios import FEWEST, Floats, log_ratio, logs_of, number

MORE, HOLDS, CANNOT_TELL, LOST = "costs more", "holds", "cannot tell", "lost"
"""Verdicts on a cell: it is known to cost more by over the margin; known not to; neither; no run of it counts now."""

CHANGES_COLUMNS = [
    "cell",
    "old",
    "new",
    "n_old",
    "n_new",
    "ratio",
    "ratio_low",
    "ratio_high",
    "changed",
    "verdict",
    "no_interval",
]
"""Columns, a row a cell: geometric means of its runs, and their ratio new / old with an interval that holds for all
cells together; `changed` is `more` or `less` where that interval excludes 1, else empty; `no_interval` is the
reason why there is none, and then no other verdict is possible."""

FEW, ALIKE = "too few runs", "runs do not differ at all, so that their noise is unknown"
"""Reasons why a ratio has no interval."""


def changes(old: Mapping[str, Any], new: Mapping[str, Any], margin: float, alpha: float) -> pd.DataFrame:
    """Compare the runs of cells with the runs of the same cells in an older package (Welch's t on logarithms).

    Runs of two packages share no block, so they are not paired. Each end of an interval is at alpha / 2 over the number
    of cells (Bonferroni). So in at most alpha / 2 of comparisons any cell gets MORE that costs no more than the margin,
    and in at most alpha any cell gets a change that has none.

    Args:
        old: by cell, the values of its runs that count; an empty sequence where none does.
        new: of the same cells, in their order.
        margin: share by which a cell may cost more.
        alpha: see above.

    Returns:
        CHANGES_COLUMNS.
    """
    rows = [_compared(cell, logs_of(old[cell]), logs_of(new[cell]), alpha / 2 / len(old), margin) for cell in old]
    return pd.DataFrame(rows, columns=CHANGES_COLUMNS)


def _compared(cell: str, old: Floats, new: Floats, tail: float, margin: float) -> dict[str, Any]:
    old, new = old[np.isfinite(old)], new[np.isfinite(new)]
    row = {"cell": cell, "old": _mean(old), "new": _mean(new), "n_old": old.size, "n_new": new.size, "changed": ""}
    row |= {"no_interval": FEW}
    if not new.size:
        return row | {"verdict": LOST if old.size else CANNOT_TELL}
    if not old.size:
        return row | {"verdict": CANNOT_TELL}
    width = max(old.size, new.size)
    change = log_ratio(
        *(np.pad(one, (0, width - one.size), constant_values=np.nan) for one in (new, old)), paired=False
    )
    low, high = (number(end) for end in change.within(tail))
    row |= {"ratio": number(change.ratio), "ratio_low": low, "ratio_high": high, "verdict": CANNOT_TELL}
    if low is None or high is None:
        return row | {"no_interval": FEW if min(old.size, new.size) < FEWEST else ALIKE}
    row["no_interval"] = ""
    row["changed"] = "more" if low > 1 else "less" if high < 1 else ""
    if low > 1 + margin:
        return row | {"verdict": MORE}
    return row | {"verdict": HOLDS if high <= 1 + margin else CANNOT_TELL}


def _mean(logs: Floats) -> float | None:
    return number(stats.gmean(np.exp(logs))) if logs.size else None
