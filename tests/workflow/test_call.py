"""What a Snakemake call asks for."""

from types import SimpleNamespace
from typing import Any

from framewatt.workflow.snakemake_api import Call


def settings(**changed: Any) -> SimpleNamespace:
    """Snakemake's DAGSettings, as it makes them for a call without options."""
    usual = {"targets": set(), "forcerun": set(), "forcetargets": False, "forceall": False, "allowed_rules": None}
    return SimpleNamespace(**{**usual, **changed})


def test_a_call_without_targets_is_about_the_study_and_forces_nothing() -> None:
    asked = Call.from_settings(settings())
    assert asked.about("demo")
    assert asked.makes(("measure",))
    assert not asked.again("demo")("measure", "measure/a/1/run.json")


def test_what_is_forced_is_known_by_its_rule_and_by_its_path() -> None:
    again = Call.from_settings(settings(forcerun={"calibrate", "./results/demo/train/resnet50"})).again("demo")
    assert again("calibrate", "calibrate/idle.json")
    assert again("train", "train/resnet50")
    assert not again("train", "train/resnet101")
    assert not Call.from_settings(settings(forcerun={"results/other/train/resnet50"})).again("demo")(
        "train", "train/resnet50"
    )


def test_targets_are_made_again_only_where_these_are_forced() -> None:
    target = "results/demo/calibrate/idle.json"
    assert not Call.from_settings(settings(targets={target})).again("demo")("calibrate", "calibrate/idle.json")
    assert Call.from_settings(settings(targets={target}, forcetargets=True)).again("demo")(
        "calibrate", "calibrate/idle.json"
    )
    assert Call.from_settings(settings(forceall=True)).again("demo")("train", "train/resnet50")


def test_another_studys_figure_is_not_about_the_study() -> None:
    assert not Call.from_settings(settings(targets={"results/demo2/figures/epochs.svg", "published"})).about("demo")
    assert Call.from_settings(settings(targets={"results/demo/figures/epochs.svg", "published"})).about("demo")
    assert Call.from_settings(settings(targets={"report"})).about("demo")


def test_a_package_is_rebuilt_without_rules_that_measure() -> None:
    assert not Call.from_settings(settings(allowed_rules={"aggregate", "tables"})).makes(("measure", "train"))


def test_where_snakemake_only_lists_its_rules_nothing_is_asked_for() -> None:
    assert Call.from_settings(None) == Call()
