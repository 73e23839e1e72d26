"""Comparing a model framework by framework, as a study asks for it: what is made, left, and made again."""

import json
from pathlib import Path

import pytest
from checkout import Checkout

MODEL = "neumf_small-synthetic-ratings-mxnet"
SHEET = f"results/pairs/parity/{MODEL}/sheet"
REFERENCE = "results/pairs/parity/neumf_small-synthetic-ratings-torch"
STUDY = {
    "factors": [
        {
            **{"phase": ["infer"], "workload": ["neumf_small"], "dataset": ["synthetic-ratings"]},
            **{"runtime": ["torch", "mxnet"], "batch_size": [101]},
        }
    ],
    **{"repetitions": 1, "parity": True, "weights": "seeded", "instruments": {"meters": ["estimate"]}},
    "training": {"epochs": 1, "optimizer": "adam"},
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    for name in ("torch", "mxnet/cpu"):
        made.share_environment(name)
    made.write_study("pairs", **STUDY)
    answer = made.snakemake(SHEET, config="study=pairs")
    assert answer.code == 0, answer.text
    return made


def planned(checkout: Checkout, change: dict) -> str:
    """What would be made for the study, or a changed one."""
    checkout.write_study("pairs", **(STUDY | change))
    return checkout.snakemake("-n", SHEET, config="study=pairs").text


def test_the_models_are_the_same_and_weights_do_not_stay(checkout: Checkout) -> None:
    sheet = json.loads((checkout.root / SHEET / "parity.json").read_text())
    assert (sheet["status"], sheet["verdict"], sheet["beyond"]) == ("ok", "same", [])
    assert sheet["parameters"] == sheet["reference"]["parameters"] == 30_761
    assert not list(Path(checkout.root, REFERENCE).glob("*"))


def test_a_comparison_is_made_again_where_training_changes_and_not_otherwise(checkout: Checkout) -> None:
    assert "Nothing to be done" in planned(checkout, {"repetitions": 2})
    again = planned(checkout, {"training": {"epochs": 1, "optimizer": "sgd"}})
    assert "Nothing to be done" not in again
    assert {"carry", "parity"} <= set(again.replace(",", " ").split())
