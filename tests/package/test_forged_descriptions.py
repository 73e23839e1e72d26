"""Descriptions of one thing that were changed in one file and not in another."""

from collections.abc import Callable

import numpy as np
import pytest
from forger import Forger, assert_noticed, put
from package_factory import CELL, study_of
from played_runs import MACHINE

from framewatt.host.machine import machine_of
from framewatt.package.verification.descriptions import _agreement, _verdict
from framewatt.package.verify import problems_of
from framewatt.prepare.parity_sheet import compare, verdict_of
from framewatt.tasks import TASKS

Edit = Callable[[Forger], object]
TRAIN = "results/trial/train/resnet50-digits-torch/train.json"
DATA = "resources/data/digits.json"


def of_json(name: str, path: str, value: object) -> Edit:
    return lambda forger: forger.json(name, put(path, value))


FORGED: dict[str, tuple[Edit, str]] = {
    "parameters": (lambda f: f.record(CELL, put("workload.parameters", 1)), "workload.parameters: the record states"),
    "a shape": (
        lambda f: f.record(CELL, put("workload.input_shape", [1, 2])),
        "workload.input_shape: the record states",
    ),
    "epochs of weights": (of_json(TRAIN, "epochs", lambda epochs: epochs[:1]), r"train.json: epochs: it states \[1\]"),
    "another framework": (of_json(TRAIN, "framework", "mxnet"), "train.json: framework: it states 'mxnet'"),
    "other weights": (of_json(TRAIN, "weights", "pretrained"), "train.json: weights: it states 'pretrained'"),
    "another machine of the same hardware": (
        lambda f: f.record(CELL, put("machine.id", "0" * 15 + "a")),
        r"machine.id: it states '000000000000000a', its hardware gives \w{16}",
    ),
    "samples per class": (
        lambda f: f.json(DATA, lambda data: data | {"classes": 10, "test_samples_per_class": [36] * 9 + [35]}),
        "digits.json: test_samples: it states 360, its samples per class give 359",
    ),
    "classes": (
        lambda f: f.json(DATA, lambda data: data | {"classes": 100, "test_samples_per_class": [36] * 10}),
        "digits.json: classes: it states 100, its samples per class give 10",
    ),
    "the machine that packed": (
        of_json("identity.json", "machine.cpu_model", "a better one"),
        "identity.json: machine",
    ),
    "the machine with the meters": (
        of_json("results/trial/calibrate/instruments.json", "machine.memory_b", 1),
        "instruments.json: machine.memory_b: it states 1",
    ),
    "the machine afterwards": (
        of_json("results/trial/calibrate/idle_after.json", "machine.kernel", "9.9"),
        "idle_after.json: machine.kernel",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_descriptions_that_part_are_noticed(forger: Forger, name: str) -> None:
    edit, essence = FORGED[name]
    edit(forger)
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert_noticed(forger, essence)


def test_a_package_may_be_written_on_another_machine(forger: Forger) -> None:
    other = {**MACHINE, "session": "e" * 16, "cpu_model": "another"}
    forger.json("identity.json", lambda one: one["machine"].update(other, id=machine_of(other)))
    forger.mend()
    assert list(problems_of(forger.folder)) == []


@pytest.mark.parametrize(("difference", "status"), [(1e-4, "ok"), (1e-2, "deviates")])
def test_the_end_of_a_check_follows_from_its_numbers(difference: float, status: str) -> None:
    check = {"status": status, "max_abs_difference": difference, "largest_score": 5.0}
    assert list(_agreement(check, 1e-3)) == []
    other = {"ok": "deviates", "deviates": "ok"}[status]
    assert len(list(_agreement(check | {"status": other}, 1e-3))) == 1


def test_a_check_of_answers_follows_from_their_share() -> None:
    for share, status, problems in ((1.0, "ok", 0), (0.98, "deviates", 0), (0.98, "ok", 1), (1.0, "deviates", 1)):
        told = list(_agreement({"status": status, "equal_answers_share": share}, 1e-3))
        assert len(told) == problems, told
    # A quantised model need not find the same.
    assert list(_agreement({"status": "ok", "equal_answers_share": 0.5}, None)) == []


def test_the_verdict_of_a_comparison_follows_from_its_numbers() -> None:
    draw = np.random.default_rng(0)
    theirs = {name: draw.normal(size=(2, 3)) for name in ("before", "after", "gradient/weight")}
    theirs["losses"] = np.array([2.0, 1.0])
    facts = {"status": "ok", "not_carried": None, "dropout": [], "reference": {"dropout": []}}
    same, other = (
        {**facts, **compare(TASKS["classification"], {**theirs, "losses": np.array([2.0, last])}, theirs)}
        for last in (1.0, 1.5)
    )
    same, other = same | verdict_of(same), other | verdict_of(other)
    assert list(_verdict(same)) == list(_verdict(other)) == []
    assert "it states 'same'" in next(_verdict({**other, "verdict": "same", "beyond": ["losses"]}))
    assert "beyond" in next(_verdict({**other, "beyond": []}))
    assert list(_verdict({"status": "ok", "not_carried": "other tensors", "verdict": "same"})) != []
    assert list(_verdict({"status": "failed", "reason": "out of memory"})) == []
