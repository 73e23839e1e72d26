"""Ratings as a data set: who is it has among whom, and that nothing tells which one it is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets import movielens, synthetic_ratings
from framewatt.datasets.contract import UserItems
from framewatt.datasets.movielens import read_ratings
from framewatt.datasets.ratings import Ratings, candidates_of, leave_one_out, ranks_of, top
from framewatt.datasets.record import record_of
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.package.verification.samples import task_of_data

DRAWN = {"users": 60, "items": 150, "tastes": 4, "ratings_per_user": 12, "negatives": 4, "candidates": 50}
LINES = ["userId,movieId,rating,timestamp", "7,10,4.0,100", "7,20,0.5,300", "7,30,3,200", "", "9,10,5,1", "9,40,5,2"]


@pytest.fixture(scope="module")
def drawn() -> UserItems:
    return synthetic_ratings.make(**DRAWN, seed=3)


def few(**changed: Any) -> UserItems:
    """Three users of 3, 2 and 1 ratings, of five films of which the first two users know at most three."""
    ratings = Ratings(*np.array([[5, 5, 5, 8, 8, 9], [1, 2, 3, 4, 1, 5], [30, 10, 20, 2, 1, 7]]))
    options = {"fewest_ratings": 2, "negatives": 2, "candidates": 1, "seed": 0, "about": {}}
    return leave_one_out(ratings, **{**options, **changed})


def test_the_last_item_by_time_is_to_be_found_and_all_earlier_ones_are_learnt() -> None:
    data = few()
    learnt = data.x_train[data.y_train == 1].tolist()
    # Users 5 and 8 are numbered 0 and 1, films 1 to 4 from 0; in the order of time.
    assert learnt == [[0, 1], [0, 2], [1, 0]]
    assert data.x_test[data.y_test == 1].tolist() == [[0, 0], [1, 3]]
    assert (data.about["users"], data.about["items"], data.about["users_left_out"]) == (2, 4, 1)


def test_candidates_are_different_and_never_rated(drawn: UserItems) -> None:
    users, each = candidates_of(drawn)
    assert (users, each) == (60, 51)
    rated = {tuple(pair) for pair in drawn.x_train[drawn.y_train == 1]}
    chosen = {tuple(pair) for pair in drawn.x_test[drawn.y_test == 1]}
    others = [tuple(pair) for pair in drawn.x_test[drawn.y_test == 0]]
    assert len(set(others)) == len(others) == 60 * 50
    assert not set(others) & (rated | chosen)
    assert not rated & chosen


def test_what_is_to_be_found_is_a_negative_as_often_as_any_other_item() -> None:
    """A model could else tell it by its never having been one."""
    data = synthetic_ratings.make(**{**DRAWN, "negatives": 200}, seed=3)
    negatives = {tuple(pair) for pair in data.x_train[data.y_train == 0]}
    chosen = [tuple(pair) for pair in data.x_test[data.y_test == 1]]
    others = [tuple(pair) for pair in data.x_test[data.y_test == 0]]
    shares = [np.mean([pair in negatives for pair in pairs]) for pairs in (chosen, others)]
    assert min(shares) > 0.99, shares
    assert not negatives & {tuple(pair) for pair in data.x_train[data.y_train == 1]}


def test_there_are_as_many_negatives_of_each_user_as_asked_for(drawn: UserItems) -> None:
    of_users = [np.bincount(drawn.x_train[drawn.y_train == label, 0]) for label in (1, 0)]
    assert of_users[0].tolist() == [11] * 60
    assert of_users[1].tolist() == [44] * 60


def test_the_same_seed_draws_the_same_and_another_another(drawn: UserItems) -> None:
    again, other = (synthetic_ratings.make(**DRAWN, seed=seed) for seed in (3, 4))
    assert np.array_equal(again.x_train, drawn.x_train)
    assert np.array_equal(again.x_test, drawn.x_test)
    assert not np.array_equal(other.x_test, drawn.x_test)


def test_of_an_item_that_is_rated_twice_the_first_rating_counts() -> None:
    ratings = Ratings(*np.array([[1, 1, 1, 2, 2], [7, 8, 7, 9, 6], [1, 2, 3, 1, 2]]))
    data = leave_one_out(ratings, fewest_ratings=2, negatives=1, candidates=1, seed=0, about={})
    assert data.about["repeated_ratings"] == 1
    # Items 6 to 9 are numbered from 0.
    assert data.x_test[data.y_test == 1].tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"fewest_ratings": 1}, "fewest_ratings: 1 is too small. Use 2 or more"),
        ({"fewest_ratings": 4}, "ratings: all 3 users have fewer than 4"),
        ({"candidates": 2}, "candidates: 2 are too many: a user rated all but 1 items"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed: dict[str, int], reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        few(**changed)


def test_the_file_gives_the_same_arrays_back(drawn: UserItems, tmp_path: Path) -> None:
    save_arrays(tmp_path / "drawn.npz", drawn)
    again = load_arrays(tmp_path / "drawn.npz")
    assert np.array_equal(again.x_test, drawn.x_test)
    assert (again.task, again.categories, again.classes) == ("recommendation", drawn.categories, 2)
    assert list(again.inputs_test) == ["pairs"]


def test_the_record_says_what_is_asked_and_how_many_answers_there_are(drawn: UserItems) -> None:
    """A package's runs are verified by it: without its task they would be held to accuracy, one answer a pair."""
    record = record_of("synthetic-ratings", {}, "0", drawn, [])
    assert task_of_data(record).name == "recommendation"
    assert task_of_data(record).answers_in(record) == 60
    assert record["test_samples"] == 60 * 51


@pytest.mark.parametrize("ids", [np.array([[0, 5]]), np.array([[-1, 0]]), np.array([[0, 1, 2]])])
def test_ids_of_no_user_or_item_are_refused(ids: np.ndarray) -> None:
    labels = np.array([1])
    with pytest.raises(FramewattError, match="data set: ids"):
        UserItems(ids, labels, ids, labels, class_count=2, categories=(2, 5))


def test_ranks_count_half_of_those_that_are_equal() -> None:
    data = few(candidates=1)
    assert ranks_of(np.array([1.0, 2.0, 3.0, 2.0]), data).tolist() == [1, 0]
    assert ranks_of(np.zeros(4), data).tolist() == [0.5, 0.5]
    assert top(np.array([1.0, 2.0, 3.0, 3.0]), data, 1).tolist() == [False, True, True, False]


def test_candidates_in_no_order_are_refused() -> None:
    data = few()
    with pytest.raises(FramewattError, match="candidates are in no order"):
        candidates_of(replace(data, x_test=data.x_test[::-1].copy(), y_test=data.y_test[[0, 2, 1, 3]]))


def test_tastes_can_be_learnt_and_popularity_knows_something(drawn: UserItems) -> None:
    """A user's taste is told by what they rated: who rated the same items likes the same others."""
    learnt = np.zeros(drawn.categories)
    learnt[tuple(drawn.x_train[drawn.y_train == 1].T)] = 1
    alike = learnt @ learnt.T
    neighbours = alike @ learnt
    hit_rate = np.mean(ranks_of(neighbours[tuple(drawn.x_test.T)], drawn) < 10)
    chance = 10 / 51
    assert hit_rate > drawn.about["popularity_hit_rate_10"] + 0.05 > chance + 0.1


def test_ratings_are_read_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("\n".join(LINES))
    ratings = read_ratings(tmp_path / "ratings.csv")
    assert ratings.users.tolist() == [7, 7, 7, 9, 9]
    assert ratings.items.tolist() == [10, 20, 30, 10, 40]
    assert ratings.times.tolist() == [100, 300, 200, 1, 2]


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        (0, "userId,movieId,timestamp", "line 1: it has no column rating in userId, movieId, timestamp. Use "),
        (2, "7,,0.5,300", "line 3: it has movieId ''. Use a whole number"),
        (2, "7,20.5,0.5,300", r"line 3: it has movieId '20\.5'. Use a whole number"),
        (2, "7,20,good,300", "line 3: it has rating 'good'. Use a number"),
        (2, "7,20,,300", "line 3: it has rating ''. Use a number"),
        (2, "7,20,0.5", "line 3: it has 3 values. Use 4, as in the first line"),
        (2, "7,20,0.5,300,1", "line 3: it has 5 values. Use 4, as in the first line"),
        (2, f"7,{'1' * 5000},0.5,300", "line 3: it has movieId '1111111"),
        (2, "7,20,nan,300", "line 3: it has rating 'nan'. Use a number"),
        (2, "7,-20,0.5,300", "line 3: it has movieId '-20'. Use a whole number"),
        (2, "7,2_0,0.5,300", "line 3: it has movieId '2_0'. Use a whole number"),
        (0, "", "line 1: it has no column userId in . Use userId, movieId, timestamp, rating"),
        (0, "user;movie;stars", "line 1: it has no column userId in user;movie;stars"),
    ],
)
def test_a_line_that_is_no_rating_is_named(tmp_path: Path, line: int, text: str, reason: str) -> None:
    lines = [text if number == line else kept for number, kept in enumerate(LINES)]
    (tmp_path / "ratings.csv").write_text("\n".join(lines if text else []))
    with pytest.raises(FramewattError, match=reason):
        read_ratings(tmp_path / "ratings.csv")


def test_lines_that_all_have_a_value_too_many_are_no_ratings(tmp_path: Path) -> None:
    """pandas takes the first of them as an index, and reads films as users."""
    (tmp_path / "ratings.csv").write_text("\n".join([LINES[0], *(f"{line},1" for line in LINES[1:] if line)]))
    with pytest.raises(FramewattError, match="line 2: it has 5 values"):
        read_ratings(tmp_path / "ratings.csv")


def test_a_file_of_a_header_alone_is_none(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(LINES[0])
    with pytest.raises(FramewattError, match="it has no rating"):
        read_ratings(tmp_path / "ratings.csv")


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes("\n".join([*LINES, "é,1,1,1"]).encode("latin-1"))
    with pytest.raises(FramewattError, match=r"it has bytes that are no UTF-8 .*. Use UTF-8"):
        read_ratings(path)


def test_a_folder_without_ratings_is_named(tmp_path: Path) -> None:
    options = {"fewest_ratings": 2, "negatives": 1, "candidates": 1, "seed": 0}
    with pytest.raises(FramewattError, match=r"it has 0 files ratings\.csv. Use one, there or one folder below"):
        movielens.make(tmp_path, **options)
    (tmp_path / "ml-tiny").mkdir()
    (tmp_path / "ml-tiny" / "ratings.csv").write_text("\n".join(LINES))
    assert movielens.make(tmp_path, **options).about["original_files"] == 1
