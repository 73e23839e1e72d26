"""Verdicts and tables as files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text
from framewatt.base.spreadsheet import read_csv, to_csv
from framewatt.published.tables import to_readable_markdown


def read_verdicts(path: Path) -> pd.DataFrame:
    """Read the CSV file of `write_verdicts`; numbers as printed stay text."""
    return read_csv(path, dtype={"published": str, "note": str, "unit": str, "column": str})


def write_verdicts(study: str, verdicts: pd.DataFrame, paths: Iterable[Path]) -> None:
    """Write all verdicts as .csv, and those that a reader can go through as .md.

    Raises:
        FramewattError: a path ends in something else.
    """
    for path in paths:
        if path.suffix == ".csv":
            write_text(path, _to_csv(verdicts))
        elif path.suffix == ".md":
            write_text(path, to_readable_markdown(study, verdicts))
        else:
            raise FramewattError(f"{path}: found suffix {path.suffix!r}; allowed: .csv, .md")


def write_plain(frames: Mapping[str, pd.DataFrame], paths: Mapping[str, str]) -> None:
    """Write frames as CSV files.

    Args:
        frames: by name.
        paths: of the files, by the same names.
    """
    for name, frame in frames.items():
        write_text(Path(paths[name]), _to_csv(frame))


def _to_csv(frame: pd.DataFrame) -> str:
    # Beyond twelve digits lies what one machine's mathematical library makes of a function and another's does not.
    return to_csv(frame, float_format="%.12g")
