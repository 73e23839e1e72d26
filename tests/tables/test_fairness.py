"""The fairness sheet: facts of models side by side."""

from typing import Any

from framewatt.tables import fairness as tables
from framewatt.workloads.inspection import Convolution, structure_of

STRUCTURE = {
    "convolutions": 53,
    "biased_convolutions": 0,
    "strided_convolutions": {"1x1": 3, "3x3": 3},
    "strided_padding": ["1, 1"],
    "epsilons": [1e-05],
    "activations": ["ReLU"],
}
FACTS = {"parameters": 23_528_522, "flops": 5_000, "input_shape": [3, 32, 32], "input_layout": "NCHW"}


def model(framework: str, **change: Any) -> dict[str, Any]:
    """The record of the weights of a ResNet-50."""
    record = {"model": f"resnet50-digits-{framework}", "status": "ok", "reason": None, "weights": "trained"}
    return {**record, "weights_sha256": "ab", "workload": {**FACTS, "structure": STRUCTURE}, **change}


def test_a_row_a_model_and_framework() -> None:
    shown = tables.fairness([model("torch"), model("mxnet")], []).shown
    assert shown[["Model", "Framework"]].to_numpy().tolist() == [
        ["resnet50-digits", "mxnet"],
        ["resnet50-digits", "torch"],
    ]
    assert shown.loc[1, ["Parameters", "Layout", "Epsilon"]].tolist() == ["23528522", "NCHW", "1e-05"]
    assert shown.loc[1, "Strided convolutions"] == "3 of 1x1, 3 of 3x3"


def test_operations_are_those_of_the_export_where_it_runs() -> None:
    exports = [{"model": "resnet50-digits-torch", "flops": 4_000, "weights_among_inputs": 0}]
    data = tables.fairness([model("torch")], exports).data
    assert data.loc[0, ["flops", "flops_source", "weights_among_inputs"]].tolist() == [4_000, "export", 0]


def test_operations_that_nobody_counted_are_unknown_with_the_reason() -> None:
    uncounted = {**FACTS, "flops": None, "flops_reason": "MXNet has no counter"}
    table = tables.fairness([model("mxnet", workload=uncounted)], [])
    assert table.data["flops"].isna().all()
    assert table.shown.loc[0, ["Operations of a sample (GFLOP)", "Counted in"]].tolist() == [
        "n/a",
        "MXNet has no counter",
    ]


def test_weights_say_where_they_come_from() -> None:
    data = tables.fairness([model("torch", weights="seeded")], []).data
    assert data.loc[0, "weights_source"].startswith("random")


def test_a_model_that_failed_has_its_row_with_the_reason() -> None:
    failed = {"model": "resnet50-digits-mxnet", "status": "failed", "reason": "out of memory"}
    table = tables.fairness([failed], [])
    assert table.data.loc[0, ["framework", "reason"]].tolist() == ["mxnet", "out of memory"]
    assert table.shown.loc[0, "Parameters"] == "n/a"


def test_padding_counts_where_it_matters() -> None:
    wide, narrow, still = (
        Convolution((3, 3), (2, 2), "same", biased=True),
        Convolution((1, 1), (2, 2), "valid", biased=False),
        Convolution((3, 3), (1, 1), "1, 1", biased=False),
    )
    found = structure_of([wide, narrow, still], [1e-3, 1e-3], ["ReLU", "ReLU"])
    assert found["strided_convolutions"] == {"1x1": 1, "3x3": 1}
    assert found["strided_padding"] == ["same"]
    assert (found["convolutions"], found["biased_convolutions"]) == (3, 1)
    assert (found["epsilons"], found["activations"]) == ([1e-3], ["ReLU"])


def test_models_that_runs_alone_trained_are_on_the_sheet_too() -> None:
    def run(runtime: str, **change: Any) -> dict[str, Any]:
        cell = {"phase": "train", "workload": "resnet50", "dataset": "digits", "runtime": runtime}
        return {"cell": cell, "status": "ok", "workload": {**FACTS, "structure": STRUCTURE}, **change}

    records = [run("torch"), run("mxnet"), run("mxnet"), run("tensorflow", status="failed", workload=None)]
    (found,) = tables.models_of_runs(records, [model("torch")])
    assert found["model"] == "resnet50-digits-mxnet"
    data = tables.fairness([model("torch"), found], []).data
    assert data["framework"].tolist() == ["mxnet", "torch"]
    assert data.loc[0, "weights_source"] == "trained in measured runs alone, from random ones"
