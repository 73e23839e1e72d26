"""Masks of COCO's annotations, drawn bit for bit as its own tools draw them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from pycocotools import mask as tools
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.datasets.coco_objects import mask_of, numbers_of
from framewatt.datasets.objects import encode_mask

SIZE = (20, 30)
SQUARE = [2.0, 2.0, 12.0, 2.0, 12.0, 9.0, 2.0, 9.0]
MASKS = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=30), elements=st.integers(0, 1))
SIDES = st.integers(1, 40)


def of_tools(segmentation: Any, size: tuple[int, int]) -> np.ndarray:
    """What pycocotools makes of a segmentation."""
    made = tools.frPyObjects(segmentation, *size)
    return tools.decode(tools.merge(made) if isinstance(made, list) else made)


def instances(split: str) -> dict[str, Any]:
    folder: Path = sample("coco2017-ccby")
    return json.loads((folder / "annotations" / f"instances_{split}2017.json").read_text())


@pytest.mark.parametrize(("split", "annotations", "crowds"), [("train", 466, 6), ("val", 403, 6)])
def test_every_annotation_of_real_photographs_has_the_mask_of_cocos_tools(
    split: str, annotations: int, crowds: int
) -> None:
    content = instances(split)
    sizes = {image["id"]: (image["height"], image["width"]) for image in content["images"]}
    assert len(content["annotations"]) == annotations
    assert sum(isinstance(one["segmentation"], dict) for one in content["annotations"]) == crowds
    for one in content["annotations"]:
        size = sizes[one["image_id"]]
        mask, left_out = mask_of(one["segmentation"], size)
        assert np.array_equal(mask, of_tools(one["segmentation"], size)), one["id"]
        assert left_out == 0
        compressed = tools.encode(np.asfortranarray(mask))["counts"].decode()
        again, _ = mask_of({"size": list(size), "counts": compressed}, size)
        assert np.array_equal(again, mask), one["id"]


@settings(deadline=None)
@given(SIDES, SIDES, st.data())
def test_any_polygons_are_drawn_as_by_cocos_tools(height: int, width: int, data: st.DataObject) -> None:
    """Also those that cross themselves, leave the image, go there and back, or have a corner twice."""
    reach = max(height, width)
    number = st.floats(-reach, 2 * reach, width=32) | st.integers(-reach, 2 * reach)
    polygon = st.lists(st.tuples(number, number), min_size=3, max_size=9).map(lambda points: [*sum(points, ())])
    polygons = data.draw(st.lists(polygon, min_size=1, max_size=3))
    mask, _ = mask_of(polygons, (height, width))
    assert np.array_equal(mask, of_tools(polygons, (height, width)))


@settings(deadline=None)
@given(MASKS)
def test_runs_as_numbers_and_as_text_are_those_of_cocos_tools(mask: np.ndarray) -> None:
    size, runs = mask.shape, encode_mask(mask).tolist()
    compressed = tools.encode(np.asfortranarray(mask))["counts"].decode()
    assert numbers_of(compressed) == runs
    for counts in (runs, compressed):
        assert np.array_equal(mask_of({"size": list(size), "counts": counts}, size)[0], mask)


@settings(deadline=None)
@given(MASKS)
def test_a_mask_whose_pixels_are_polygons_comes_back(mask: np.ndarray) -> None:
    """A rectangle of pixels, from edge to edge, is that rectangle."""
    polygons = [[x, y, x + 1, y, x + 1, y + 1, x, y + 1] for y, x in np.argwhere(mask).tolist()]
    if polygons:
        assert np.array_equal(mask_of(polygons, mask.shape)[0], mask)


def test_long_runs_have_the_text_of_cocos_tools() -> None:
    size = (3000, 4000)
    runs = [11_000_000, 1, 999_998, 1]
    made = tools.frPyObjects({"size": list(size), "counts": runs}, *size)
    assert numbers_of(made["counts"].decode()) == runs


def test_a_polygon_without_an_inside_is_left_out_and_counted() -> None:
    """To COCO's tools, four numbers are a box, and a point is read beyond its end."""
    mask, left_out = mask_of([[1, 1, 5, 5], [3, 3], SQUARE, []], SIZE)
    assert (int(mask.sum()), left_out) == (70, 3)
    mask, left_out = mask_of([[1, 1, 5, 5]], SIZE)
    assert (int(mask.sum()), left_out) == (0, 1)


HUGE = 10**400


@pytest.mark.parametrize(
    ("segmentation", "told"),
    [
        (None, "it has a segmentation of type NoneType. Use polygons, or size and counts; else set masks: false"),
        ([], "it has no polygon. Use polygons, or size and counts"),
        ("abc", "it has a segmentation of type str"),
        (SQUARE, "it has a polygon that is no list of pairs of numbers"),
        ([[*SQUARE, 3.0]], "it has a polygon that is no list of pairs of numbers. Use [x, y, x, y, …]"),
        ([[*SQUARE[:-1], "9"]], "it has a polygon that is no list of pairs of numbers"),
        ([[*SQUARE[:-1], True]], "it has a polygon that is no list of pairs of numbers"),
        ([[*SQUARE[:-1], None]], "it has a polygon that is no list of pairs of numbers"),
        ([[*SQUARE[:-1], float("nan")]], "it has nan in a polygon. Use pixels of the image of 30x20, or as far"),
        ([[*SQUARE[:-1], float("inf")]], "it has inf in a polygon"),
        ([[*SQUARE[:-1], 61]], "it has 61 in a polygon"),
        ([[*SQUARE[:-1], -31.0]], "it has -31.0 in a polygon"),
        ([[*SQUARE[:-1], HUGE]], "it has 100000000000000000"),
        ([[0, 0, 60, 60] * 4_000], "it has a polygon with an outline of 481600 pixels. Use 400000 at most"),
        ({"counts": [600]}, "it has runs of size None. Use [20, 30], its height and width"),
        ({"size": [30, 20], "counts": [600]}, "it has runs of size [30, 20]. Use [20, 30], its height and width"),
        ({"size": [20.0, 30.0], "counts": [600]}, "it has runs of size [20.0, 30.0]"),
        ({"size": [20, 30]}, "it has counts that are no list of whole numbers, nor text"),
        ({"size": [20, 30], "counts": [600.0]}, "it has counts that are no list of whole numbers, nor text"),
        ({"size": [20, 30], "counts": []}, "it has runs of 0 pixels in all. Use 20 x 30 = 600"),
        ({"size": [20, 30], "counts": [300, 299]}, "it has runs of 599 pixels in all. Use 20 x 30 = 600"),
        ({"size": [20, 30], "counts": [300, 301]}, "it has runs of 601 pixels in all"),
        ({"size": [20, 30], "counts": [605, -5]}, "it has a run of 605 pixels. Use 0 to 600"),
        ({"size": [20, 30], "counts": [0, -5, 605]}, "it has a run of -5 pixels. Use 0 to 600"),
        ({"size": [20, 30], "counts": [HUGE, -HUGE, 600]}, "it has a run of 1000000000000000"),
        ({"size": [20, 30], "counts": ""}, "it has runs of 0 pixels in all"),
        ({"size": [20, 30], "counts": "hb0!"}, "it has '!' in compressed counts. Use what COCO's tools write"),
        ({"size": [20, 30], "counts": "é"}, "it has 'é' in compressed counts"),
        ({"size": [20, 30], "counts": "o"}, "it has compressed counts that end within a number"),
        ({"size": [20, 30], "counts": "o" * 9}, "it has 'o' in compressed counts"),
    ],
)
def test_what_is_no_mask_of_the_image_is_told_in_one_line(segmentation: Any, told: str) -> None:
    with pytest.raises(FramewattError) as error:
        mask_of(segmentation, SIZE)
    assert str(error.value).startswith(told)
    assert len(str(error.value)) < 200
