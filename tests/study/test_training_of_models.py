"""`training.models`: settings that single models of a study have in place of the study's."""

from pathlib import Path
from typing import Any

import pytest
from study_factory import hashes_of, loaded

from framewatt.base.errors import FramewattError
from framewatt.planning.jobs import measure_job, train_job
from framewatt.study.study import MeasuredStudy
from framewatt.study.training import training_of

CROSS = {"workload": ["resnet50", "mobilenet"], "runtime": ["torch"], "dataset": ["digits"], "batch_size": [8]}
TRAIN, INFER = {"phase": ["train"], **CROSS}, {"phase": ["infer"], **CROSS}


def study(folder: Path, models: Any, *factors: dict, **training: Any) -> MeasuredStudy:
    content = {"study": "trial", "title": "A trial", "training": {"models": models, **training}}
    return loaded(folder, {**content, "factors": list(factors or (TRAIN, INFER))})


def cells(found: MeasuredStudy, phase: str) -> dict[str, Any]:
    return {cell.workload: cell for cell in found.cells if cell.phase == phase}


def test_a_model_has_its_own_settings_and_the_others_the_studys(tmp_path: Path) -> None:
    found = study(tmp_path, {"mobilenet": {"epochs": 3, "learning_rate": 0.5}}, epochs=7)
    jobs = {name: measure_job(found, cell, 1, 1)["training"] for name, cell in cells(found, "train").items()}
    assert (jobs["resnet50"]["epochs"], jobs["mobilenet"]["epochs"]) == (7, 3)
    assert (jobs["resnet50"]["learning_rate"], jobs["mobilenet"]["learning_rate"]) == (0.001, 0.5)
    assert jobs["mobilenet"]["momentum"] == jobs["resnet50"]["momentum"]
    assert not any("models" in training for training in jobs.values())


def test_weights_are_made_by_them_too(tmp_path: Path) -> None:
    found = study(tmp_path, {"mobilenet": {"batch_size": 4, "optimizer": "adam"}})
    jobs = {name: train_job(found, cell, 1) for name, cell in cells(found, "infer").items()}
    assert (jobs["resnet50"]["batch_size"], jobs["mobilenet"]["batch_size"]) == (32, 4)
    assert "options" not in jobs["resnet50"]
    assert jobs["mobilenet"]["options"] == {"optimizer": "adam"}


def test_what_one_model_has_changes_no_hash_of_another(tmp_path: Path) -> None:
    plain, own = (hashes_of(study(tmp_path, models)) for models in ({}, {"mobilenet": {"epochs": 3}}))
    for phase in ("train", "infer"):
        before, after = cells(plain.study, phase), cells(own.study, phase)
        assert plain.run(before["resnet50"], 1) == own.run(after["resnet50"], 1)
        assert plain.run(before["mobilenet"], 1) != own.run(after["mobilenet"], 1)


def test_settings_of_packages_from_before_hold() -> None:
    assert training_of({"training": {"epochs": 2}}, "resnet50") == {"epochs": 2}


@pytest.mark.parametrize(
    ("models", "factors", "reason"),
    [
        (
            {"vgg": {"epochs": 1}},
            (),
            "training.models: 'vgg' is not a model of the study. Use mobilenet, resnet50",
        ),
        (
            {"resnet50": {}},
            (),
            "training.models.resnet50: {} is not allowed. Use a mapping of epochs, batch_size, learning_rate",
        ),
        ({"resnet50": {"epoch": 1}}, (), "training.models.resnet50.epoch is not a known key. Use one of: batch_size"),
        (
            {"resnet50": {"epochs": 0}},
            (),
            "training.models.resnet50.epochs: 0 is not allowed. Use a whole number at least 1",
        ),
        ({"resnet50": 3}, (), "training.models.resnet50: 3 is not allowed. Use a mapping of epochs"),
        (
            {"resnet50": {"models": {}}},
            (),
            "training.models.resnet50.models is not a known key. Use one of: batch_size, betas",
        ),
        (
            {"resnet50": {"learning_rate": 0.1}},
            (TRAIN | {"learning_rate": [0.1, 0.2]},),
            "training.models.resnet50.learning_rate: 0.1 contradicts the factor learning_rate. Use one of",
        ),
        (
            {"resnet50": {"weight_decay": 0.1}},
            (TRAIN,),
            "training.models.resnet50.weight_decay: 0.1 is not possible with the optimizer sgd of runs that train",
        ),
        (
            {"mobilenet": {"schedule": {"kind": "cosine", "warm_up_steps": 1, "final_rate": 1}}},
            (TRAIN,),
            "training.models.mobilenet.schedule.final_rate: 1 is above the learning rate 0.001",
        ),
    ],
)
def test_what_no_model_can_have_is_one_line(tmp_path: Path, models: Any, factors: tuple, reason: str) -> None:
    with pytest.raises(FramewattError) as caught:
        study(tmp_path, models, *factors)
    assert reason in str(caught.value)
