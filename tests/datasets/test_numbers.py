"""Handwritten numbers: sequences of digits, stored without padding."""

from pathlib import Path

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.numbers import make
from framewatt.datasets.ragged import IGNORED, flat, padded
from framewatt.datasets.record import record_of
from framewatt.datasets.sequences import Sequences
from framewatt.datasets.storing import load_arrays, save_arrays


@pytest.fixture(scope="module")
def numbers() -> Arrays:
    return make(longest=8, test_fraction=0.2, seed=0)


def test_every_digit_is_in_one_number(numbers: Arrays) -> None:
    from sklearn.datasets import load_digits

    found = [
        pixels.tobytes()
        for values, lengths in ((numbers.x_train, numbers.lengths_train), (numbers.x_test, numbers.lengths_test))
        for pixels in flat(values, lengths)
    ]
    assert sorted(found) == sorted(pixels.tobytes() for pixels in (load_digits().data / 16).astype(np.float32))
    assert (numbers.lengths_train.sum(), numbers.lengths_test.sum()) == (1437, 360)


def test_numbers_have_all_lengths_and_are_padded_behind_their_ends(numbers: Arrays) -> None:
    assert set(numbers.lengths_train) == set(range(1, 9))
    beyond = np.arange(8) >= numbers.lengths_test[:, None]
    assert (numbers.y_test[beyond] == IGNORED).all()
    assert (numbers.y_test[~beyond] >= 0).all()
    assert not numbers.x_test[beyond].any()


def test_the_file_holds_no_padding_and_gives_the_same_arrays_back(numbers: Arrays, tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    save_arrays(path, numbers)
    with np.load(path) as content:
        assert content["x_test"].shape == (360, 64)
        assert content["y_test"].shape == (360,)
    again = load_arrays(path)
    for name in ("x_train", "y_train", "x_test", "y_test", "lengths_train", "lengths_test"):
        assert np.array_equal(getattr(again, name), getattr(numbers, name)), name
    assert (again.task, again.input_shape, again.classes) == ("tagging", (8, 64), 10)


def test_the_record_counts_tokens_and_not_padding(numbers: Arrays) -> None:
    record = record_of("numbers", {}, "0", numbers, [])
    assert (record["task"], record["longest"], record["test_units"]) == ("tagging", 8, 360)
    assert sum(record["test_tokens_per_class"]) == 360
    assert record["test_samples"] == len(numbers.x_test)


def test_fewer_numbers_are_the_first_ones(numbers: Arrays) -> None:
    fewer = make(longest=8, test_fraction=0.2, seed=0, train_samples=20, test_samples=5)
    assert np.array_equal(fewer.y_test, numbers.y_test[:5])
    assert np.array_equal(fewer.lengths_train, numbers.lengths_train[:20])
    with pytest.raises(FramewattError, match="test_samples of the numbers: there are 74"):
        make(longest=8, test_fraction=0.2, seed=0, test_samples=75)


def test_padding_comes_and_goes() -> None:
    values, lengths = np.arange(6), np.array([1, 3, 2])
    made = padded(values, lengths, 4, IGNORED)
    assert made.tolist() == [[0, -1, -1, -1], [1, 2, 3, -1], [4, 5, -1, -1]]
    assert flat(made, lengths).tolist() == values.tolist()


SEQUENCE = np.zeros((1, 2, 3), np.float32)


@pytest.mark.parametrize(
    ("labels", "lengths", "reason"),
    [
        (np.array([[0, IGNORED]]), np.array([2]), "labels are -1 elsewhere than after the ends"),
        (np.array([[0, 1]]), np.array([1]), "labels are -1 elsewhere than after the ends"),
        (np.array([[0, 1]]), np.array([3]), "sequences have 3 to 3 tokens. Use 1 to 2"),
        (np.array([[IGNORED, IGNORED]]), np.array([0]), "sequences have 0 to 0 tokens"),
        (np.array([0]), np.array([1]), r"labels of sequences have shape \(1,\)"),
        (np.array([[0, 1]]), np.array([2, 2]), r"lengths have shape \(2,\)"),
        (np.array([[0, 1, 2]]), np.array([3]), r"tokens has shape .*, labels have \(1, 3\)"),
        (np.array([[0, 9]]), np.array([2]), "labels are 0 to 9. Use 0 to 2"),
    ],
)
def test_sequences_that_do_not_fit_their_lengths_are_refused(
    labels: np.ndarray, lengths: np.ndarray, reason: str
) -> None:
    of_both = {"lengths_train": lengths, "lengths_test": lengths}
    with pytest.raises(FramewattError, match=reason):
        Sequences(SEQUENCE, labels, SEQUENCE, labels, class_count=3, main="tokens", **of_both)
