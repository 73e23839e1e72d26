"""Objects on images: what is kept of them, what a batch gets, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from framewatt.base.errors import FramewattError
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.objects import Objects, decode_mask, encode_mask
from framewatt.datasets.record import record_of
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.tasks import task_for

SIZE = (4, 6)


def mask_of(left: int, top: int, right: int, bottom: int) -> np.ndarray:
    mask = np.zeros(SIZE, np.uint8)
    mask[top:bottom, left:right] = 1
    return mask


BOXES = [(0, 0, 2, 3), (1, 1, 6, 4), (5, 0, 6, 1)]


def some(**changes: Any) -> Objects:
    """Three images: two objects, of which the second is a crowd; none; one."""
    runs = [encode_mask(mask_of(*box)) for box in BOXES]
    fields = {
        "starts": np.array([0, 2, 2, 3]),
        "boxes": np.array(BOXES, np.float32),
        "classes": np.array([1, 0, 2]),
        "crowd": np.array([False, True, False]),
        "areas": np.array([6, 15, 1], np.float32),
        "runs": np.concatenate(runs),
        "run_starts": np.cumsum([0, *map(len, runs)]),
        "size": SIZE,
    }
    return Objects(**{**fields, **changes})


def images(count: int) -> np.ndarray:
    return np.random.default_rng(0).random((count, 3, *SIZE), np.float32)


def data(objects: Objects, **changes: Any) -> AnnotatedImages:
    fields: dict[str, Any] = {"x_train": images(3), "y_train": some(), "x_test": images(3), "y_test": objects}
    return AnnotatedImages(**{**fields, "class_count": 3, "task": "segmentation", **changes})


@settings(deadline=None)
@given(arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 1)))
def test_a_mask_comes_back_from_its_runs(mask: np.ndarray) -> None:
    runs = encode_mask(mask)
    assert runs.sum() == mask.size
    assert (runs[1:] > 0).all()
    assert np.array_equal(decode_mask(runs, mask.shape), mask)


def test_runs_go_down_the_columns_and_begin_with_what_is_no_object() -> None:
    assert encode_mask(np.array([[0, 1], [1, 1]])).tolist() == [1, 3]
    assert encode_mask(np.array([[1, 0], [0, 0]])).tolist() == [0, 1, 3]
    assert encode_mask(np.zeros((2, 2))).tolist() == [4]
    assert encode_mask(np.ones((2, 2))).tolist() == [0, 4]


def test_a_batch_gets_objects_without_crowds_padded_alike() -> None:
    targets = some()[np.array([2, 0, 1])]
    assert targets.boxes.shape == (3, 8, 4)
    assert targets.boxes[0, 0].tolist() == list(BOXES[2])
    assert targets.classes[:, 0].tolist() == [2, 1, -1]
    assert (targets.classes[:, 1:] == -1).all()
    assert targets.masks is not None
    assert np.array_equal(targets.masks[1, 0], mask_of(*BOXES[0]))
    assert targets.masks.sum() == 1 + 6


def test_a_batch_without_masks_has_none() -> None:
    bare = some(runs=np.zeros(0, np.int64), run_starts=np.zeros(0, np.int64))
    assert bare[0:2].masks is None
    assert not bare.masked
    with pytest.raises(FramewattError, match="it has no masks"):
        bare.mask(0)


def test_a_batch_without_objects_has_masks_all_the_same_where_the_data_set_has() -> None:
    bare = {name: values[:0] for name, values in some().arrays().items()}
    none = some(**{**bare, "starts": np.zeros(4, np.int64), "run_starts": np.zeros(1, np.int64)})
    targets = none[0:2]
    assert targets.masks is not None
    assert targets.masks.shape == (2, 8, *SIZE)
    assert (targets.classes == -1).all()
    assert record_of("none", {}, "0", data(none), [])["masks"] is True


def test_they_are_read_as_they_were_written_and_twice_the_same_bytes(tmp_path: Path) -> None:
    for name in ("once", "again"):
        save_arrays(tmp_path / f"{name}.npz", data(some()))
    assert (tmp_path / "once.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    found = load_arrays(tmp_path / "once.npz")
    assert (found.task, found.classes, type(found)) == ("segmentation", 3, AnnotatedImages)
    assert np.array_equal(found.x_test, images(3))
    for name, values in some().arrays().items():
        assert np.array_equal(found.y_test.arrays()[name], values), name
        assert found.y_test.arrays()[name].dtype == values.dtype


def test_the_record_counts_them() -> None:
    record = record_of("shapes", {}, "0", data(some()), [])
    assert record["test_objects_per_class"] == [1, 1, 1]
    assert (record["test_images_without_objects"], record["test_crowds"], record["masks"]) == (1, 1, True)
    assert record["test_samples"] == 3
    assert data(some()).lengths(test=True).tolist() == [2, 0, 1]


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    save_arrays(path, data(some()))
    with np.load(path) as content:
        parts = dict(content)
    parts["objects_test/run_starts"] = parts["objects_test/run_starts"][:-1]
    np.savez(path, **parts)
    with pytest.raises(FramewattError, match="2 of 3 objects have masks"):
        load_arrays(path)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"starts": np.array([0, 2, 1, 3])}, "starts of objects do not rise from 0 to 3"),
        ({"starts": np.array([0, 2, 2])}, "starts of objects do not rise from 0 to 3"),
        ({"classes": np.array([1, 0])}, "'classes': 2"),
        ({"boxes": np.zeros((3, 5), np.float32)}, "boxes of 5 numbers"),
        ({"boxes": np.zeros((3, 4))}, "boxes of objects have shape (3, 4), float64"),
        ({"runs": np.append(some().runs[:-1], 4)}, "the mask of object 2 has 25 pixels. Use 4 x 6"),
        ({"runs": np.concatenate([[-1, 4], some().runs[2:]])}, "the mask of object 0 has"),
        ({"run_starts": np.array([0, 0, 3, 9])}, "starts of runs do not rise"),
    ],
)
def test_what_is_no_objects_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(FramewattError) as error:
        some(**changes)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("box", "problem"),
    [
        (
            (0, 0, 7, 3),
            "object 1 has the box [0.0, 0.0, 7.0, 3.0]. Use 0 <= left < right <= 6 and 0 <= top < bottom <= 4",
        ),
        ((-1, 0, 2, 3), "object 1 has the box [-1.0, 0.0, 2.0, 3.0]"),
        ((2, 1, 2, 3), "object 1 has the box [2.0, 1.0, 2.0, 3.0]"),
        ((0, 0, float("nan"), 3), "object 1 has the box [0.0, 0.0, nan, 3.0]"),
    ],
)
def test_a_box_that_is_empty_or_outside_is_told(box: tuple[float, ...], problem: str) -> None:
    boxes = np.array([BOXES[0], box, BOXES[2]], np.float32)
    with pytest.raises(FramewattError) as error:
        data(some(boxes=boxes))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"class_count": 2}, "object 2 has class 2. Use 0 to 1"),
        ({"class_count": None}, "objects have no class_count"),
        ({"x_test": images(2)}, "there are objects of 3 test images, and 2 images"),
        ({"x_test": images(3)[..., :-1]}, "test images have shape"),
        ({"y_train": np.zeros(3, np.int64)}, "train labels are not objects"),
    ],
)
def test_data_that_does_not_fit_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(FramewattError, match=problem):
        data(some(), **changes)


def test_segmentation_needs_masks_and_labels_need_objects() -> None:
    bare = some(runs=np.zeros(0, np.int64), run_starts=np.zeros(0, np.int64))
    with pytest.raises(FramewattError, match="test objects have no masks, which the task segmentation needs"):
        task_for(data(bare))
    with pytest.raises(FramewattError, match="the task classification does not take AnnotatedImages"):
        task_for(data(some(), task="classification"))
    assert data(bare, task="detection").labels(test=True).tolist() == [1, 0, 2]
    with pytest.raises(FramewattError, match="train labels are not objects"):
        replace(data(some()), y_train=np.zeros(3, np.int64), y_test=np.zeros(3, np.int64))
