"""Examples of what weights find that data, or the record of the weights, do not bear out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from detections_factory import found_near, shapes, weights
from forger import Forger, assert_noticed, put
from package_factory import study_of

from framewatt.datasets.contract import Arrays
from framewatt.datasets.record import record_of
from framewatt.package.verification.descriptions import problems_of
from framewatt.prepare.examples import Examples

MODEL = "mask_rcnn_small-synthetic-shapes-masks-torch"
TRAIN = "results/trial/train/resnet50-digits-torch"


@pytest.fixture(scope="module")
def data() -> Arrays:
    return shapes(masks=True)


@pytest.fixture(scope="module")
def made(data: Arrays, tmp_path_factory: pytest.TempPathFactory) -> tuple[Examples, dict[str, Any], dict[str, Any]]:
    """Examples, the record of their data set, and that of their weights."""
    record = weights(MODEL, found_near(data), data, tmp_path_factory.mktemp("made"))
    return record["shown"], record_of("synthetic-shapes-masks", {}, "0" * 64, data, []), record


def test_true_examples_are_believed(made: tuple[Examples, dict[str, Any], dict[str, Any]]) -> None:
    assert list(problems_of(*made)) == []


def first(shown: Examples, **changes: Any) -> Examples:
    """The first image changed."""
    return replace(shown, images=(replace(shown.images[0], **changes), *shown.images[1:]))


FORGED: dict[str, tuple[Callable[[Examples], Examples], str]] = {
    "one image": (lambda s: replace(s, images=s.images[:1]), "images: it states 1, the data record gives 2"),
    "a larger canvas": (lambda s: replace(s, size=(65, 64)), "size.0: it states 65, the data record gives 64"),
    "better words": (
        lambda s: replace(s, class_names=("cat", "dog", "horse")),
        "class_names.0: it states 'cat', the data record gives 'circle'",
    ),
    "no masks": (
        lambda s: first(s, objects=tuple(replace(one, runs=None) for one in s.images[0].objects)),
        "masks: objects have them or not, the data record states True",
    ),
    "a class that is not there": (
        lambda s: first(s, detections=tuple(replace(one, kind=7) for one in s.images[0].detections)),
        "classes: it has more than 3",
    ),
    "more objects than there are": (
        lambda s: first(s, objects=s.images[0].objects * 20),
        "the data record has fewer",
    ),
    "more detections than there are": (lambda s: first(s, detected=99), "detections: it shows 1"),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_data_and_record_do_not_bear_out_is_told(
    what: str, made: tuple[Examples, dict[str, Any], dict[str, Any]]
) -> None:
    forge, essence = FORGED[what]
    told = list(problems_of(forge(made[0]), *made[1:]))
    assert any(essence in line for line in told), told


def test_photographs_in_a_package_are_told(made: tuple[Examples, dict[str, Any], dict[str, Any]]) -> None:
    shown, data, record = made
    for said in ({"synthetic": False}, {"synthetic": "yes"}, {"synthetic": None}):
        (told,) = problems_of(shown, data | said, record)
        assert told == "pixels: it has them, of a data set that is not synthetic"


def test_examples_of_which_no_record_tells_are_noticed(forger: Forger) -> None:
    (forger.data / TRAIN / "examples.json").write_text("{}")
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert_noticed(forger, "train/resnet50-digits-torch/examples.json: train.json records no examples")


def test_examples_that_are_told_of_and_not_there_are_noticed(forger: Forger) -> None:
    forger.json(f"{TRAIN}/train.json", put("examples", {"images": 2, "sha256": "0" * 64}))
    forger.mend()
    assert_noticed(
        forger, "train/resnet50-digits-torch/examples.json is missing, and the record of the weights names it"
    )


def test_two_frameworks_were_shown_the_same(data: Arrays, tmp_path: Path) -> None:
    """Their truth is compared, not what they found."""
    one = weights(MODEL, found_near(data), data, tmp_path / "a")["shown"]
    other = weights(MODEL, found_near(data, seed=1), data, tmp_path / "b")["shown"]
    assert one.scene == other.scene
    moved = tuple(replace(thing, kind=(thing.kind + 1) % 3) for thing in other.images[0].objects)
    assert first(other, objects=moved).scene != one.scene
    assert first(other, pixels=other.images[0].pixels[::-1]).scene != one.scene
