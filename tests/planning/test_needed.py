"""What the steps of a cell import, known without importing it, and what an interpreter lacks of it."""

import sys
from collections.abc import Mapping
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
        ("mask_rcnn", "torch", "native", {"numpy", "pycocotools", "torch", "torchvision"}),
        ("gnmt", "tensorflow", "native", {"keras", "numpy", "sacrebleu", "tensorflow"}),
        ("digit_tagger", "torch", "native", {"numpy", "torch", "torchvision"}),
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


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter with a PyTorch, an ONNX and an ONNX Runtime of a few lines, and without torchvision."""
    (tmp_path / "torch.py").write_text("def ones(count, device): raise RuntimeError('driver 470 is too old')")
    (tmp_path / "onnx.py").write_text(
        "class Any: __getattr__ = __call__ = lambda *_, **__: Any()\nTensorProto = helper = Any()"
    )
    (tmp_path / "onnxruntime.py").write_text(ONNX_RUNTIME)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


ONNX_RUNTIME = """
import sys
class InferenceSession:
    def __init__(self, model, providers):
        missing = "libcublasLt.so.13: cannot open shared object file: No such file"
        print(f"[E] Failed to load the provider: {missing}\\n[W] Falling back", file=sys.stderr)
    def get_providers(self):
        return ["CPUExecutionProvider"]
    def run(self, *_):
        pass
"""
"""What the real one does where CUDA's libraries are missing."""


def test_an_interpreter_is_asked_for_its_modules_and_whether_they_work(python: Path, tmp_path: Path) -> None:
    exported, own = (
        Cell("infer", "resnet50", *runtime, "digits", 1, "fp32")
        for runtime in (("torch2onnx", "cuda"), ("torch", "native"))
    )
    library = "libcublasLt.so.13: cannot open shared object file: No such file"
    missing = dict.fromkeys(("onnxscript", "torchvision"), "is not installed")
    absent = Absent.from_interpreter(str(python), [exported, own], "cuda", tmp_path / "computed.json")
    old = {"torch": "does not work: RuntimeError: driver 470 is too old"}
    assert absent.why == {**missing, PROVIDER: f"does not work: {library}", **old}
    assert Absent({PROVIDER: "does not work: x"}).reason(exported) == "CUDAExecutionProvider does not work: x"
    assert Absent({PROVIDER: "does not work: x"}).reason(own) is None
    assert absent.reason(own) == f"torch {old['torch']}; torchvision is not installed"


def test_where_there_is_no_gpu_it_is_enough_that_modules_are_there(python: Path, tmp_path: Path) -> None:
    own = Cell("infer", "resnet50", "torch", "native", "digits", 1, "fp32")
    exported = Cell("infer", "resnet50", "torch2onnx", "cuda", "digits", 1, "fp32")
    absent = Absent.from_interpreter(str(python), [own, exported], "cpu", tmp_path / "computed.json")
    assert absent.why == dict.fromkeys(("onnxscript", "torchvision"), "is not installed")


def test_what_computed_is_not_tried_again_until_a_package_changes(python: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    (tmp_path / "torchvision.py").touch()
    (tmp_path / "torch.py").write_text(
        f"def ones(count, device): open({str(calls)!r}, 'a').write('x'); return Number()\n{NUMBER}"
    )
    cell = Cell("infer", "resnet50", "torch", "native", "digits", 1, "fp32")

    def absent() -> Mapping[str, str]:
        return Absent.from_interpreter(str(python), [cell], "cuda", tmp_path / "computed.json").why

    assert [absent(), absent()] == [{}, {}]
    assert calls.read_text() == "x"
    package = tmp_path / "other-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    assert absent() == {}
    assert calls.read_text() == "xx"


NUMBER = """
class Number:
    def __add__(self, other): return self
    def item(self): return 2
"""


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
        Absent.from_interpreter(
            str(python), [Cell("infer", "resnet50", "torch", "native", "digits", 1, "fp32")], "cpu", python
        )


def test_cells_that_the_interpreter_cannot_run_are_listed_with_the_reason_and_not_planned(tmp_path: Path) -> None:
    cross = {"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [1]}
    content = {"study": "s", "title": "S", "factors": [{**cross, "runtime": ["torch", "tensorflow", "tf2onnx"]}]}
    study = loaded(tmp_path, content, lacks=Absent(dict.fromkeys(("keras", "tensorflow"), "is gone")))
    plan = plan_of(hashes_of(study, "host"))
    assert [cell["id"] for cell in plan["cells"]] == ["infer-resnet50-digits-torch-b1"]
    assert plan["absent"] == {"keras": "is gone", "tensorflow": "is gone"}
    without = {entry["cell"]: entry["reason"] for entry in plan["unsupported"]}
    assert without == dict.fromkeys(
        ["infer-resnet50-digits-tensorflow-b1", "infer-resnet50-digits-tf2onnx-cpu-b1"],
        "keras is gone; tensorflow is gone",
    )
    with pytest.raises(FramewattError, match=r"no cell can run .*torch is gone\)"):
        loaded(tmp_path, content, lacks=Absent(dict.fromkeys(("keras", "torch"), "is gone")))
