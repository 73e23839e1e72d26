"""Arrays: one contract for images and texts, in a file without code."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of, write_json
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays, Images, Texts
from framewatt.datasets.record import record_of
from framewatt.datasets.sources import origin_of
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.tasks.classification import Classification
from framewatt.tasks.contract import TRAIN

IMAGES = np.zeros((2, 3, 4, 4), np.float32)
IDS = np.ones((2, 5), np.int64)
LABELS = np.array([0, 1])
TEXTS = {
    "module": "synthetic",
    "shape": [6],
    "vocabulary": 9,
    "classes": 3,
    "train_samples": 4,
    "test_samples": 2,
    "seed": 0,
}


def test_images_are_one_input_and_texts_several() -> None:
    images = Images(IMAGES, LABELS, IMAGES, LABELS)
    texts = Texts(IDS, LABELS, IDS, LABELS, {"attention_mask": IDS}, {"attention_mask": IDS})
    assert list(images.inputs_test) == ["images"]
    assert list(texts.inputs_train) == ["input_ids", "attention_mask"]
    assert (images.input_shape, texts.input_shape) == ((3, 4, 4), (5,))


def test_classes_are_counted_unless_they_are_known() -> None:
    assert Images(IMAGES, LABELS, IMAGES, LABELS).classes == 2
    assert Images(IMAGES, LABELS, IMAGES, LABELS, class_count=1000).classes == 1000
    assert Images(IMAGES[:0], LABELS[:0], IMAGES, LABELS).classes == 2


def test_a_data_set_for_inference_alone_says_so_to_who_trains_on_it() -> None:
    data = Images(IMAGES[:0], LABELS[:0], IMAGES, LABELS)
    with pytest.raises(FramewattError, match="data set: it has no training samples"):
        next(Classification().plan(TRAIN, data, batch_size=1))


MASK = {"attention_mask": IDS}


@pytest.mark.parametrize(
    ("kind", "arrays", "more", "reason"),
    [
        (Images, (IMAGES.astype(float), LABELS) * 2, {}, r"images have shape \(2, 3, 4, 4\), float64"),
        (Images, (IDS, LABELS) * 2, {}, r"images have shape \(2, 5\), int64"),
        (Texts, (IMAGES, LABELS) * 2, {}, r"texts have shape \(2, 3, 4, 4\), float32"),
        (Images, (IMAGES, LABELS, IMAGES[:0], LABELS[:0]), {}, "it has no test sample"),
        (Images, (IMAGES[..., :3], LABELS, IMAGES, LABELS), {}, r"training samples have shape \(3, 4, 3\), test"),
        (Images, (IMAGES, LABELS[:1], IMAGES, LABELS), {}, "2 samples of images have 1 labels"),
        (Images, (IMAGES, LABELS, IMAGES, LABELS.astype(np.int32)), {}, r"labels have shape \(2,\), int32"),
        (Images, (IMAGES, LABELS, IMAGES, LABELS - 1), {}, "labels are -1 to 0. Use 0 to 1"),
        (Images, (IMAGES, LABELS) * 2, {"class_count": 1}, "labels are 0 to 1. Use 0 to 0"),
        (Texts, (IDS, LABELS) * 2, {"more_train": MASK}, r"inputs are \['attention_mask'\] to train and \[\] to test"),
        (
            Texts,
            (IDS, LABELS) * 2,
            {"more_train": {"m": IDS[:1]}, "more_test": {"m": IDS}},
            "1 samples of m have",
        ),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(
    kind: type[Arrays], arrays: tuple, more: dict[str, Any], reason: str
) -> None:
    with pytest.raises(FramewattError, match=f"data set: {reason}"):
        kind(*arrays, **more)


def test_a_file_gives_back_what_was_saved_and_is_the_same_bytes_again(tmp_path: Path) -> None:
    arrays = make_arrays(TEXTS)
    for name in ("one.npz", "two.npz"):
        save_arrays(tmp_path / name, arrays)
    assert sha256_of(tmp_path / "one.npz") == sha256_of(tmp_path / "two.npz")
    found = load_arrays(tmp_path / "one.npz")
    for name in ("inputs_train", "inputs_test"):
        assert list(getattr(found, name)) == list(getattr(arrays, name))
        for one, other in zip(getattr(found, name).values(), getattr(arrays, name).values(), strict=True):
            assert np.array_equal(one, other)
    assert (found.classes, found.about) == (3, arrays.about)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", Images(IMAGES, LABELS, IMAGES, LABELS))
    whole = (tmp_path / "data.npz").read_bytes()
    for length in (0, 3, len(whole) // 2, len(whole) - 1):
        (tmp_path / "data.npz").write_bytes(whole[:length])
        with pytest.raises(FramewattError, match=r"data.npz: cannot read a data set"):
            load_arrays(tmp_path / "data.npz")
    np.savez(tmp_path / "data.npz", x_train=np.array([object()]), allow_pickle=True)
    with pytest.raises(FramewattError, match=r"data.npz: cannot read a data set"):
        load_arrays(tmp_path / "data.npz")


def test_the_record_says_what_it_is_and_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    arrays = make_arrays(TEXTS)
    record = record_of("synthetic-texts", TEXTS, "abc", arrays, [origin_of("reviews", tmp_path)])
    assert (record["dataset"], record["sha256"], record["synthetic"]) == ("synthetic-texts", "abc", True)
    assert (record["input_shape"], record["classes"]) == ([6], 3)
    assert record["inputs"] == {"input_ids": "int64", "attention_mask": "int64", "token_type_ids": "int64"}
    assert (sum(record["train_samples_per_class"]), sum(record["test_samples_per_class"])) == (4, 2)
    assert record["origins"] == [
        {"from": "local folder", "source": "reviews", "files": None, "files_reason": "handed over by the user"}
    ]
    assert str(tmp_path) not in str(record)


def test_the_record_tells_what_was_downloaded(tmp_path: Path) -> None:
    write_json(tmp_path / "source.json", {"source": "some", "files": [{"checksum": "sha256:0"}]})
    assert origin_of("some", tmp_path) == {"from": "download", "source": "some", "files": [{"checksum": "sha256:0"}]}
