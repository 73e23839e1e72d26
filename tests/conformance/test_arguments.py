"""Arguments of operators, written down in a program and made again without it: PyTorch's, and nodes of ONNX Runtime."""

import json
from pathlib import Path
from typing import Any

import pytest
from stages import run_program


def found_by(script: str, environment: str, *words: Any) -> list[dict[str, Any]]:
    """What a script beside this file prints in an environment."""
    found: list[dict[str, Any]] = json.loads(run_program(environment, Path(__file__).with_name(script), *words))
    return found


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return found_by("arguments_of_torch.py", "torch", tmp_path_factory.mktemp("captured"))


def one(calls: list[dict[str, Any]], name: str, shapes: str | None = None) -> dict[str, Any]:
    (found,) = (call for call in calls if call["name"] == f"aten::{name}" and shapes in (None, call["shapes"]))
    return found


def test_shapes_strides_and_types_are_those_of_the_program(calls: list[dict[str, Any]]) -> None:
    found = one(calls, "convolution")
    assert found["shapes"] == "[[2, 8, 6, 6], [4, 4, 3, 3]]"
    image, weight, bias, *rest = found["arguments"]
    assert (image["shape"], image["strides"]) == ([2, 8, 6, 6], [288, 1, 48, 8])
    assert (weight["shape"], weight["dtype"]) == ([4, 4, 3, 3], "torch.float32")
    assert bias is None
    assert rest == [[2, 2], [1, 1], [1, 1], False, [0, 0], 2]
    expanded, wide = one(calls, "add")["arguments"]
    assert expanded["strides"] == [1, 0]
    assert wide["dtype"] == "torch.float64"


def test_the_backward_pass_is_seen_too_with_lists_and_flags(calls: list[dict[str, Any]]) -> None:
    backward = one(calls, "convolution_backward")
    assert backward["reason"] is None
    assert backward["arguments"][0]["strides"] == [0, 0, 0, 0]
    assert backward["arguments"][-1] == [True, True, False]


def test_steps_are_counted_apart(calls: list[dict[str, Any]]) -> None:
    assert {tuple(call["calls"]) for call in calls} == {(1, 1)}


def test_numbers_are_drawn_and_integers_are_those_of_the_program(calls: list[dict[str, Any]]) -> None:
    table, places = one(calls, "embedding")["arguments"]
    assert places["values"] == [[4, 0], [1, 1]]
    assert 0.5 < table["spread"] < 1.5
    both = one(calls, "cat")["arguments"][0]
    assert [part["shape"] for part in both] == [[5, 3], [2, 3]]
    mean, variance = one(calls, "native_batch_norm")["arguments"][3:5]
    assert mean["least"] < 0 < variance["least"]
    assert one(calls, "clamp")["arguments"][1:] == ["-inf", "1.0"]


def test_what_would_be_other_work_each_time_is_refused_with_its_reason(calls: list[dict[str, Any]]) -> None:
    assert one(calls, "mul_")["reason"] == "it changes its argument self, so that its numbers would grow or vanish"
    assert one(calls, "copy_", "[[3], [3]]")["reason"] is None
    assert "is a tensor that is not strided (torch.sparse_coo)" in one(calls, "_sparse_addmm")["reason"]


@pytest.mark.parametrize("optimization", ["all", "disabled"])
def test_a_node_of_the_graph_that_ran_runs_alone_with_its_weights(optimization: str, tmp_path: Path) -> None:
    nodes = found_by("nodes_of_onnx.py", "onnxruntime/cpu", tmp_path, optimization)
    # The last of three steps was smaller.
    whole = [node for node in nodes if node["calls"][0]]
    assert all(node["calls"][1] == node["calls"][0] and not node["calls"][2] for node in whole)
    assert 2 * len(whole) == len(nodes)
    convolutions = [node for node in whole if node["name"] == "Conv"]
    assert sum(node["calls"][0] for node in convolutions) == 4
    # Alike in shapes, and not in stride; fused ones differ by what they are fused with.
    assert convolutions[-1]["outputs"][0][2:] == [4, 4]
    assert {tuple(node["outputs"][0][2:]) for node in convolutions[:-1]} == {(8, 8)}
    assert ("Relu" in {node["name"] for node in whole}) is (optimization == "disabled")
    (product,) = (node for node in whole if node["name"] == "Gemm")
    assert product["outputs"] == [[4, 5]]
    failed = {node["name"]: node["reason"] for node in nodes if node["reason"]}
    assert failed == {"Gather": "input best is int64 that another node computes"}
    assert all(node["finite"] for node in nodes if not node["reason"])
