"""Samples of a user's own model: their arrays as they are, or random ones that say so."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coco_factory import OPTIONS, PARTS, content, write

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.record import record_of
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.tasks.classification import Classification

INPUTS = [
    {"name": "item", "shape": [], "type": "int32", "below": 7},
    {"name": "history", "shape": [4, 2], "type": "float64", "below": 2},
]
DEFINITION = {"module": "own", "inputs": INPUTS, "samples": 5, "seed": 3, "layout": "as-is", "metric": "accuracy"}
ITEMS, HISTORIES = np.arange(5, dtype=np.int32), np.ones((5, 4, 2))


def own(path: Path, metric: str = "accuracy", **arrays: Any) -> Arrays:
    np.savez(path / "mine.npz", **arrays)
    return make_arrays({**DEFINITION, "metric": metric, "files": {"arrays": "mine.npz"}}, {"arrays": path / "mine.npz"})


def test_without_a_file_samples_are_random_and_named_so(tmp_path: Path) -> None:
    data = make_arrays(DEFINITION)
    assert {name: (values.shape, values.dtype) for name, values in data.inputs_test.items()} == {
        "item": ((5,), np.int32),
        "history": ((5, 4, 2), np.float64),
    }
    assert set(np.unique(data.inputs_test["item"])) <= set(range(7))
    assert data.about["synthetic"]
    assert data.unlabelled == "inputs are random and have no labels"
    assert all(
        (a == b).all() for a, b in zip(*(make_arrays(DEFINITION).inputs_test.values() for _ in "ab"), strict=True)
    )
    record = record_of("synthetic-trial-mine", DEFINITION, "0", data, [])
    assert (record["classes"], record["classes_reason"]) == (None, data.unlabelled)


def test_they_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    data = own(tmp_path, item=ITEMS, history=HISTORIES, labels=np.array([0, 1, 2, 1, 0], np.uint8))
    save_arrays(tmp_path / "data.npz", data)
    again = load_arrays(tmp_path / "data.npz")
    assert (list(again.inputs_test), again.classes, again.layout) == (["item", "history"], 3, "as given")
    assert (again.inputs_test["history"] == HISTORIES).all()
    assert (again.unlabelled, len(again.inputs_train["item"])) == (None, 0)


def test_accuracy_is_of_scores_of_classes_and_of_nothing_else(tmp_path: Path) -> None:
    arrays = {"item": ITEMS, "history": HISTORIES}
    labelled = own(tmp_path, **arrays, labels=np.array([0, 1, 2, 1, 0]))
    assert Classification().judge(np.eye(3)[[0, 1, 2, 1, 1]], labelled).values["accuracy"] == 0.8
    for outputs, data, reason in (
        (np.zeros((5, 3, 8)), labelled, "outputs of shape (5, 3, 8) are no scores of 3 classes"),
        (np.zeros((5, 1)), labelled, "outputs of shape (5, 1) are no scores of 3 classes"),
        (np.zeros((5, 3)), own(tmp_path, **arrays), "the arrays hold no labels"),
        (np.zeros((5, 3)), own(tmp_path, "none", **arrays, labels=ITEMS), "the study names no metric"),
        (np.full((5, 3), np.nan), labelled, "outputs are not numbers"),
    ):
        judged = Classification().judge(outputs, data)
        assert (set(judged.values.values()), judged.unknown, judged.right) == ({None}, reason, None)


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"item": ITEMS}, "it has item. Add an array history"),
        (
            {"item": ITEMS, "history": HISTORIES[:, :3]},
            r"history: it has shape \(5, 3, 2\), float64. Use \(n, 4, 2\)",
        ),
        (
            {"item": ITEMS.astype(float), "history": HISTORIES},
            r"item: it has shape \(5,\), float64. Use \(n\), int32",
        ),
        ({"item": ITEMS, "history": np.array([{}] * 5)}, "Object arrays cannot be loaded"),
        (
            {"item": ITEMS[:4], "history": HISTORIES},
            r"mine\.npz: it has 4 of item, 5 of history. Use as many of each",
        ),
        (
            {"item": ITEMS, "history": np.where(HISTORIES.mean() < HISTORIES, HISTORIES, np.nan)},
            r"mine\.npz: history: it has NaN or infinity in 5 of 5 samples. Use finite numbers",
        ),
        (
            {"item": ITEMS, "history": HISTORIES, "labels": np.ones(5)},
            r"mine\.npz: labels: it has shape \(5,\), float64. Use \(n,\), whole numbers from 0 on",
        ),
        (
            {"item": ITEMS, "history": HISTORIES, "labels": np.array([0, 1, -1, 2, 0])},
            r"mine\.npz: labels: it has -1. Use whole numbers from 0 on",
        ),
        (
            {"item": ITEMS, "history": HISTORIES, "labels": np.zeros(4, np.int64)},
            r"mine\.npz: it has 5 of item, 5 of history, 4 of labels. Use as many of each",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_one_line(tmp_path: Path, arrays: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=reason) as told:
        own(tmp_path, **arrays)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"text"])
def test_a_file_that_is_no_npz_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.npz").write_bytes(content)
    with pytest.raises(FramewattError, match=r"it has no arrays: .*. Use an \.npz of plain arrays"):
        make_arrays({**DEFINITION, "files": {"arrays": "mine.npz"}}, {"arrays": tmp_path / "mine.npz"})


SQUARE = [{"name": "photograph", "shape": [3, 32, 32], "type": "float32", "below": 2}]


def found(folder: Path, metric: str, annotations: str = PARTS["test"][0], **more: Any) -> Arrays:
    """Photographs and annotations as a user names them: a file and a folder that need not lie together."""
    files = {"images": folder / PARTS["test"][1], "annotations": folder / annotations}
    definition = {**DEFINITION, "inputs": SQUARE, "metric": metric, **more}
    return make_arrays({**definition, "files": {name: path.name for name, path in files.items()}}, files)


@pytest.mark.parametrize("metric", ["box_ap", "mask_ap"])
def test_photographs_with_annotations_are_those_of_the_data_sets_of_coco(tmp_path: Path, metric: str) -> None:
    write(tmp_path, content())
    mine = found(tmp_path, metric)
    theirs = make_arrays({**OPTIONS, "masks": metric == "mask_ap", "train": None, "seed": 0}, {"folder": tmp_path})
    assert (mine.task, mine.classes, len(mine.x_train)) == (theirs.task, 3, 0)
    order = np.argsort(theirs.x_test[:, 0, 0, 0])
    assert np.array_equal(mine.x_test[np.argsort(mine.x_test[:, 0, 0, 0])], theirs.x_test[order])
    assert sorted(mine.y_test.boxes.tolist()) == sorted(theirs.y_test.boxes.tolist())
    assert mine.about["category_ids"] == [1, 13, 90]
    assert mine.about["original_files"] == 1 + 3
    assert mine.about["original_files_sha256"]


def test_photographs_of_a_model_that_is_only_timed_have_no_labels(tmp_path: Path) -> None:
    write(tmp_path, content())
    data = found(tmp_path, "none")
    assert (data.unlabelled, data.task, list(data.inputs_test)) == (
        "the study names no metric",
        None,
        ["photograph"],
    )
    assert (data.layout, data.x_test.shape) == ("NCHW", (3, 3, 32, 32))


def test_what_is_wrong_with_photographs_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, content())
    (tmp_path / "words.json").write_text("[1, 2")
    with pytest.raises(FramewattError, match=r"words\.json: it is not JSON"):
        found(tmp_path, "box_ap", "words.json")
    (tmp_path / PARTS["test"][1] / "002.png").unlink()
    with pytest.raises(FramewattError, match=r"002\.png: there is no such file. Get every image"):
        found(tmp_path, "box_ap")
