"""Ratios as readers see them in tables and sentences: `1.22x`, and the ends of the interval."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.tables.table import MISSING

MOST_TIMES = 100
"""Largest ratio of the ends of an interval that is printed; a wider interval is not printed."""


def times(ratio: float) -> str:
    """Return a ratio with the digits that differ from 1: `1.22x`, `1.0034x`, `4,300x`."""
    return f"{_ratio(ratio, _decimals(ratio))}x"


def ratio_range(ratio: float, low: float | None, high: float | None) -> str:
    """Return a ratio with its interval, all to the same digits: `1.22x [1.10, 1.35]`.

    An unknown or very wide interval is left out.

    Args:
        ratio: above 0.
        low: end of its interval, or None where it is not known.
        high: the other end.
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return times(ratio)
    if low <= 0 or high / low > MOST_TIMES:
        return f"{times(ratio)} [not known within a factor of {MOST_TIMES}]"
    ends = [_ratio(end, max(_decimals(ratio), _decimals(end) if end < 1 or ratio >= 10 else 0)) for end in (low, high)]
    return f"{times(ratio)} [{', '.join(ends)}]"


def _decimals(ratio: float) -> int:
    """Decimals that show three digits of a ratio, or the first two that differ from 1."""
    off = abs(ratio - 1)
    if 0 < off < 0.01:
        return min(1 - math.floor(math.log10(off)), 6)
    return max(0, 2 - math.floor(math.log10(ratio))) if ratio > 0 else 2


def _ratio(value: float, decimals: int) -> str:
    if value >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.{decimals}f}"


def ratio_of(row: Mapping[str, Any], name: str = "ratio") -> str:
    """A row's ratio with its interval, of the columns `name`, `<name>_low` and `<name>_high`; MISSING if unknown."""
    ratio, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return MISSING if ratio is None or pd.isna(ratio) else ratio_range(ratio, low, high)
