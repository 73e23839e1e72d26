"""Overlaps, shifts, matches and searches of boxes: own code beside torchvision's, on random and on degenerate input."""

from pathlib import Path

import numpy as np
import pytest
from stages import run_program

from framewatt.datasets.ragged import IGNORED
from framewatt.study.cell import environment_of
from framewatt.tasks.boxes import same_share
from framewatt.workloads.detector import ranks

IMAGES, OBJECTS, ANCHORS, CANDIDATES, CLASSES, REGIONS = 12, 8, 60, 50, 3, 40


def boxes(draw: np.random.Generator, *shape: int) -> np.ndarray:
    """Boxes with an area, on images of 100 pixels."""
    begin = draw.uniform(0, 80, (*shape, 2))
    return np.concatenate([begin, begin + draw.uniform(1, 40, (*shape, 2))], axis=-1).astype(np.float32)


def given() -> dict[str, np.ndarray]:
    """Random boxes; and images without an object, with the same object twice, with one that no anchor overlaps, with
    candidates of no area, all in one place, all below the least score, or all of them the same."""
    draw = np.random.default_rng(7)
    anchors, wanted = boxes(draw, ANCHORS), boxes(draw, IMAGES, OBJECTS)
    classes = draw.integers(0, CLASSES, (IMAGES, OBJECTS))
    classes[draw.random((IMAGES, OBJECTS)) < 0.4] = IGNORED
    classes[0] = IGNORED
    wanted[1, 1], classes[1, :2] = wanted[1, 0], [0, 1]
    wanted[2, 0], classes[2] = [200, 200, 210, 210], IGNORED
    classes[2, 0] = 1
    wanted[3, 0], classes[3, 0] = anchors[5], 2
    wanted[classes == IGNORED] = 0
    candidates, scores = boxes(draw, IMAGES, CANDIDATES), draw.random((IMAGES, CANDIDATES, CLASSES)).astype(np.float32)
    candidates[4, :10, 2] = candidates[4, :10, 0]
    candidates[5] = candidates[5, 0]
    scores[6] = 0.005
    scores[7, :, 1] = 0
    candidates[8, :, :] = 0
    scores[9, 1:] = 0
    return {
        **{"anchors": anchors, "boxes": wanted, "classes": classes, "candidates": candidates, "scores": scores},
        "others": boxes(draw, ANCHORS),
        # Some grow by more than is allowed.
        "moves": draw.normal(0, 12, (ANCHORS, 4)).astype(np.float32),
        **regions(draw),
        "numbers": np.arange(250_000),
        "of_image": np.arange(250_000) % 64,
    }


def regions(draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Maps of two images of 128 pixels, and regions of them: of no area, beyond the image, as large as it, random."""
    begin = draw.uniform(-20, 120, (REGIONS, 2))
    found = np.concatenate([begin, begin + np.exp(draw.uniform(0, 4.8, (REGIONS, 2)))], axis=1)
    found[:4] = [[10, 10, 10, 10], [200, 200, 260, 280], [-50, -50, -20, -30], [0, 0, 128, 128]]
    maps = {f"map_{level}": draw.normal(size=(2, side, side, 5)) for level, side in enumerate((32, 16, 8, 4))}
    return {
        **{name: values.astype(np.float32) for name, values in maps.items()},
        "regions": found.astype(np.float32),
        "region_images": np.repeat([0, 1], REGIONS // 2).astype(np.int32),
        "region_masks": (draw.random((REGIONS, 128, 128)) < 0.5).astype(np.float32),
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    """What each framework makes of the same boxes."""
    folder = tmp_path_factory.mktemp("boxes")
    np.savez(folder / "given.npz", **given())
    results = {}
    for framework in ("torch", "tensorflow"):
        script, files = (
            Path(__file__).with_name("inspect_boxes.py"),
            (folder / "given.npz", folder / f"{framework}.npz"),
        )
        run_program(environment_of(framework, "cpu"), script, framework, *files)
        with np.load(folder / f"{framework}.npz") as content:
            results[framework] = dict(content)
    return results


def test_overlaps_are_those_of_torchvision(found: dict[str, dict[str, np.ndarray]]) -> None:
    assert np.abs(found["tensorflow"]["overlaps"] - found["torch"]["overlaps"]).max() < 1e-6
    assert found["torch"]["overlaps"].max() > 0.5


@pytest.mark.parametrize("what", ["shifts", "shifted"])
def test_shifts_lead_where_torchvisions_lead(found: dict[str, dict[str, np.ndarray]], what: str) -> None:
    ours, theirs = found["tensorflow"][what], found["torch"][what]
    assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()


def places_of(numbers: np.ndarray, image: int) -> list[int]:
    """What torchvision says of an image, by the places of objects: it numbers those that are there."""
    places = np.flatnonzero(given()["classes"][image] != IGNORED)
    return np.where(numbers >= 0, places[np.maximum(numbers, 0)] if len(places) else -1, numbers).tolist()


@pytest.mark.parametrize("matcher", ["matched", "dense"])
def test_every_anchor_is_asked_for_the_same_object(found: dict[str, dict[str, np.ndarray]], matcher: str) -> None:
    ours, theirs = found["tensorflow"][matcher], found["torch"][matcher]
    for image, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert one.tolist() == places_of(other, image), f"image {image}"
    assert (ours[0] == -1).all(), "there is nothing to be asked for"
    assert ours[3, 5] == 0
    assert (ours >= 0).sum() > 40


def test_an_object_that_no_anchor_overlaps_has_one_or_all(found: dict[str, dict[str, np.ndarray]]) -> None:
    """SSD asks the first of the best anchors; torchvision's RetinaNet asks all of them, though they overlap by 0."""
    assert (found["tensorflow"]["matched"][2] == 0).sum() == 1
    assert (found["tensorflow"]["dense"][2] == 0).all()


@pytest.mark.parametrize("form", ["tensorflow", "exported"])
def test_searches_find_what_torchvisions_finds(found: dict[str, dict[str, np.ndarray]], form: str) -> None:
    ours = found["tensorflow"]["searched"] if form == "tensorflow" else found["torch"]["exported"]
    theirs = found["torch"]["searched"]
    assert ours.shape == theirs.shape
    for image, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert (one[:, 4] >= 0).sum() == (other[:, 4] >= 0).sum(), f"image {image}"
        assert same_share(one[None], other[None]) == 1 or (other == -1).all(), f"image {image}"
        assert np.allclose(one[:, 4], other[:, 4]), "they are in the order of their scores"
    assert (theirs[6] == -1).all(), "nothing is above the least score"
    assert (theirs[..., 4] >= 0).sum() > 100


@pytest.mark.parametrize("what", ["aligned", "within"])
def test_regions_have_what_torchvision_finds_in_them(found: dict[str, dict[str, np.ndarray]], what: str) -> None:
    ours, theirs = found["tensorflow"][what], found["torch"][what]
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 1e-4
    assert np.abs(theirs[1]).max() == 0, "beyond the image there is nothing"
    assert np.abs(theirs[3:]).max() > 0.5


def test_what_is_drawn_is_the_same_everywhere(found: dict[str, dict[str, np.ndarray]]) -> None:
    here = ranks(given()["numbers"], given()["of_image"], np.int64(12_345))
    assert found["torch"]["ranks"].tolist() == found["tensorflow"]["ranks"].tolist() == here.tolist()
