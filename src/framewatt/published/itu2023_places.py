"""Where itu2023's authors keep the table of what they computed."""

import hashlib
from pathlib import Path

from framewatt.base.errors import FramewattError

AUTHORS_TABLES = "all_data_processed*.csv"
PLACES = (".", "dataout")
"""Folders, below the one that holds `experiments`, in which the table may lie; their repository has it in `dataout`."""


def authors_tables(folder: Path) -> list[Path]:
    """The authors' tables, each content once.

    Args:
        folder: that holds `experiments`.

    Raises:
        FramewattError: there is none; the line names every place that was searched.
    """
    places = [folder / place / AUTHORS_TABLES for place in PLACES]
    by_content: dict[str, Path] = {}
    for place in places:
        for path in sorted(place.parent.glob(place.name)):
            by_content.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    if not by_content:
        looked = " and ".join(str(place) for place in places)
        raise FramewattError(
            f"published_itu2023: found no table of the authors at {looked}; allowed: one at either place, as in their "
            "repository"
        )
    return list(by_content.values())


def labels(tables: list[Path]) -> dict[Path, str]:
    """What verdicts call each table: its name, and its folder too where two have one name."""
    names = [path.name for path in tables]
    return {path: path.name if names.count(path.name) == 1 else f"{path.parent.name}/{path.name}" for path in tables}
