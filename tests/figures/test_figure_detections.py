"""The figure of detections: who finds nothing, who finds too much, and whose weights are not there, are all told."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from detections_factory import found_near, shapes, weights
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from study_factory import loaded
from test_figures import words

from framewatt.datasets.contract import Arrays
from framewatt.figures.boxes import OUTLINED
from framewatt.figures.detections import SCORE, draw
from framewatt.figures.names import figures_of
from framewatt.figures.save import save
from framewatt.workloads.registry import DETECTORS

NAME = "ssd_small-synthetic-shapes"


def panels(figure: Figure) -> dict[tuple[int, str], Axes]:
    """Panels by the line that they are in, from 0, and the first word of their titles."""
    columns = max(axes.get_subplotspec().get_gridspec().ncols for axes in figure.axes)
    return {(number // columns, axes.get_title("left").split(":")[0]): axes for number, axes in enumerate(figure.axes)}


def drawn_on(axes: Axes) -> list[tuple[float, ...]]:
    """Left, top, right and bottom of the boxes of a panel, sorted."""
    found = [one for one in axes.patches if isinstance(one, Rectangle)]
    ends = [(one.get_x() + one.get_width(), one.get_y() + one.get_height()) for one in found]
    return sorted((*one.get_xy(), *end) for one, end in zip(found, ends, strict=True))


def notes_of(figure: Figure) -> str:
    """All that is said, in one line."""
    return " ".join(words(figure).split())


def said_on(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def pair(tmp_path: Path, data: Arrays, torch: np.ndarray, tensorflow: np.ndarray) -> list[dict[str, Any]]:
    return [
        weights(f"{NAME}-torch", torch, data, tmp_path),
        weights(f"{NAME}-tensorflow", tensorflow, data, tmp_path),
    ]


def test_each_framework_has_what_it_finds_beside_what_there_is(tmp_path: Path) -> None:
    data = shapes()
    outputs = found_near(data)
    figure = draw(pair(tmp_path, data, outputs, found_near(data, seed=1)))
    found = panels(figure)
    assert list(found) == [(line, who) for line in (0, 1) for who in ("there", "torch", "tensorflow")]
    objects: Any = data.y_test
    for line in (0, 1):
        own = objects.boxes[objects.starts[line] : objects.starts[line + 1]]
        assert drawn_on(found[line, "there"]) == sorted(map(tuple, own.tolist()))
        sure = outputs[line][outputs[line, :, 4] >= SCORE]
        edges = sorted(map(tuple, sure[:, :4].tolist()))
        assert np.array(drawn_on(found[line, "torch"])) == pytest.approx(np.array(edges), abs=0.01)
        assert found[line, "torch"].get_title("left") == f"torch: {len(sure)} found, 1 less sure"
        assert len([one for one in found[line, "torch"].get_children() if isinstance(one, AxesImage)]) == 1
    labels = said_on(found[0, "torch"])
    kinds = ("circle", "box", "triangle")
    wanted = {f"{kinds[int(row[5])]} {row[4]:.2f}" for row in outputs[0] if row[4] >= SCORE}
    assert {*labels} == wanted
    assert "of a score of 0.3 or more" in notes_of(figure)
    assert f"Box AP of {NAME}: torch 0." in notes_of(figure)


def test_a_class_has_the_same_colour_in_every_panel(tmp_path: Path) -> None:
    data = shapes()
    figure = draw(pair(tmp_path, data, found_near(data), found_near(data, seed=1)))
    colours: dict[str, set[Any]] = {}
    for axes in figure.axes:
        for text in axes.texts:
            box: Any = text.get_bbox_patch()
            colours.setdefault(text.get_text().split()[0], set()).add(box.get_edgecolor())
    assert len(colours) == 3
    assert all(len(several) == 1 for several in colours.values())
    assert len(set.union(*colours.values())) == 3
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(colours)


def test_who_finds_nothing_or_nothing_surely_has_a_panel_that_says_so(tmp_path: Path) -> None:
    data = shapes()
    unsure = found_near(data, score=0.25)
    figure = draw(pair(tmp_path, data, np.full_like(unsure, -1), unsure))
    found = panels(figure)
    assert said_on(found[0, "torch"]) == ["nothing found"]
    assert found[0, "torch"].get_title("left") == "torch: 0 found"
    (said,) = said_on(found[0, "tensorflow"])
    assert said == f"nothing of a score of 0.3:\nthe surest has {unsure[0, :, 4].max():.2f}"
    count = int((unsure[0, :, 4] >= 0).sum())
    assert found[0, "tensorflow"].get_title("left") == f"tensorflow: 0 found, {count} less sure"


def test_a_hundred_boxes_on_one_another_are_counted(tmp_path: Path) -> None:
    data = shapes(masks=True)
    outputs = np.tile(found_near(data)[:, :1], (1, 150, 1))
    figure = draw([weights("mask_rcnn_small-synthetic-shapes-masks-torch", outputs, data, tmp_path)])
    axes = panels(figure)[0, "torch"]
    assert axes.get_title("left") == "torch: 100 drawn of 150 found"
    assert len(drawn_on(axes)) == 100
    assert sum(isinstance(one, ContourSet) for one in axes.get_children()) == OUTLINED
    assert f"Outlines are those of the {OUTLINED} surest." in notes_of(figure)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for number, one in enumerate(boxes) for other in boxes[:number])
    (size,) = (save(figure, [tmp_path / "a.svg"]), (tmp_path / "a.svg").stat().st_size)[1:]
    assert size < 500_000


def test_words_stay_in_their_panels_and_off_each_other(tmp_path: Path) -> None:
    data = shapes()
    draws = np.random.default_rng(0)
    crowded = np.full((4, 60, 6), -1, np.float32)
    crowded[..., :4] = np.sort(draws.uniform(0, 64, (4, 60, 2, 2)), axis=2).reshape(4, 60, 4)
    crowded[..., 4], crowded[..., 5] = draws.uniform(0.3, 1, (4, 60)), draws.integers(3, size=(4, 60))
    figure = draw([weights(f"{NAME}-torch", crowded, data, tmp_path)])
    figure.draw_without_rendering()
    for axes in figure.axes:
        frame, boxes = axes.get_window_extent(), [text.get_window_extent() for text in axes.texts]
        assert boxes
        for number, one in enumerate(boxes):
            assert frame.x0 - 2 <= one.x0 <= one.x1 <= frame.x1 + 2
            assert frame.y0 - 2 <= one.y0 <= one.y1 <= frame.y1 + 2
            assert not any(one.overlaps(other) for other in boxes[:number])


def of_photographs(data: Arrays) -> Arrays:
    """As of a data set of photographs with many classes, whose names a drawing might take for something else."""
    names = [f"$\\frac{number}_" if number % 2 else f"_class {number}" for number in range(80)]
    objects: Any = data.y_test
    kinds = np.arange(len(objects.classes)) * 7 % 80
    changed: Any = replace(objects, classes=kinds, crowd=kinds % 2 == 0)
    about = {**data.about, "synthetic": False, "class_names": names}
    return replace(data, y_test=changed, class_count=80, about=about)


def test_photographs_are_an_empty_canvas_and_the_figure_says_why(tmp_path: Path) -> None:
    data = of_photographs(shapes())
    draws = np.random.default_rng(1)
    outputs = np.full((4, 100, 6), -1, np.float32)
    outputs[..., :4] = np.sort(draws.uniform(0, 64, (4, 100, 2, 2)), axis=2).reshape(4, 100, 4)
    outputs[..., 4], outputs[..., 5] = 0.9, np.arange(100) % 80
    figure = draw([weights("retinanet-coco2017-small-torch", outputs, data, tmp_path)])
    assert not [image for axes in figure.axes for image in axes.images]
    assert "Without the images: the data set is no synthetic one" in notes_of(figure)
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert (len(texts), texts[0], texts[1], texts[-1]) == (22, "_class 0", "$\\frac1_", "and 59 more")
    assert any(said.endswith(", crowd") for said in said_on(panels(figure)[0, "there"]))
    save(figure, [tmp_path / f"a.{suffix}" for suffix in ("svg", "png", "pdf")])


def failed(model: str) -> dict[str, Any]:
    return {"model": model, "status": "failed", "reason": "ran out of memory", "shown": None}


def test_one_framework_and_weights_that_are_not_there(tmp_path: Path) -> None:
    data = shapes()
    of_torch = weights(f"{NAME}-torch", found_near(data), data, tmp_path)
    assert {who for _, who in panels(draw([of_torch]))} == {"there", "torch"}
    figure = draw([of_torch, failed(f"{NAME}-tensorflow")])
    assert said_on(panels(figure)[0, "tensorflow"]) == ["no examples"]
    assert f"No examples of {NAME}-tensorflow: ran out of memory" in notes_of(figure)
    older = {**of_torch, "model": f"{NAME}-tensorflow", "examples": None, "shown": None}
    assert "they were made before any were kept" in notes_of(draw([of_torch, {**older, "examples_reason": None}]))
    others = {"model": "resnet50-digits-torch", "status": "ok", "weights": "trained", "shown": None}
    random = {"model": "retinanet_small-synthetic-shapes-torch", "status": "ok", "weights": "seeded", "shown": None}
    assert "resnet50" not in notes_of(draw([of_torch, others, random]))


def test_of_several_workloads_each_has_lines_of_its_own(tmp_path: Path) -> None:
    data = shapes()
    both = pair(tmp_path, data, found_near(data), found_near(data, seed=1))
    other = weights("retinanet_small-synthetic-shapes-torch", found_near(data, seed=2), data, tmp_path)
    figure = draw([*both, other])
    lines = [axes.get_ylabel().split("\n")[0] for axes in figure.axes if axes.get_ylabel()]
    assert lines == ["retinanet_small-synthetic-shapes"] * 2 + [NAME] * 2
    assert [said for _, said in not_in(figure)] == ["not in the study"] * 2
    many = [{**other, "model": f"{name}-synthetic-shapes-torch"} for name in DETECTORS]
    assert len([axes for axes in draw(many).figure.axes if axes.get_ylabel()]) == len(DETECTORS)


def not_in(figure: Figure) -> Iterator[tuple[Axes, str]]:
    return ((axes, text) for axes in figure.axes for text in said_on(axes) if text == "not in the study")


def test_what_saw_other_images_is_not_drawn_on_these(tmp_path: Path) -> None:
    """As where a data set has variants by framework, in another order."""
    data = shapes()
    objects: Any = data.y_test
    moved = replace(data, x_test=data.x_test[::-1].copy())
    both = [
        weights(f"{NAME}-torch", found_near(data), data, tmp_path),
        weights(f"{NAME}-tensorflow", found_near(moved), moved, tmp_path),
    ]
    assert objects is moved.y_test
    figure = draw(both)
    assert len([axes for axes in figure.axes if axes.get_ylabel()]) == 4
    assert len(list(not_in(figure))) == 4


def study(tmp_path: Path, *phases: str, workload: str = "ssd_small", **more: Any) -> list[str]:
    cross = {"workload": [workload], "dataset": ["digits"], "batch_size": [8], "runtime": ["torch"]}
    content = {"study": "trial", "title": "A trial", "repetitions": 2, **more}
    known = {"workload/torch": ["ssd_small", "resnet50"]}
    factors = [{**cross, "phase": [phase]} for phase in phases]
    return figures_of(loaded(tmp_path, {**content, "factors": factors}, known=known), ())


def test_a_study_that_makes_weights_of_a_detector_has_the_figure_and_no_other(tmp_path: Path) -> None:
    assert "detections" in study(tmp_path, "infer")
    assert "detections" in study(tmp_path, "train", "infer")
    assert "detections" not in study(tmp_path, "train"), "weights of measured runs are not kept"
    assert "detections" not in study(tmp_path, "infer", weights="seeded")
    assert "detections" not in study(tmp_path, "infer", workload="resnet50")
