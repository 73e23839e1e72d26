"""Factors are what a study declares, and cells are compared by what is known of their runs."""

from typing import Any

import pandas as pd
import pytest

from framewatt.frames.factor_words import factors_of, label, named, phrase, sorted_by
from framewatt.frames.frames import epochs_columns, runs_columns
from framewatt.frames.headline import PER_RUN, PER_SAMPLE, headline_of_cells, headline_of_runs
from framewatt.statistics.best_set import groups
from framewatt.statistics.cells import cells_columns, summarise_cells
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.hypothesis_tests import omnibus
from framewatt.study.factors import PlainCell, in_order, reading_order, shared

SETTINGS: dict[str, Any] = {
    "test": "mannwhitney",
    "correction": "holm",
    "alpha": 0.05,
    "confidence": 0.95,
    "equal_margin": 0.05,
    "noise": 0.05,
}


def runs(values: dict[str, list[float]]) -> pd.DataFrame:
    """Runs of one workload in several frameworks, of which only joules and seconds are known."""
    rows = [
        {
            "study": "logs",
            "cell": name,
            "workload": "model",
            "framework": name,
            "repetition": repetition,
            "block": repetition,
            "position": repetition,
            "status": "ok",
            "valid": True,
            "domain": "total",
            "estimated": False,
            "duration_s": energy / 50,
            "energy_gross_j": energy,
            "mean_power_w": 50.0,
        }
        for name, energies in values.items()
        for repetition, energy in enumerate(energies, 1)
    ]
    return pd.DataFrame(rows, columns=runs_columns(["workload", "framework"]))


@pytest.mark.parametrize("columns", [runs_columns, epochs_columns, cells_columns])
def test_a_frame_tells_its_factors(columns: Any) -> None:
    assert factors_of(pd.DataFrame(columns=columns(["environment", "architecture"]))) == ["environment", "architecture"]
    assert factors_of(pd.DataFrame(columns=columns([]))) == []


def test_factors_that_studies_have_in_common_come_first() -> None:
    assert in_order(["run_by", "dataset", "phase"]) == ["phase", "dataset", "run_by"]
    assert reading_order(["phase", "runtime", "dataset", "batch_size"]) == ["phase", "dataset", "batch_size", "runtime"]
    assert shared(["phase", "runtime", "provider", "dataset"], ["runtime", "provider"]) == ["phase", "dataset"]


def test_levels_read_as_people_say_them() -> None:
    levels = {"phase": "train", "runtime": "torch2onnx", "provider": "openvino", "batch_size": 16}
    assert label(levels, ["runtime", "provider"]) == "torch2onnx/openvino"
    assert label(levels | {"provider": "native"}, ["runtime", "provider"]) == "torch2onnx"
    assert phrase(levels, ["phase", "batch_size"]) == "train batch 16"


def test_titles_name_two_factors_and_no_more() -> None:
    assert named(["runtime", "batch_size"]) == "runtime and batch size"
    assert named(["runtime", "provider", "threads"]) == "configuration"


def test_levels_sort_as_people_look_them_up() -> None:
    frame = pd.DataFrame({"phase": ["infer", "train", "train"], "workload": ["resnet50", "resnet101", "resnet50"]})
    assert sorted_by(frame, ["phase", "workload"]).to_numpy().tolist() == [
        ["train", "resnet50"],
        ["train", "resnet101"],
        ["infer", "resnet50"],
    ]


def test_cells_that_agree_in_all_but_the_compared_factors_are_a_group() -> None:
    cells = [PlainCell(f"{w}-{f}", (("workload", w), ("framework", f))) for w in "xy" for f in "ab"]
    assert {group: [cell.id for cell in found] for group, found in groups(cells, ["framework"]).items()} == {
        "x": ["x-a", "x-b"],
        "y": ["y-a", "y-b"],
    }


def test_runs_of_unknown_samples_are_compared_by_the_run() -> None:
    frame = runs({"a": [100, 101, 102, 103], "b": [200, 201, 202, 203]})
    assert headline_of_runs(frame) == PER_RUN
    assert headline_of_runs(frame.assign(samples_processed=1)) == PER_SAMPLE
    assert headline_of_cells(summarise_cells(frame, SETTINGS)) == PER_RUN
    compared = compare_cells(frame, SETTINGS | {"test": "mannwhitney", "compare": ["framework"]})
    assert compared["quantity"].tolist() == ["energy_gross_j", "duration_s"]
    assert compared["ratio"].tolist() == pytest.approx([806 / 406] * 2, rel=1e-4)


@pytest.mark.parametrize(
    ("test", "tests"), [("mannwhitney", {"Kruskal-Wallis", "Dunn"}), ("wilcoxon", {"Friedman", "Nemenyi"})]
)
def test_more_than_two_groups_are_tested_as_their_pairing_allows(test: str, tests: set[str]) -> None:
    frame = runs({"a": [100, 101, 102, 103], "b": [200, 201, 202, 203], "c": [150, 151, 152, 153]})
    found = omnibus(frame, SETTINGS | {"test": test, "compare": ["framework"]})
    assert set(found["test"]) == tests
    assert (found.loc[found["cell_a"].isna(), "p"] < 0.05).all()
