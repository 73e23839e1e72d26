"""Average precision beside another tool's: as drawn, and where a count could go astray."""

import contextlib
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from detections_factory import perfect

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects, encode_mask
from framewatt.tasks.average_precision import average_precision
from framewatt.tasks.boxes import BOX, MASK, paste_mask

SHAPES = {"module": "synthetic_shapes", "train_samples": 1, "test_samples": 30, "size": 64, "most": 4, "seed": 1}


@pytest.fixture(scope="module")
def shapes() -> Arrays:
    return make_arrays({**SHAPES, "masks": True})


def by_another_tool(outputs: np.ndarray, objects: Objects, classes: int, *, masks: bool) -> tuple[float, ...]:
    """The same three by faster-coco-eval, which counts in C++, from what a file would hold."""
    from faster_coco_eval import COCO, COCOeval_faster

    height, width = objects.size
    truth, answers = [], []
    for image in range(len(objects)):
        for number in range(objects.starts[image], objects.starts[image + 1]):
            one = {"image_id": image, "category_id": int(objects.classes[number]), "bbox": sides(objects.boxes[number])}
            one |= {"area": float(objects.areas[number]), "iscrowd": int(objects.crowd[number])}
            runs = objects.runs[objects.run_starts[number] : objects.run_starts[number + 1]]
            truth.append({**one, "segmentation": {"size": [height, width], "counts": runs.tolist()}})
        for row in outputs[image]:
            if row[4] < 0:
                continue
            one = {"image_id": image, "category_id": int(row[5]), "bbox": sides(row[:4]), "iscrowd": 0}
            one |= {"score": float(row[4]), "area": 1.0}
            if masks:
                drawn = encode_mask(paste_mask(row[BOX:].reshape(MASK, MASK), row[:4], objects.size))
                one["segmentation"] = {"size": [height, width], "counts": drawn.tolist()}
            answers.append(one)

    def indexed(rows: list[dict[str, Any]]) -> Any:
        images = [{"id": image, "height": height, "width": width} for image in range(len(objects))]
        annotations = [{"id": number, **row} for number, row in enumerate(rows, 1)]
        return COCO({"images": images, "categories": [{"id": k} for k in range(classes)], "annotations": annotations})

    with contextlib.redirect_stdout(io.StringIO()):
        count = COCOeval_faster(indexed(truth), indexed(answers), "segm" if masks else "bbox")
        count.evaluate()
        count.accumulate()
        count.summarize()
    return tuple(float(value) for value in count.stats[:3])


def last_digit(values: tuple[float, ...]) -> Any:
    """Equal but for the last digit of a float: a precision that is 1 here is 1 - 2e-16 there."""
    return pytest.approx(values, rel=0, abs=1e-15)


def sides(box: np.ndarray) -> list[float]:
    left, top, right, bottom = box.tolist()
    return [left, top, right - left, bottom - top]


def drawn_near(shapes: Arrays, seed: int, most: int = 12) -> tuple[np.ndarray, Objects]:
    """Detections whose boxes, scores and classes are off by some, others anywhere, and objects of which are crowds."""
    draw = np.random.default_rng(seed)
    objects: Any = replace(shapes.y_test, crowd=draw.random(len(shapes.y_test.boxes)) < 0.2)
    outputs = perfect(shapes)
    outputs = np.pad(outputs, ((0, 0), (0, most - outputs.shape[1]), (0, 0)), constant_values=-1)
    there = outputs[..., 4] >= 0
    anywhere = ~there & (draw.random(there.shape) < 0.5)
    corners = np.sort(draw.uniform(0, 64, (*there.shape, 2, 2)), axis=2).reshape(*there.shape, 4)
    near = outputs[..., :4] + draw.normal(0, 3, (*there.shape, 4))
    outputs[..., :4] = np.where(there[..., None], near, np.where(anywhere[..., None], corners, -1))
    outputs[..., 2:4] = np.maximum(outputs[..., 2:4], outputs[..., :2])
    outputs[anywhere, BOX:] = draw.random((anywhere.sum(), MASK**2))
    other = anywhere | (there & (draw.random(there.shape) < 0.2))
    outputs[..., 5] = np.where(other, draw.integers(3, size=there.shape), outputs[..., 5])
    outputs[..., 4] = np.where(there | anywhere, draw.random(there.shape), -1)
    return outputs, objects


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_another_tool_counts_the_same(shapes: Arrays, seed: int, *, masks: bool) -> None:
    outputs, objects = drawn_near(shapes, seed)
    ours = average_precision(outputs if masks else outputs[..., :BOX], objects, 3, masks=masks)
    assert 0.03 < ours.mean < ours.at_50 < 0.9
    assert ours == last_digit(by_another_tool(outputs, objects, 3, masks=masks))


def no_detections(outputs: np.ndarray, objects: Objects) -> None:
    outputs[:] = -1


def one_score(outputs: np.ndarray, objects: Objects) -> None:
    """Then the order in which detections are given decides."""
    outputs[..., 4] = np.where(outputs[..., 4] >= 0, 0.5, -1)


def few_scores(outputs: np.ndarray, objects: Objects) -> None:
    outputs[..., 4] = np.where(outputs[..., 4] >= 0, outputs[..., 4].round(1), -1)


def without_area(outputs: np.ndarray, objects: Objects) -> None:
    outputs[:, ::2, 2:4] = outputs[:, ::2, :2]


def empty_masks(outputs: np.ndarray, objects: Objects) -> None:
    outputs[:, ::2, BOX:] = 0


def one_class(outputs: np.ndarray, objects: Objects) -> None:
    outputs[..., 5] = np.where(outputs[..., 4] >= 0, 1, -1)


def one_object(outputs: np.ndarray, objects: Objects) -> None:
    """All others are crowds, so that two of three classes are left out."""
    objects.crowd[1:] = True


def on_top_of_each_other(outputs: np.ndarray, objects: Objects) -> None:
    """More on an image than count: of the same score, on the same object."""
    outputs[:] = outputs[:, :1]


DEGENERATE = [
    *(no_detections, one_score, few_scores, without_area, empty_masks, one_class, one_object, on_top_of_each_other)
]


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("change", DEGENERATE)
def test_another_tool_counts_the_same_of_degenerate_detections(
    shapes: Arrays, change: Callable[[np.ndarray, Objects], None], *, masks: bool
) -> None:
    outputs, objects = drawn_near(shapes, 7, most=120 if change is on_top_of_each_other else 12)
    change(outputs, objects)
    ours = average_precision(outputs if masks else outputs[..., :BOX], objects, 3, masks=masks)
    assert ours == last_digit(by_another_tool(outputs, objects, 3, masks=masks))
