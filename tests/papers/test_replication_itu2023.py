"""The claims of itu2023, held against own runs."""

from pathlib import Path

import pandas as pd
import pytest
from frames_factory import training_study

from framewatt.papers import PAPERS
from framewatt.papers.replication import VERDICTS, Measured
from framewatt.statistics.comparisons import COMPARISONS_COLUMNS, compare_cells

RESOURCES = Path(__file__).parents[2] / "resources" / "published"
SETTINGS = {
    **{"compare": ["runtime", "provider"], "test": "wilcoxon", "correction": "none", "alpha": 0.05},
    **{"confidence": 0.95, "equal_margin": 0.05, "noise": 0.05},
}


def measured(recounted: dict | None = None, **study) -> Measured:
    """A study of CIFAR-10 in which larger batches take less, deeper networks more."""
    epochs, runs = training_study(dataset="cifar10-itu2023-tiny", **study)
    return Measured(epochs=epochs, runs=runs, comparisons=NOTHING, resources=RESOURCES, recounted=recounted or {})


NOTHING = pd.DataFrame(columns=COMPARISONS_COLUMNS)


def claims(study: Measured) -> pd.DataFrame:
    return PAPERS["itu2023"].table_makers()["claims"](study).data.set_index("id")


def test_what_the_report_found_is_found_where_it_is_so() -> None:
    found = claims(measured(level_j={"tensorflow": 2.0}))
    for claim in ("results-batch-size", "results-layers", "results-tensorflow-energy", "conclusions-tensorflow"):
        assert (found.loc[claim, "verdict"], found.loc[claim, "here"]) == ("same direction", 100), claim


def test_what_is_otherwise_here_is_opposite() -> None:
    found = claims(measured(level_j={"torch": 2.0}))
    assert found.loc["summary-energy", "verdict"] == "opposite"
    assert found.loc["summary-energy", "why"].startswith("0 of 9; not so: CIFAR10")


def test_mxnet_has_no_part_in_the_claims_of_a_report_without_it() -> None:
    two, three = (
        claims(measured(runtimes=names)) for names in (("torch", "tensorflow"), ("torch", "tensorflow", "mxnet"))
    )
    pd.testing.assert_frame_equal(two, three)


def test_what_was_not_measured_is_not_decidable() -> None:
    found = claims(measured())
    utilisation, cifar100 = found.loc["results-pytorch-utilisation"], found.loc["results-cifar100"]
    assert (utilisation["verdict"], utilisation["why"]) == (
        "not decidable here",
        "not measured here: no GPU was metered",
    )
    assert cifar100["why"] == "not measured here: CIFAR10 and CIFAR100 are not both there"
    assert claims(measured(gpu=True)).loc["results-pytorch-utilisation", "here"] == 100
    assert set(found["verdict"]) <= set(VERDICTS)


def test_a_study_without_the_reports_frameworks_decides_nothing() -> None:
    found = claims(measured(runtimes=("mxnet",)))
    assert set(found["verdict"]) == {"not decidable here"}
    assert set(found["why"]) == {"not measured here: no training by PyTorch or TensorFlow counts"}


def test_an_estimate_decides_nothing_about_power_and_says_so_of_energy() -> None:
    study = measured()
    estimated = Measured(study.runs, study.epochs.assign(estimated=True), study.comparisons, RESOURCES)
    found = claims(estimated)
    for claim in ("results-tensorflow-power", "results-first-epoch"):
        assert found.loc[claim, "verdict"] == "not decidable here"
        assert found.loc[claim, "why"].endswith("power is estimated from how busy the processors were")
    assert "energy is estimated from processor time" in found.loc["results-layers", "why"]


def test_what_stands_for_the_whole_data_set_is_said() -> None:
    assert "cifar10-itu2023-tiny stands for CIFAR10" in claims(measured()).loc["results-batch-size", "why"]


def test_the_p_of_a_claim_is_that_of_its_least_sure_comparison() -> None:
    study = measured(workloads=("resnet50",), batches=(32,), level_j={"tensorflow": 2.0}, repetitions=6, scatter=0.01)
    runs = study.runs.assign(
        energy_per_sample_j=study.runs["runtime"].map({"torch": 1.0, "tensorflow": 2.0})
        * (1 + study.runs["repetition"] / 99)
    )
    compared = compare_cells(runs, SETTINGS)
    found = claims(Measured(study.runs, study.epochs, compared, RESOURCES))
    assert found.loc["results-tensorflow-energy", "p"] == pytest.approx(2 / 2**6)
    assert pd.isna(found.loc["results-layers", "p"])


def test_the_authors_own_files_stand_beside_where_they_are_given() -> None:
    table = PAPERS["itu2023"].table_makers()["three_ways"](measured({"results-layers": 93.75}))
    row = table.data[table.data["recounted"].notna()].iloc[0]
    assert (row["claim"][:11], row["recounted"], row["here"]) == ("More layers", 93.75, 100)
    without = PAPERS["itu2023"].table_makers()["three_ways"](measured())
    assert without.caption.endswith("the raw results are not given (--config published_itu2023=<folder>)")
