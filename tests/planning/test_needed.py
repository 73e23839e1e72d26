"""What the steps of a cell import, known without importing it, and what an interpreter lacks of it."""

import sys
from pathlib import Path

import pytest
from study_factory import hashes_of, loaded

from framewatt.base.errors import FramewattError
from framewatt.planning.needed import Absent, needed_by
from framewatt.planning.plan import plan_of
from framewatt.study.cell import Cell

PROVIDER = "onnxruntime:CUDAExecutionProvider"


@pytest.mark.parametrize(
    ("workload", "runtime", "provider", "modules"),
    [
        ("resnet50", "torch", "native", {"numpy", "torch", "torchvision"}),
        ("bert_base", "torch", "native", {"numpy", "torch", "torchvision", "transformers"}),
        ("resnet50", "tensorflow", "native", {"keras", "numpy", "tensorflow"}),
        ("bert_base", "mxnet", "native", {"gluonnlp", "mxnet", "numpy", "safetensors"}),
        (
            *("resnet50", "torch2onnx", "cuda"),
            {"numpy", "onnx", "onnxruntime", "onnxscript", "torch", "torchvision", PROVIDER},
        ),
    ],
)
def test_what_a_cell_imports_is_read_from_its_code(
    workload: str, runtime: str, provider: str, modules: set[str]
) -> None:
    assert needed_by(Cell("infer", workload, runtime, provider, "digits", 1, "fp32")) == modules


def test_an_interpreter_is_asked_for_its_modules_and_for_its_providers(tmp_path: Path) -> None:
    (tmp_path / "torch.py").touch()
    (tmp_path / "onnx.py").touch()
    (tmp_path / "onnxruntime.py").write_text("get_available_providers = lambda: ['CPUExecutionProvider']")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    exported = Cell("infer", "resnet50", "torch2onnx", "cuda", "digits", 1, "fp32")
    absent = Absent.from_interpreter(str(python), [exported])
    assert absent.names == ("onnxruntime:CUDAExecutionProvider", "onnxscript", "torchvision")
    assert absent.reason(exported) == "the interpreter has no onnxscript, torchvision"
    assert Absent((PROVIDER,)).reason(exported) == "the interpreter has no CUDAExecutionProvider"
    assert Absent((PROVIDER,)).reason(Cell("infer", "resnet50", "torch", "native", "digits", 1, "fp32")) is None


@pytest.mark.parametrize(
    ("lines", "reason"),
    [(None, "is not a program on this machine"), ("#!/bin/sh\necho broken >&2\nexit 3\n", r"does not run \(broken\)")],
)
def test_an_interpreter_that_is_none_is_named_in_one_line(tmp_path: Path, lines: str | None, reason: str) -> None:
    python = tmp_path / "python"
    if lines:
        python.write_text(lines)
        python.chmod(0o755)
    with pytest.raises(FramewattError, match=f"host_python: .*{reason}"):
        Absent.from_interpreter(str(python), [Cell("infer", "resnet50", "torch", "native", "digits", 1, "fp32")])


def test_cells_that_the_interpreter_cannot_run_are_listed_with_the_reason_and_not_planned(tmp_path: Path) -> None:
    cross = {"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [1]}
    content = {"study": "s", "title": "S", "factors": [{**cross, "runtime": ["torch", "tensorflow", "tf2onnx"]}]}
    study = loaded(tmp_path, content, lacks=Absent(("keras", "tensorflow")))
    plan = plan_of(hashes_of(study, "host"))
    assert [cell["id"] for cell in plan["cells"]] == ["infer-resnet50-digits-torch-b1"]
    assert plan["absent"] == ["keras", "tensorflow"]
    without = {entry["cell"]: entry["reason"] for entry in plan["unsupported"]}
    assert without == dict.fromkeys(
        ["infer-resnet50-digits-tensorflow-b1", "infer-resnet50-digits-tf2onnx-cpu-b1"],
        "the interpreter has no keras, tensorflow",
    )
    with pytest.raises(FramewattError, match=r"found no cell that can run .*the interpreter has no torch\)"):
        loaded(tmp_path, content, lacks=Absent(("keras", "torch")))
