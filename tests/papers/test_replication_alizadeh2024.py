"""A study beside the paper that it measures anew."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
from frames_factory import SAMPLES, cell, epochs_frame, runs_frame

from framewatt.base.validation import load_yaml
from framewatt.papers import PAPERS
from framewatt.papers.printed import read_claims
from framewatt.papers.replication import VERDICTS, Measured
from framewatt.papers.schemas import study_schema
from framewatt.statistics.comparisons import compare_cells
from framewatt.study.cell import Cell, Chosen

ROOT = Path(__file__).parents[2]
RESOURCES = ROOT / "resources" / "published"
SETTINGS = {
    "compare": ["runtime", "provider"],
    "test": "wilcoxon",
    "correction": "none",
    "alpha": 0.05,
    "confidence": 0.95,
    "equal_margin": 0.05,
    "noise": 0.05,
}
LEVELS = {"mxnet": 1.0, "torch": 1.2, "tensorflow": 3.0, "mx2onnx": 0.8, "torch2onnx": 0.7, "tf2onnx": 0.6}
"""Joules of a sample at batch size 1, by runtime; in the order that the paper found for vision models."""

NET = 0.9
"""Share of a synthetic run's joules that is not idle power."""


def vision_cells(batch_size: int = 1) -> dict[Cell, float]:
    return {
        cell(runtime, workload=workload, batch_size=batch_size): level
        for workload in ("resnet50", "mobilenetv2")
        for runtime, level in LEVELS.items()
    }


def measured(levels: Mapping[Cell, float], repetitions: int = 6, **options) -> Measured:
    """A study of some joules a sample, a percent apart from run to run."""
    energies = {one: [level * (1 + 0.01 * i) for i in range(repetitions)] for one, level in levels.items()}
    runs = runs_frame(energies, **options)
    return Measured(runs, epochs_frame([], 0), compare_cells(runs, SETTINGS), RESOURCES)


def claims(study: Measured) -> pd.DataFrame:
    return PAPERS["alizadeh2024"].table_makers()["claims"](study).data.set_index("id")


def test_every_paper_of_the_schema_has_its_tables() -> None:
    schema = study_schema(load_yaml(ROOT / "config" / "schemas" / "study.schema.yaml"))["properties"]["replicates"]
    assert schema["anyOf"][0]["enum"] == ["alizadeh2024", "georgiou2022", "itu2023"]
    for paper in PAPERS.values():
        assert tuple(paper.table_makers()) == paper.replicated


def test_every_claim_of_abstract_and_conclusions_has_a_verdict() -> None:
    found = claims(measured(vision_cells()))
    asked = [c.id for c in read_claims(RESOURCES / "alizadeh2024_claims.csv") if c.where.startswith(("Abstract", "5 "))]
    assert set(asked) <= set(found.index)
    assert set(found["verdict"]) <= set(VERDICTS)


def test_what_holds_in_every_pair_has_the_same_direction_and_is_as_sure_as_its_least_sure_pair() -> None:
    found = claims(measured(vision_cells())).loc["abstract-mxnet-vision-energy"]
    assert (found["here"], found["out_of"], found["verdict"]) == (4, 4, "same direction")
    # Six pairs of runs, all in one direction, two-sided.
    assert found["p"] == pytest.approx(2 / 2**6)


def test_a_cell_with_an_option_at_another_level_has_no_place_in_the_papers_tables() -> None:
    plain, compiled = (Chosen("compile", level, level == "plain") for level in ("plain", "compiled"))
    own = {cell(one.runtime, workload=one.workload, options=(plain,)): level for one, level in vision_cells().items()}
    beside = {cell("torch", workload="resnet50", options=(compiled,)): 0.01}
    for name, make in PAPERS["alizadeh2024"].table_makers().items():
        pd.testing.assert_frame_equal(make(measured(own | beside)).data, make(measured(own)).data, obj=name)


def test_what_holds_in_no_pair_is_the_opposite_and_in_some_is_in_part() -> None:
    dear = {one: 5.0 if one.runtime == "mxnet" else level for one, level in vision_cells().items()}
    assert claims(measured(dear)).loc["abstract-mxnet-vision-energy", "verdict"] == "opposite"
    mixed = {one: 2.0 if one.runtime == "mxnet" else level for one, level in vision_cells().items()}
    found = claims(measured(mixed)).loc["abstract-mxnet-vision-energy"]
    assert (found["here"], found["verdict"]) == (2, "in part")
    assert "not so: MobileNet/1/mxnet against MobileNet/1/torch" in found["why"]


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("abstract-bert-torch", "not measured here: BERT/1/torch"),
        ("abstract-tensorrt-time", "not measured here: TensorRT"),
        ("results-cpu-share", "not measured here: GPU energy"),
        ("results-rho-gpu", "not measured here: GPU utilisation"),
    ],
)
def test_what_was_not_measured_is_not_decidable(claim: str, why: str) -> None:
    found = claims(measured(vision_cells())).loc[claim]
    assert (found["verdict"], found["why"]) == ("not decidable here", why)
    assert pd.isna(found["here"])


@pytest.mark.parametrize("runtimes", [("torch", "tensorflow"), ("torch2onnx",)])
def test_a_study_without_some_of_the_papers_cells_still_has_a_verdict_for_every_claim(runtimes: tuple) -> None:
    cells = {one: level for one, level in vision_cells().items() if one.runtime in runtimes}
    study = measured({one: level for one, level in cells.items() if one.workload == "mobilenetv2"}, repetitions=2)
    assert len(claims(study)) == 19
    assert all(len(make(study).data.columns) for make in PAPERS["alizadeh2024"].table_makers().values())


def test_a_study_of_which_no_run_counts_has_no_verdict_but_undecidable() -> None:
    study = measured(vision_cells(), repetitions=2)
    none = study.runs.assign(valid=False)
    found = claims(Measured(none, study.epochs, study.comparisons, RESOURCES))
    assert set(found["verdict"]) == {"not decidable here"}


def test_the_largest_batch_stands_for_the_papers_and_that_is_said() -> None:
    study = measured(vision_cells() | {one: level / 2 for one, level in vision_cells(16).items()})
    found = claims(study).loc["abstract-tf-batch64"]
    assert (found["here"], found["verdict"]) == (4, "same direction")
    assert "batch size 16 stands for 64 in ResNet" in found["why"]


def test_estimated_energy_is_said_of_every_claim_about_energy() -> None:
    found = claims(measured(vision_cells(), estimated=True))
    assert "energy is estimated" in found.loc["abstract-mxnet-vision-energy", "why"]
    assert "energy is estimated" not in found.loc["abstract-mxnet-vision-time", "why"]


def test_the_cpus_share_of_the_gpus_energy_is_held_beside_the_papers() -> None:
    study = measured(vision_cells(), domains=("cpu:package-0", "gpu:0"))
    found = claims(study).loc["results-cpu-share"]
    assert (found["published"], found["verdict"]) == ("~51.71", "opposite")
    assert found["here"] == pytest.approx(100)


def test_table_1_has_net_energy_of_the_papers_samples_and_its_ratio_to_the_printed_one() -> None:
    table = PAPERS["alizadeh2024"].table_makers()["table1"](measured(vision_cells(), repetitions=1))
    row = table.data.set_index(["model", "batch_size", "runtime"]).loc[("ResNet", "1", "mxnet")]
    assert row["total_energy_j"] == pytest.approx(NET * 10_000)
    assert row["total_energy_j_ratio"] == pytest.approx(NET * 10_000 / 3433.96)
    assert pd.isna(row["gpu_energy_j"])
    assert len(table.data) == len(vision_cells())
    assert SAMPLES != 10_000


def test_a_cell_without_a_run_that_counts_keeps_its_row_and_says_why() -> None:
    one = cell("torch", workload="resnet50")
    runs = runs_frame({one: [None], cell("mxnet", workload="resnet50"): [1.0]})
    table = PAPERS["alizadeh2024"].table_makers()["table1"](
        Measured(runs, epochs_frame([], 0), compare_cells(runs, SETTINGS), RESOURCES)
    )
    shown = table.shown.set_index("Runtime").loc["torch"]
    assert (shown["Total energy (J)"], shown["Why empty"]) == ("n/a", "failed: took longer than timeout_s")


def test_a_cell_that_drew_no_more_than_at_rest_has_no_energy_and_claims_about_it_are_open() -> None:
    study = measured(vision_cells())
    idle = study.runs["cell"].eq(cell("torch", workload="resnet50").id)
    study.runs.loc[idle, "energy_net_j"] = -1.0
    row = (
        PAPERS["alizadeh2024"]
        .table_makers()["table1"](study)
        .shown.set_index(["Model", "Runtime"])
        .loc[("ResNet", "torch")]
    )
    assert row["Total energy (J)"] == "n/a"
    assert row["Why empty"].endswith("no more power than at rest")
    found = claims(study)
    assert found.loc["abstract-mxnet-vision-energy", "why"] == "total_energy_j of ResNet/1/torch is unknown"
    assert found.loc["abstract-mxnet-vision-time", "verdict"] == "same direction"


def test_table_2_holds_the_accuracy_of_originals_and_exports_beside_the_papers() -> None:
    cells = {cell("torch", workload="resnet50"): 1.0, cell("torch2onnx", workload="resnet50"): 1.0}
    accuracy = {one: [0.8] * 2 for one in cells}
    data = PAPERS["alizadeh2024"].table_makers()["table2"](measured(cells, repetitions=2, accuracy=accuracy)).data
    row = data.set_index(["model", "framework"]).loc[("ResNet", "torch")]
    assert (row["accuracy_percent"], row["exported_percent"]) == (pytest.approx(80), pytest.approx(80))
    assert row["difference_points"] == pytest.approx(80 - 80.17)


def test_table_3_holds_the_exports_by_execution_provider() -> None:
    exports = [cell("torch2onnx", provider=provider) for provider in ("cpu", "openvino")]
    data = PAPERS["alizadeh2024"].table_makers()["table3"](measured(dict.fromkeys(exports, 1.0))).data
    assert data["execution_provider"].tolist() == ["CPU", "OpenVINO"]
    assert data["total_energy_j_ratio"].isna().all()
