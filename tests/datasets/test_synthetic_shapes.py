"""Drawn shapes: what is annotated is what is on the images, and form alone tells the class."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.synthetic_shapes import CLASSES

OPTIONS = {"module": "synthetic_shapes", "train_samples": 150, "test_samples": 40, "size": 64, "most": 4, "seed": 3}


@pytest.fixture(scope="module")
def shapes() -> Arrays:
    return make_arrays({**OPTIONS, "masks": True})


def masks_of(objects: Objects) -> np.ndarray:
    return np.stack([objects.mask(number) for number in range(len(objects.boxes))])


def test_boxes_and_areas_are_those_of_the_masks(shapes: Arrays) -> None:
    objects = shapes.y_train
    for number, mask in enumerate(masks_of(objects)):
        rows, columns = np.nonzero(mask)
        tightest = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert objects.boxes[number].tolist() == tightest
        assert objects.areas[number] == mask.sum() >= 16


def test_shapes_of_an_image_share_no_pixel(shapes: Arrays) -> None:
    objects = shapes.y_train
    masks = masks_of(objects)
    for first, last in zip(objects.starts[:-1], objects.starts[1:], strict=True):
        assert 1 <= last - first <= OPTIONS["most"]
        assert masks[first:last].sum(axis=0).max() == 1


def test_a_shape_differs_in_colour_from_what_is_around_it(shapes: Arrays) -> None:
    """Else nothing could be learnt: of a shape that lies alone, the mean colour is not that of the ground."""
    objects = shapes.y_train
    alone = np.flatnonzero(np.diff(objects.starts) == 1)
    assert len(alone) > 20
    for image in alone:
        mask = objects.mask(objects.starts[image]) == 1
        pixels = shapes.x_train[image]
        assert np.abs(pixels[:, mask].mean(axis=1) - pixels[:, ~mask].mean(axis=1)).max() > 0.15


def test_neither_size_nor_colour_nor_place_tells_the_class() -> None:
    """A shape's share of its box does: that is form."""
    found = make_arrays({**OPTIONS, "train_samples": 900, "masks": True, "most": 1})
    objects, images = found.y_train, found.x_train
    masks = masks_of(objects) == 1
    colours = np.array([image[:, mask].mean(axis=1) for image, mask in zip(images, masks, strict=True)])
    middles = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2
    by_class = [objects.classes == kind for kind in range(len(CLASSES))]
    # Squares too: triangles could all lie nearer to the middle than circles, and be as near to it on average.
    apart = (middles - middles.mean(axis=0)) ** 2
    for values in (*colours.T, *middles.T, *apart.T, objects.areas):
        means = [values[chosen].mean() for chosen in by_class]
        # Five standard errors of the difference of two means of 300.
        assert max(means) - min(means) < 5 * values.std() * np.sqrt(2 / 300)
    sides = objects.boxes[:, 2:] - objects.boxes[:, :2]
    filled = objects.areas / sides.prod(axis=1)
    circle, _, triangle = (filled[chosen].mean() for chosen in by_class)
    assert circle == pytest.approx(np.pi / 4, abs=0.03)
    assert triangle < 0.6


def test_a_seed_gives_the_same_images_and_another_gives_others(shapes: Arrays) -> None:
    again = make_arrays({**OPTIONS, "masks": True})
    other = make_arrays({**OPTIONS, "masks": True, "seed": 4})
    assert np.array_equal(again.x_train, shapes.x_train)
    assert np.array_equal(again.y_train.runs, shapes.y_train.runs)
    assert not np.array_equal(other.x_train, shapes.x_train)
    # The test set is no part of the training set.
    assert not np.array_equal(shapes.x_train[: len(shapes.x_test)], shapes.x_test)


def test_without_masks_the_task_is_detection_on_the_same_images(shapes: Arrays) -> None:
    boxes = make_arrays({**OPTIONS, "masks": False})
    assert (shapes.task, boxes.task) == ("segmentation", "detection")
    assert np.array_equal(boxes.x_test, shapes.x_test)
    assert np.array_equal(boxes.y_test.boxes, shapes.y_test.boxes)
    assert not boxes.y_test.masked
    assert boxes.about["synthetic"] is True


@pytest.mark.parametrize(("option", "value"), [("size", 16), ("most", 0), ("masks", 1), ("test_samples", 0)])
def test_an_option_that_cannot_be_is_one_line(option: str, value: int) -> None:
    with pytest.raises(FramewattError, match=f"{option}: {value} is not possible. Use "):
        make_arrays({**OPTIONS, "masks": True, option: value})
