"""CIFAR from its original files."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.datasets.cifar import make

BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def write_batches(folder: Path, keys: type = str, **changes: object) -> Path:
    """CIFAR-10 with two images a batch: all values of the first are the batch's number, of the second twice that."""
    for number, name in enumerate(BATCHES, 1):
        pixels = np.repeat(np.array([[number], [2 * number]], np.uint8), 3072, axis=1)
        batch = {"data": pixels, "labels": [number, 0], **changes}
        (folder / name).write_bytes(pickle.dumps({k.encode() if keys is bytes else k: v for k, v in batch.items()}, 2))
    return folder


@pytest.mark.parametrize("keys", [str, bytes])
def test_batches_come_in_their_order_whatever_their_keys(tmp_path: Path, keys: type) -> None:
    arrays = make(folder=write_batches(tmp_path, keys), version=10)
    assert arrays.y_train.tolist() == [1, 0, 2, 0, 3, 0, 4, 0, 5, 0]
    assert arrays.y_test.tolist() == [6, 0]
    assert arrays.x_train[:, 0, 0, 0] * 255 == pytest.approx([1, 2, 2, 4, 3, 6, 4, 8, 5, 10])
    assert arrays.x_test[1] == pytest.approx(12 / 255)
    assert (arrays.x_train.dtype, arrays.input_shape, arrays.classes) == (np.float32, (3, 32, 32), 10)


def test_the_split_of_itu2023_tests_on_the_last_tenth_of_the_training_set(tmp_path: Path) -> None:
    arrays = make(folder=write_batches(tmp_path), version=10, train_share=0.9)
    assert arrays.y_train.tolist() == [1, 0, 2, 0, 3, 0, 4, 0, 5]
    assert arrays.y_test.tolist() == [0]
    assert arrays.x_test[0] == pytest.approx(10 / 255)
    assert arrays.about["original_files"] == 5


def test_colours_are_planes_and_rows_are_rows(tmp_path: Path) -> None:
    pixels = np.arange(2 * 3072).reshape(2, 3072) % 251
    arrays = make(folder=write_batches(tmp_path, data=pixels.astype(np.uint8)), version=10)
    red, green, blue = arrays.x_test[0] * 255
    assert red[0] == pytest.approx(np.arange(32))
    assert red[1, 0] == pytest.approx(32)
    assert (green[0, 0], blue[0, 0]) == pytest.approx((1024 % 251, 2048 % 251))


@pytest.mark.parametrize("labels", ["fine", "coarse"])
def test_binary_cifar_100_has_the_coarse_label_first(tmp_path: Path, labels: str) -> None:
    for name in ("train.bin", "test.bin"):
        (tmp_path / name).write_bytes(bytes([19, 99]) + bytes(3072))
    arrays = make(folder=tmp_path, version=100, labels=labels)
    assert (arrays.y_test.tolist(), arrays.classes) == (([99], 100) if labels == "fine" else ([19], 20))


def test_the_binary_and_the_python_version_are_the_same_images() -> None:
    folder = sample("cifar10-repacked-original-format")
    python, binary = (make(folder=folder / f"cifar-10-batches-{kind}", version=10) for kind in ("py", "bin"))
    assert (len(python.x_train), len(python.x_test)) == (400, 100)
    for name in ("x_train", "y_train", "x_test", "y_test"):
        assert np.array_equal(getattr(python, name), getattr(binary, name))


def test_real_images_have_the_classes_that_they_show() -> None:
    folder = sample("cifar-hf-dummy")
    ten, hundred = make(folder=folder, version=10), make(folder=folder, version=100)
    assert ten.y_train.tolist() == [6, 9, 1, 6, 8, 5, 0, 6, 1, 8]
    assert ten.y_test.tolist() == [3, 8]
    assert (len(hundred.y_train), hundred.classes) == (5, 100)
    coarse = make(folder=folder, version=100, labels="coarse")
    assert (coarse.classes, coarse.y_test.tolist()) == (20, [10, 10, 0, 4, 10])


def test_a_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    write_batches(tmp_path)
    whole = (tmp_path / "data_batch_3").read_bytes()
    (tmp_path / "data_batch_3").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FramewattError, match="data_batch_3: it has no whole pickle"):
        make(folder=tmp_path, version=10)


def test_a_binary_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    for name in BATCHES:
        (tmp_path / f"{name}.bin").write_bytes(bytes(2 * 3073))
    (tmp_path / "data_batch_2.bin").write_bytes(bytes(2 * 3073 - 1))
    with pytest.raises(FramewattError, match=r"data_batch_2.bin: it has 6145 bytes. Use whole images of 3073"):
        make(folder=tmp_path, version=10)
    (tmp_path / "data_batch_2.bin").write_bytes(bytes(3073))
    with pytest.raises(FramewattError, match=r"it has batches of \[1, 2\] images, not of one size"):
        make(folder=tmp_path, version=10)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"data": np.zeros((2, 3 * 64 * 64), np.uint8)},
            r"it has images of shape \(12288,\), uint8. Use 3072 bytes",
        ),
        ({"data": np.zeros((2, 3072))}, "float64. Use 3072 bytes"),
        ({"data": [[1, 2], [3]]}, "it has no arrays of images and labels"),
        ({"labels": [1]}, "it has 2 images and 1 labels"),
        ({"labels": [1, 10]}, "labels are 1 to 10. Use 0 to 9"),
        ({"labels": [1, -1]}, "labels are -1 to 1. Use 0 to 9"),
        ({"labels": ["cat", "dog"]}, "it has no arrays of images and labels"),
    ],
)
def test_what_is_no_batch_is_told(tmp_path: Path, changes: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        make(folder=write_batches(tmp_path, **changes), version=10)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match="it has no files of CIFAR"):
        make(folder=tmp_path, version=10)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    write_batches(tmp_path)
    (tmp_path / "data_batch_4").unlink()
    with pytest.raises(FramewattError, match="it has no data_batch_4"):
        make(folder=tmp_path, version=10)


def test_more_images_than_there_are_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match="train_samples of CIFAR: there are 10"):
        make(folder=write_batches(tmp_path), version=10, train_samples=11)
    assert len(make(folder=tmp_path, version=10, train_samples=3, test_samples=1).x_train) == 3
