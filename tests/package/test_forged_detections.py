"""Precision of detections that data, or the record itself, do not bear out."""

from typing import Any

import pytest

from framewatt.package.verification.outcome import problems_of_quality, quality_mismatches
from framewatt.runs.records import SCHEMA_VERSION
from framewatt.tasks import task_of
from framewatt.tasks.boxes import DETECTIONS, OBJECTS
from framewatt.tasks.detection import NO_OBJECTS
from framewatt.tasks.quality import described

DATA = {"task": "detection", "test_samples": 40, "test_objects_per_class": [30, 40, 36], "test_crowds": 6}
TASK = task_of("detection")


def record(value: float | None, *, found: float = 3.0, objects: float = 2.5, why: str | None = None) -> dict[str, Any]:
    quality = described(
        dict.fromkeys(TASK.names, value), why, "pycocotools 2.0.11", {DETECTIONS: found, OBJECTS: objects}
    )
    flags = [] if why is None else [f"{why}, so {TASK.primary.words} is unknown"]
    made = {"schema_version": SCHEMA_VERSION, "quality": quality, "flags": flags, "epochs": [], "latency": {}}
    return {**made, "units": {"name": "image", "count": 40}}


def test_a_true_record_is_believed() -> None:
    assert list(quality_mismatches(TASK, DATA, record(0.4)["quality"])) == []
    assert list(problems_of_quality("infer", False, TASK, DATA, record(0.4))) == []


def test_objects_are_as_many_as_the_data_record_says() -> None:
    """Or a detector that finds a hundred boxes for each object would look like one that finds each."""
    told = list(quality_mismatches(TASK, DATA, record(0.4, objects=2.65)["quality"]))
    assert told[0] == "quality.box_ap.objects_per_image: the record states 2.65, the data record gives 2.5"
    assert len(told) == 3


@pytest.mark.parametrize("each", [None, "106", [30, "40"], {}])
def test_a_data_record_that_tells_no_objects_is_told(each: object) -> None:
    told = list(quality_mismatches(TASK, {**DATA, "test_objects_per_class": each}, record(0.4)["quality"]))
    assert len(told) == 3
    assert told[0].startswith("quality.box_ap.objects_per_image: the record states 2.5")


def test_who_finds_nothing_has_no_precision_above_0() -> None:
    assert list(quality_mismatches(TASK, DATA, record(0.0, found=0.0)["quality"])) == []
    told = list(quality_mismatches(TASK, DATA, record(0.4, found=0.0)["quality"]))
    assert told[0] == "quality.box_ap: the record states 0.4, and that nothing is found"


@pytest.mark.parametrize(
    "why",
    [
        "outputs are not numbers",
        "scores are 0.9 to 1.5; allowed: 0 to 1, or -1 for no detection",
        "classes are 0 to 3; allowed: whole numbers, 0 to 2, 0 for the first category",
        "boxes end before they begin; allowed: left, top, right, bottom",
        "outputs of shape (40, 3), float32, are no detections; allowed: (40, any, 6) of floats",
    ],
)
def test_what_may_be_wrong_with_detections_is_a_reason(why: str) -> None:
    assert list(problems_of_quality("infer", False, TASK, DATA, record(None, why=why))) == []


@pytest.mark.parametrize(
    "why",
    [
        "it was a bad day",
        "there is no pycocotools in this environment",
        "scores are what they are; allowed: <b>",
        NO_OBJECTS,
    ],
)
def test_what_neither_data_nor_outputs_give_is_none(why: str) -> None:
    (told,) = problems_of_quality("infer", False, TASK, DATA, record(None, why=why))
    assert told.endswith("data and weights give no such reason")


def test_a_test_set_of_crowds_alone_gives_the_reason_that_there_are_no_objects() -> None:
    crowds = {**DATA, "test_crowds": 106}
    assert list(problems_of_quality("infer", False, TASK, crowds, record(None, objects=0.0, why=NO_OBJECTS))) == []


def test_a_reason_of_detections_is_none_of_classes() -> None:
    asked = task_of("classification")
    why = "boxes end before they begin; allowed: left, top, right, bottom"
    made = record(None) | {"quality": described(dict.fromkeys(asked.names), why)}
    made |= {"flags": [f"{why}, so {asked.primary.words} is unknown"], "units": {"name": "sample", "count": 40}}
    (told,) = problems_of_quality("infer", False, asked, {}, made)
    assert told.endswith("data and weights give no such reason")
