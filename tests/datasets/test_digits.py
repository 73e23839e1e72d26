"""The digits of scikit-learn."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.digits import make

OPTIONS = {"image_size": 16, "test_fraction": 0.2, "seed": 0}


def test_the_split_is_stratified_and_repeatable() -> None:
    arrays, again = make(**OPTIONS), make(**OPTIONS)
    assert (len(arrays.x_train), len(arrays.x_test), arrays.classes) == (1437, 360, 10)
    assert np.bincount(arrays.y_test).tolist() == pytest.approx([36] * 10, abs=1)
    assert np.array_equal(arrays.x_train, again.x_train)


def test_each_pixel_becomes_a_square_in_three_channels() -> None:
    image = make(**OPTIONS).x_test[0]
    assert image.shape == (3, 16, 16)
    assert (image[:, ::2, ::2] == image[:, 1::2, 1::2]).all()
    assert (image[0] == image[2]).all()
    assert (image.min(), image.max()) == (0, 1)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"image_size": 20}, "image_size: 20 is not possible. Use a multiple of 8"),
        ({"test_samples": 400}, "test_samples of the digits: there are 360, and config/datasets.yaml wants 400"),
    ],
)
def test_options_out_of_range_are_told(options: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        make(**{**OPTIONS, **options})
