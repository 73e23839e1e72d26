"""Which samples are used, and which of them train."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.selection import chosen, first_share_trains


def test_without_a_seed_the_first_are_taken() -> None:
    assert chosen(5, 3, "samples").tolist() == [0, 1, 2]
    assert chosen(5, None, "samples").tolist() == [0, 1, 2, 3, 4]


def test_a_seed_mixes_and_fewer_samples_are_the_beginning_of_more() -> None:
    everything = chosen(100, None, "samples", seed=4)
    assert sorted(everything) == list(range(100))
    assert everything.tolist() != list(range(100))
    assert chosen(100, 10, "samples", seed=4).tolist() == everything[:10].tolist()


def test_more_than_there_are_is_told() -> None:
    with pytest.raises(FramewattError, match="samples: there are 5"):
        chosen(5, 6, "samples")


@pytest.mark.parametrize(("count", "border"), [(50_000, 45_000), (73_257, 65_931), (10, 9)])
def test_the_first_nine_tenths_train(count: int, border: int) -> None:
    labels = np.arange(count)
    (x_train, y_train), (x_test, y_test) = first_share_trains((labels * 2, labels), 0.9)
    assert y_train.tolist() == list(range(border))
    assert y_test.tolist() == list(range(border, count))
    assert np.array_equal(np.concatenate([x_train, x_test]), labels * 2)


@pytest.mark.parametrize("share", [0, 0.01, 0.99, 1, 1.5])
def test_both_sets_have_samples(share: float) -> None:
    labels = np.arange(10)
    with pytest.raises(FramewattError, match=f"train_share: {share} of 10 samples"):
        first_share_trains((labels, labels), share)
