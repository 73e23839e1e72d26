"""SVHN from its .mat files."""

from pathlib import Path

import numpy as np
import pytest
from samples import sample
from scipy.io import loadmat, savemat

from framewatt.base.errors import FramewattError
from framewatt.datasets.svhn import make


def write(folder: Path, images: object = None, labels: object = None, **other: object) -> Path:
    images = np.zeros((32, 32, 3, 3), np.uint8) if images is None else images
    for part in ("train", "test"):
        content = {"X": images, "y": np.array([[1], [10], [9]], np.uint8) if labels is None else labels}
        savemat(folder / f"{part}_32x32.mat", other or content)
    return folder


def test_real_digits_are_read_and_10_is_digit_0() -> None:
    folder = sample("svhn-tiny")
    arrays = make(folder=folder)
    assert arrays.y_train.tolist() == [1, 9, 2, 3, 2, 5]
    assert arrays.y_test.tolist() == [5, 2, 1, 0, 6]
    original = loadmat(folder / "test_32x32.mat")["X"]
    assert arrays.x_test[4, 2, 7, 30] * 255 == pytest.approx(original[7, 30, 2, 4])
    assert (arrays.x_train.dtype, arrays.input_shape, arrays.classes) == (np.float32, (3, 32, 32), 10)


def test_the_split_of_itu2023_does_not_touch_the_published_test_set(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "test_32x32.mat").unlink()
    arrays = make(folder=tmp_path, train_share=0.7)
    assert (arrays.y_train.tolist(), arrays.y_test.tolist()) == ([1, 0], [9])


def test_extra_images_come_after_the_training_set() -> None:
    arrays = make(folder=sample("svhn-tiny"), extra=True)
    assert arrays.y_train.tolist() == [1, 9, 2, 3, 2, 5, 4, 7, 8, 7, 1, 1, 7, 4]
    assert len(arrays.x_train) == 14
    assert arrays.y_test.tolist() == [5, 2, 1, 0, 6]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            {"images": np.zeros((64, 64, 3, 3), np.uint8)},
            r"it has X of shape \(64, 64, 3, 3\), uint8.*Use \(32, 32",
        ),
        ({"images": np.zeros((32, 32, 3, 2), np.uint8)}, "and 3 labels. Use"),
        ({"images": np.zeros((32, 32, 3, 3))}, "float64, and 3 labels"),
        ({"labels": np.array([[1], [11], [9]])}, "it has labels 1 to 11. Use 1 to 10"),
        ({"Z": np.zeros(3)}, "it has no X and y"),
    ],
)
def test_another_content_is_told(tmp_path: Path, content: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=f"train_32x32.mat: .*{reason}"):
        make(folder=write(tmp_path, **content))


def test_a_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    whole = (write(tmp_path) / "test_32x32.mat").read_bytes()
    for length in (0, 50, 200, len(whole) - 8):
        (tmp_path / "test_32x32.mat").write_bytes(whole[:length])
        with pytest.raises(FramewattError, match=r"test_32x32.mat: it is not a readable .mat"):
            make(folder=tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"train_32x32.mat: there is no such file"):
        make(folder=tmp_path)
