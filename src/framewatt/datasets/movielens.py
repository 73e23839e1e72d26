"""MovieLens: films that people rated, from the data set's `ratings.csv`.

Source: F. M. Harper and J. A. Konstan, The MovieLens Datasets: History and Context, ACM TiiS 5 (2015);
https://grouplens.org/datasets/movielens.
"""

import csv
import math
from array import array
from pathlib import Path
from typing import Annotated

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import UserItems
from framewatt.datasets.options import Limits, Positive, Seed
from framewatt.datasets.ratings import Ratings, leave_one_out
from framewatt.datasets.record import about

FILE = "ratings.csv"
IDS = ("userId", "movieId", "timestamp")
STARS = "rating"
_DIGITS = 18


def make(
    folder: Path,
    *,
    fewest_ratings: Annotated[int, Limits(2)],
    negatives: Positive,
    candidates: Positive,
    seed: Seed,
) -> UserItems:
    """Return the ratings as pairs to learn from, and each user's last film among others (see ratings.leave_one_out).

    Args:
        folder: with `ratings.csv`, or with a folder that has it.
        fewest_ratings: users with fewer are left out.
        negatives: films that the user did not rate, a rating.
        candidates: films that are ranked next to the last one.
        seed: of all draws.

    Raises:
        FramewattError: the file is not there, lacks a column, or has a line that holds no rating; see leave_one_out.
    """
    files = sorted([*folder.glob(FILE), *folder.glob(f"*/{FILE}")])
    if len(files) != 1:
        raise FramewattError(f"{folder}: it has {len(files)} files {FILE}. Use one, there or one folder below.")
    facts = about("films by user, in the order of time; stars are not looked at", read=files, root=folder)
    return leave_one_out(
        read_ratings(files[0]),
        fewest_ratings=fewest_ratings,
        negatives=negatives,
        candidates=candidates,
        seed=seed,
        about=facts,
    )


def read_ratings(path: Path) -> Ratings:
    """Read a file of ratings; empty lines are skipped.

    Line by line, not by pandas: its reader takes a line with a value too many as one without, and a file of such lines
    as one with its columns moved.

    Raises:
        FramewattError: it lacks a column, has no rating, has a line that holds none, or is not UTF-8.
    """
    columns: dict[str, array[int]] = {name: array("q") for name in IDS}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = csv.reader(file)
            header = next(lines, [])
            for name in (*IDS, STARS):
                if name not in header:
                    raise _wrong(path, 1, f"no column {name} in {', '.join(header)}", ", ".join([*IDS, STARS]))
            places, stars = {name: header.index(name) for name in IDS}, header.index(STARS)
            for cells in lines:
                if not cells:
                    continue
                if len(cells) != len(header):
                    raise _wrong(path, lines.line_num, f"{len(cells)} values", f"{len(header)}, as in the first line")
                if not _is_number(cells[stars]):
                    raise _wrong(path, lines.line_num, f"{STARS} {cells[stars][:40]!r}", "a number")
                for name, place in places.items():
                    if not _is_id(cells[place]):
                        raise _wrong(path, lines.line_num, f"{name} {cells[place][:40]!r}", "a whole number")
                    columns[name].append(int(cells[place]))
    except UnicodeDecodeError as error:
        raise FramewattError(f"{path}: it has bytes that are no UTF-8 ({error.reason}). Use UTF-8.") from error
    except csv.Error as error:
        raise FramewattError(f"{path}: {error}. Use values between commas.") from error
    if not columns[IDS[0]]:
        raise FramewattError(f"{path}: it has no rating. Use one or more.")
    return Ratings(*(np.array(columns[name], np.int64) for name in IDS))


def _wrong(path: Path, line: int, problem: str, allowed: str) -> FramewattError:
    return FramewattError(f"{path}: line {line}: it has {problem}. Use {allowed}.")


def _is_id(text: str) -> bool:
    """Return whether it is digits alone, no more than fit 64 bits."""
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
