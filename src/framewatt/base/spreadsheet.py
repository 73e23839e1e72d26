"""CSV that a spreadsheet shows as text: a cell that begins with = + - @ is a formula there, whoever wrote it.

Such a text gets an apostrophe before it, as spreadsheets themselves mark text; numbers, also below zero, stay numbers.
`read_csv` takes the apostrophe away again, so that what was written comes back.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def to_csv(frame: pd.DataFrame, **how: Any) -> str:
    """A frame as comma-separated values without an index, its texts safe.

    Args:
        frame: of numbers and texts.
        how: further arguments of pandas' `to_csv`.
    """
    safe = _exchanged(frame, _marked)
    return str(safe.to_csv(index=False, lineterminator="\n", **how))


def read_csv(path: str | Path, **how: Any) -> pd.DataFrame:
    """The frame that `to_csv` wrote.

    Args:
        path: the file.
        how: further arguments of pandas' `read_csv`.
    """
    return _exchanged(pd.read_csv(path, **how), _unmarked)


def _exchanged(frame: pd.DataFrame, exchange: Callable[[Any], Any]) -> pd.DataFrame:
    """The frame with texts and names of columns exchanged; a column of which none is, is left as it is."""
    changed = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        old = column.tolist()
        new = [exchange(value) for value in old]
        if any(one is not other for one, other in zip(old, new, strict=True)):
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
