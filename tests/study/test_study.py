"""A study file becomes cells and an order."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml
from framewatt.imports.file_study import schema_of_files
from framewatt.study.cell import Cell
from framewatt.study.study import MeasuredStudy
from framewatt.study.study_file import load_study, schema_of_measuring

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "config" / "schemas" / "study.schema.yaml"
KNOWN = {
    "dataset": ["digits", "cifar10"],
    "workload/torch": ["resnet50", "mobilenet"],
    "workload/tensorflow": ["resnet50"],
    "workload/mxnet": ["resnet50"],
}


def load_file(path: Path, device: str = "cpu") -> MeasuredStudy:
    return load_study(path, load_yaml(path), load_yaml(SCHEMA), KNOWN, device, 2)


def cross(**levels: object) -> dict:
    """A cross of one cell, torch inference at batch 1, with some factors replaced."""
    base = {
        "phase": ["infer"],
        "workload": ["resnet50"],
        "runtime": ["torch"],
        "dataset": ["digits"],
        "batch_size": [1],
    }
    return base | levels


@pytest.fixture
def load(tmp_path: Path):
    """Load a study made of the given keys on top of a minimal one."""

    def load_with(device: str = "cpu", **keys: object) -> MeasuredStudy:
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump({"study": "trial", "title": "A trial", "factors": [cross()], **keys}))
        return load_file(path, device)

    return load_with


def test_a_cross_holds_every_combination_of_its_levels(load) -> None:
    study = load(factors=[cross(runtime=["torch", "tf2onnx"], batch_size=[1, 64])])
    assert [cell.id for cell in study.cells] == [
        "infer-resnet50-digits-torch-b1",
        "infer-resnet50-digits-torch-b64",
        "infer-resnet50-digits-tf2onnx-cpu-b1",
        "infer-resnet50-digits-tf2onnx-cpu-b64",
    ]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (
            {"repetitions": 3_000_000},
            "repetitions: 3000000 is not allowed. Use a whole number at least 1 at most 100000",
        ),
        ({"repetitions": 60_000, "factors": [cross(batch_size=[1, 2])]}, "120000 runs are more than 100000. Remove"),
        ({"factors": [cross(batch_size=list(range(1, 20_000)))]}, "199990 runs are more than 100000. Remove"),
    ],
)
def test_more_runs_than_anyone_measures_are_refused_before_they_are_listed(load, keys: dict, reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        load(**keys)


def test_a_cell_named_by_two_crosses_is_one_cell(load) -> None:
    study = load(factors=[cross(), cross(batch_size=[1, 2])])
    assert [cell.batch_size for cell in study.cells] == [1, 2]


def test_the_default_provider_follows_the_device(load) -> None:
    factors = [cross(runtime=["torch", "torch2onnx"])]
    assert [cell.provider for cell in load(factors=factors).cells] == ["native", "cpu"]
    assert [cell.provider for cell in load(device="cuda", factors=factors).cells] == ["native", "cuda"]


def test_a_cell_knows_its_environment() -> None:
    cell = Cell("infer", "resnet50", "tf2onnx", "openvino", "digits", 1, "fp32")
    assert (cell.framework, cell.engine, cell.environment("cpu")) == (
        "tensorflow",
        "onnxruntime",
        "onnxruntime/openvino",
    )
    trained = Cell("train", "resnet50", "tensorflow", "native", "digits", 1, "fp32")
    assert [trained.environment(device) for device in ("cpu", "cuda")] == ["tensorflow/cpu", "tensorflow/cuda"]


def test_nvidias_providers_share_an_environment_and_need_a_gpu(load) -> None:
    factors = [cross(runtime=["torch2onnx"], provider=["cpu", "cuda", "tensorrt"])]
    assert [cell.environment("cuda") for cell in load(device="cuda", factors=factors).cells] == [
        "onnxruntime/cpu",
        "onnxruntime/cuda",
        "onnxruntime/cuda",
    ]
    assert [reason for _, reason in load(factors=factors).unsupported] == [
        "the CUDA execution provider needs device: cuda",
        "the TensorRT execution provider needs device: cuda",
    ]


def test_excluded_cells_are_listed_not_lost(load) -> None:
    study = load(factors=[cross(batch_size=[1, 2, 4])], exclude=[{"runtime": "torch", "batch_size": 2}])
    assert [cell.batch_size for cell in study.cells] == [1, 4]
    assert [cell.batch_size for cell in study.excluded] == [2]


def test_unsupported_cells_are_listed_with_their_reason(load) -> None:
    study = load(factors=[cross(phase=["train", "infer"], runtime=["torch2onnx"]), cross(provider=["openvino"])])
    assert [cell.phase for cell in study.cells] == ["infer"]
    assert [(cell.runtime, reason) for cell, reason in study.unsupported] == [
        ("torch2onnx", "ONNX Runtime runs exported models and does not train"),
        ("torch", "torch has no execution providers"),
    ]


def test_every_block_holds_every_cell_once_in_its_own_order(load) -> None:
    study = load(factors=[cross(batch_size=list(range(1, 11)))], repetitions=3, seed=7)
    runs = study.runs()
    assert [run.position for run in runs] == list(range(1, 31))
    blocks = [[run.cell.id for run in runs if run.repetition == block] for block in (1, 2, 3)]
    assert all(sorted(block) == sorted(cell.id for cell in study.cells) for block in blocks)
    assert blocks[0] != blocks[1] != blocks[2]


def test_the_order_follows_the_seed_and_nothing_else(load) -> None:
    factors = [cross(batch_size=list(range(1, 11)))]
    first, again, other = (load(factors=factors, seed=seed).runs() for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_another_repetition_leaves_earlier_blocks_as_they_were(load) -> None:
    factors = [cross(batch_size=list(range(1, 11)))]
    few, more = (load(factors=factors, repetitions=n).runs() for n in (2, 3))
    assert more[: len(few)] == few


def test_defaults_come_from_the_schema(load) -> None:
    settings = load().settings
    assert (settings["repetitions"], settings["window"]["minimum_s"]) == (10, 10)
    assert load(window={"minimum_s": 2}).settings["window"] == {
        **{"minimum_s": 2, "warm_up_batches": 10, "passes": 1, "ahead_gb": 8}
    }


@pytest.mark.parametrize("part", [schema_of_measuring, schema_of_files])
def test_every_key_of_the_schema_is_described_and_every_optional_one_has_a_default(part: Callable) -> None:
    def walk(schema: dict, path: str) -> None:
        for name, sub in schema.get("properties", {}).items():
            assert sub.get("description"), f"{path}{name} is not described"
            optional = name not in schema.get("required", [])
            assert "default" in sub or not optional or path.startswith("exclude"), f"{path}{name} has no default"
            walk(sub, f"{path}{name}.")
            walk(sub.get("items", {}), f"{path}{name}.")

    walk(part(load_yaml(SCHEMA)), "")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"factors": [cross(runtime=["jax"])]},
            "factors.0.runtime.0: 'jax' is not allowed. Use torch, tensorflow, mxnet, ",
        ),
        (
            {"factors": [cross(batch_size=[-1])]},
            "factors.0.batch_size.0: -1 is not allowed. Use a whole number at least 1",
        ),
        ({"factors": [cross(batch_size=[1.5])]}, "factors.0.batch_size.0: 1.5 is not allowed. Use a whole number"),
        ({"factors": [cross(dataset=[])]}, "factors.0.dataset: [] is not allowed. Use a list with at least 1 entry"),
        ({"factors": []}, "factors: [] is not allowed. Use a list with at least 1 entry"),
        (
            {"factors": [cross(workload=["vgg"])]},
            "'vgg' is unknown (in torch). Use mobilenet, resnet50",
        ),
        (
            {"factors": [cross(workload=["mobilenet"], runtime=["mxnet"])]},
            "unknown (in mxnet). Use resnet50.",
        ),
        ({"factors": [cross(dataset=["mnist"])]}, "factors.0.dataset: 'mnist' is unknown. Use cifar10, digits"),
        ({"repetitons": 3}, "repetitons is not a known key. Use one of: accept_unavailable, "),
        ({"repetitons": 3}, "(did you mean repetitions?)"),
        ({"repetitions": 0}, "repetitions: 0 is not allowed. Use a whole number at least 1"),
        ({"study": "My study"}, "study: 'My study' is not allowed. Use text matching"),
        ({"instruments": {"meters": ["wattmeter"]}}, "instruments.meters: ['wattmeter'] is not allowed. Use a list "),
        ({"instruments": {"meters": "auto"}}, "instruments.meters: 'auto' needs fallback: estimate, and it is none"),
        (
            {"repeated_operators": 3},
            "repeated_operators: 3 needs operators: true",
        ),
        ({"repeated_operators": True}, "repeated_operators: True is not allowed. Use a whole number"),
        ({"exclude": [{"runtime": "torch"}]}, "factors: no cell can run (1 excluded, 0 unsupported)"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_file_key_found_and_allowed(load, keys: dict, message: str) -> None:
    with pytest.raises(FramewattError) as caught:
        load(**keys)
    assert message in str(caught.value)
    assert "study.yaml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").touch()
    with pytest.raises(FramewattError, match=r"nowhere.yaml: no such file. .*other"):
        load_file(tmp_path / "nowhere.yaml")


def test_a_file_that_is_not_yaml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("study: [")
    with pytest.raises(FramewattError, match=r"broken.yaml: not YAML"):
        load_file(path)
