"""CSV without formula injection: a spreadsheet takes a cell that begins with = + - @ for a formula.

Such a text is prefixed with an apostrophe, as spreadsheets themselves mark text; numbers, including negative ones, stay
numbers. `read_csv` removes the apostrophe again, so that a round trip is lossless.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def to_csv(frame: pd.DataFrame, **how: Any) -> str:
    """Return a frame as CSV text without an index, its texts protected.

    Args:
        frame: of numbers and texts.
        how: further arguments of pandas' `to_csv`.
    """
    safe = _exchanged(frame, _marked)
    return str(safe.to_csv(index=False, lineterminator="\n", **how))


def read_csv(path: str | Path, **how: Any) -> pd.DataFrame:
    """Return the frame that `to_csv` wrote.

    Args:
        path: the file.
        how: further arguments of pandas' `read_csv`.
    """
    return _exchanged(pd.read_csv(path, **how), _unmarked)


def _exchanged(frame: pd.DataFrame, exchange: Callable[[Any], Any]) -> pd.DataFrame:
    """Return the frame with `exchange` applied to texts and column names; other columns stay as they are."""
    changed = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        old = column.tolist()
        new = [exchange(value) for value in old]
        if any(before is not after for before, after in zip(old, new, strict=True)):
            changed[name] = pd.Series(new, index=column.index, dtype=object)
    return frame.assign(**{str(name): values for name, values in changed.items()}).rename(columns=exchange)


def _marked(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value) else value


def _unmarked(value: Any) -> Any:
    return value[1:] if isinstance(value, str) and value.startswith("'") and _FORMULA.match(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
