"""Rows of different lengths: padded as few at a time as are asked for, and as narrow as these allow."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.ragged import IGNORED, ROUNDED, Ragged

ROWS = [[5, 6, 7], [], [8], list(range(10, 20)), [9, 9]]


def ragged(rows: list[list[int]] = ROWS, fill: int = 0) -> Ragged:
    starts = np.cumsum([0, *map(len, rows)])
    return Ragged(np.array([one for row in rows for one in row], np.int64), starts, fill)


def test_it_is_like_an_array_where_engines_look_at_one() -> None:
    rows = ragged()
    assert (len(rows), rows.shape, rows.ndim, rows.dtype, rows.nbytes) == (5, (5, 10), 2, np.int64, 16 * 8)
    assert rows.lengths.tolist() == [3, 0, 1, 10, 2]
    assert rows.joined().tolist() == [one for row in ROWS for one in row]


@pytest.mark.parametrize(
    ("asked", "expected", "width"),
    [
        (slice(0, 3), [0, 1, 2], 8),
        (slice(2, 99), [2, 3, 4], 16),
        (slice(None), [0, 1, 2, 3, 4], 16),
        (np.array([4, 0, 4]), [4, 0, 4], 8),
        (np.array([3]), [3], 16),
        (np.array([1]), [1], 0),
        (slice(1, 1), [], 0),
        (np.array([], np.int64), [], 0),
    ],
)
@pytest.mark.parametrize("fill", [0, IGNORED])
def test_rows_are_padded_to_the_longest_of_them_rounded_up(
    asked: object, expected: list[int], width: int, fill: int
) -> None:
    found = ragged(fill=fill)[asked]
    assert (found.shape, found.dtype) == ((len(expected), width), np.int64)
    assert found.tolist() == [ROWS[one] + [fill] * (width - len(ROWS[one])) for one in expected]


def test_a_row_of_just_the_rounded_length_is_not_padded() -> None:
    assert ragged([[1] * ROUNDED])[:].shape == (1, ROUNDED)
    assert ragged([[1] * (ROUNDED + 1)])[:].shape == (1, 2 * ROUNDED)


def test_a_row_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError):
        ragged()[np.array([5])]


def test_what_is_cut_off_rows_is_no_part_of_them() -> None:
    """Ids and the ids after each: rows of the same memory."""
    values, starts = np.array([1, 2, 3, 1, 4, 5, 6]), np.array([0, 3, 7])
    before, after = Ragged(values, starts, 0, 1), Ragged(values[1:], starts, IGNORED, 1)
    assert before[:][:, :4].tolist() == [[1, 2, 0, 0], [1, 4, 5, 0]]
    assert after[:][:, :4].tolist() == [[2, 3, -1, -1], [4, 5, 6, -1]]
    assert (before.joined().tolist(), after.joined().tolist()) == ([1, 2, 1, 4, 5], [2, 3, 4, 5, 6])
    assert before.lengths.tolist() == after.lengths.tolist() == [2, 3]
    assert before.nbytes == after.nbytes == 40


def test_values_are_not_looked_at_before_they_are_asked_for() -> None:
    class Untouched(np.ndarray):
        def __getitem__(self, place: object) -> object:
            raise AssertionError(place)

    rows = Ragged(np.arange(16).view(Untouched), ragged().starts, 0)
    assert (len(rows), rows.shape, rows.nbytes) == (5, (5, 10), 128)
    with pytest.raises(AssertionError):
        rows[:1]


@pytest.mark.parametrize(
    ("values", "starts", "cut", "reason"),
    [
        (np.zeros(3), [0, 3], 0, r"values of rows have shape \(3,\), float64. Use \(n,\) int64"),
        (np.zeros(3, np.int32), [0, 3], 0, "values of rows have shape .*int32"),
        (np.zeros((1, 3), np.int64), [0, 3], 0, r"values of rows have shape \(1, 3\)"),
        (np.zeros(3, np.int64), [[0, 3]], 0, r"starts of rows have shape \(1, 2\)"),
        (np.zeros(3, np.int64), [1, 3], 0, "starts of rows do not rise from 0"),
        (np.zeros(3, np.int64), [0, 2, 1, 3], 0, "starts of rows do not rise from 0"),
        (np.zeros(3, np.int64), [0, 3, 3], 1, "starts of rows do not rise from 0. Use 0, and each 1 or more"),
        (np.zeros(3, np.int64), [0, 4], 0, "3 values belong to rows that end at 4"),
        (np.zeros(3, np.int64), [0, 2], 0, "3 values belong to rows that end at 2"),
        (np.zeros(2, np.int64), [0, 4], 1, "2 values belong to rows that end at 4"),
    ],
)
def test_starts_of_no_rows_are_refused(values: np.ndarray, starts: object, cut: int, reason: str) -> None:
    with pytest.raises(FramewattError, match=f"^data set: {reason}"):
        Ragged(values, np.array(starts, np.int64), 0, cut)
    with pytest.raises(FramewattError, match="starts of rows do not rise"):
        Ragged(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
