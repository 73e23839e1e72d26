"""Random samples in the shape of the real thing."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.synthetic import make

IMAGES = {"shape": [3, 8, 8], "classes": 7, "train_samples": 40, "test_samples": 30, "seed": 1}
TEXTS = {"shape": [20], "vocabulary": 50, "classes": 2, "train_samples": 40, "test_samples": 30, "seed": 1}


@pytest.mark.parametrize("options", [IMAGES, TEXTS])
def test_the_same_seed_gives_the_same_samples_and_another_seed_others(options: dict) -> None:
    first, again, other = make(**options), make(**options), make(**{**options, "seed": 2})
    assert np.array_equal(first.x_test, again.x_test)
    assert np.array_equal(first.y_train, again.y_train)
    assert not np.array_equal(first.x_test, other.x_test)


@pytest.mark.parametrize("options", [IMAGES, TEXTS])
def test_it_says_that_it_is_synthetic(options: dict) -> None:
    says = make(**options).about
    assert (says["synthetic"], says["original_files"]) == (True, 0)
    assert says["original_files_sha256_reason"] == "made without files of a source"


def test_images_have_the_shape_and_the_classes() -> None:
    arrays = make(**IMAGES)
    assert (arrays.x_train.shape, arrays.x_test.shape) == ((40, 3, 8, 8), (30, 3, 8, 8))
    assert (arrays.x_test.dtype, arrays.classes) == (np.float32, 7)
    assert 0 <= arrays.x_test.min() < 0.1
    assert 0.9 < arrays.x_test.max() < 1


def test_texts_are_ids_up_to_their_length_and_padding_from_there() -> None:
    arrays = make(**TEXTS)
    assert list(arrays.inputs_test) == ["input_ids", "attention_mask", "token_type_ids"]
    mask = arrays.more_test["attention_mask"]
    assert np.array_equal(arrays.x_test > 0, mask == 1)
    assert (np.diff(mask, axis=1) <= 0).all()
    assert set(mask.sum(axis=1)) <= set(range(2, 21))
    assert len(set(mask.sum(axis=1))) > 5
    assert arrays.x_test.max() < 50
    assert not arrays.more_test["token_type_ids"].any()


def test_a_shape_of_neither_kind_is_told() -> None:
    with pytest.raises(FramewattError, match=r"shape: \[8, 8\]"):
        make(**{**IMAGES, "shape": [8, 8]})
