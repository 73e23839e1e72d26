"""Options do what they say in every framework that has them; the facts tell them, and scores stay what they were."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT, python_of
from stages import end_of

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.runs.conditions import ignored
from framewatt.study.cell import environment_of

IMAGES = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "train_samples": 16, "test_samples": 6, "seed": 0}
TEXTS = {**IMAGES, "shape": [16], "vocabulary": 30522}
SMALL = """
import torch


def small():
    layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(8 * 30 * 30, 10))
"""
"""A network of one's own, since a compiler in C++ takes a minute over one of a zoo."""


OF_TWO_THREADS = """
import torch


def small():
    torch.set_num_threads(2)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
"""
"""A network whose maker changes the number of threads."""

OF_A_FILE = """
import keras


def small():
    return keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, dtype="float32")])
"""
"""A network with a number format of its own, as one that was loaded from a file has."""

LISTED = """
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

rng = np.random.default_rng(0)
weights = {"w": rng.normal(size=(10, 3, 32, 32)), "b": rng.normal(size=10)}
stored = [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()]
inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 32, 32])]
inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, values.shape) for name, values in weights.items()]
nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"]), helper.make_node("Flatten", ["c"], ["y"])]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10])]
graph = helper.make_graph(nodes, "listed", inputs, outputs, stored)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
checker.check_model(model)
save(model, Path(sys.argv[1]) / "model.onnx")
"""
"""Writes a graph that lists its weights among its inputs, as MXNet's exporter does."""


@pytest.fixture
def look(tmp_path: Path):
    """What a workload does with options and without, see inspect_options.py; a failure is the text of its error."""

    def run(
        engine: str,
        phase: str = "infer",
        model: str = "mobilenetv2",
        provider: str = "native",
        *,
        obeys: bool = True,
        factory: str = SMALL,
        **options: Any,
    ) -> Any:
        save_arrays(tmp_path / "data.npz", make_arrays(TEXTS if model.startswith("bert") else IMAGES))
        (tmp_path / "weights").mkdir(exist_ok=True)
        job = {
            **{"engine": engine, "phase": phase, "model": model, "device": "cpu", "provider": provider, "threads": 1},
            **{"seed": 0, "batch_size": 4, "data": str(tmp_path / "data.npz"), "artefact": str(tmp_path / "weights")},
            **{"training": {"epochs": 1, "learning_rate": 0.001, "momentum": 0.9}, "options": options},
        }
        if model == "small":
            (tmp_path / "nets.py").write_text(factory)
            job["own"] = {"factory": "nets:small", "folder": str(tmp_path)}
        (tmp_path / "job.json").write_text(json.dumps(job))
        script = ROOT / "tests/conformance/inspect_options.py"
        # PyTorch asks which compiler there is when it is imported.
        ended = end_of(
            environment_of(engine, "cpu", provider), script, tmp_path / "job.json", anew="compile" in options
        )
        if ended.code != 0:
            return ended.err
        found = json.loads(ended.out.splitlines()[-1])
        if obeys:
            for name, level in options.items():
                assert found["chosen"]["options"][name] == {"requested": level, "in_force": level}
            assert [line for which in ("plain", "chosen") for line in ignored(found[which]["options"])] == []
        return found

    return run


def differences(found: dict[str, Any], name: str) -> float:
    """The largest difference that an option makes, as a share of the largest value without it."""
    assert isinstance(found, dict), found
    plain, chosen = (np.array(found[which][name]) for which in ("plain", "chosen"))
    return float(np.abs(chosen - plain).max() / np.abs(plain).max())


def in_force(found: dict[str, Any], name: str) -> tuple[Any, Any]:
    """What the framework tells of an option, without it and with it."""
    assert isinstance(found, dict), found
    return found["plain"]["in_force"][name], found["chosen"]["in_force"][name]


@pytest.mark.parametrize(
    ("engine", "model", "option", "level", "fact", "told"),
    [
        ("torch", "mobilenetv2", "layout", "channels_last", "layout", ("default", "channels_last")),
        ("torch", "small", "compile", "compiled", "compiled_graphs", (0, 2)),
        pytest.param(
            *("tensorflow", "mobilenetv2", "compile", "compiled", "compile", ("tf.function", "XLA")),
            marks=pytest.mark.thorough,
        ),
    ],
)
@pytest.mark.parametrize("phase", ["infer", pytest.param("train", marks=pytest.mark.thorough)])
def test_how_a_model_is_run_changes_no_scores(
    look, phase: str, engine: str, model: str, option: str, level: str, fact: str, told: tuple
) -> None:
    found = look(engine, phase, model, **{option: level})
    plain, chosen = in_force(found, fact)
    assert plain == told[0]
    # Training sees batches of one size; a last batch of inference is smaller and compiled apart.
    assert chosen == (1 if (fact, phase) == ("compiled_graphs", "train") else told[1])
    if phase == "infer":
        assert differences(found, "scores") < 1e-3
    else:
        # Steps drift apart, and a compiled dropout draws other units; the first loss is of the same weights.
        assert found["chosen"]["losses"][0] == pytest.approx(found["plain"]["losses"][0], rel=0.2)


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("torch", {"infer": "torch.bfloat16", "train": "autocast torch.bfloat16"}),
        pytest.param("tensorflow", dict.fromkeys(("infer", "train"), "mixed_bfloat16"), marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("phase", ["infer", pytest.param("train", marks=pytest.mark.thorough)])
def test_half_precision_is_near_and_not_the_same(look, phase: str, engine: str, told: dict) -> None:
    found = look(engine, phase, precision="bf16")
    assert in_force(found, "precision")[1] == told[phase]
    if phase == "infer":
        assert 0 < differences(found, "scores") < 0.1
    else:
        # Steps drift apart; the first loss is of the same weights.
        assert 0 < abs(found["chosen"]["losses"][0] / found["plain"]["losses"][0] - 1) < 0.1


def test_a_model_that_keeps_a_number_format_of_its_own_makes_its_runs_invalid(look) -> None:
    found = look("tensorflow", model="small", precision="bf16", obeys=False, factory=OF_A_FILE)
    assert found["chosen"]["in_force"]["precision"] == "mixed_bfloat16", "Keras' policy, not the model's"
    assert list(ignored(found["chosen"]["options"])) == ["option precision: bf16 was requested, fp32 was in force"]
    assert list(ignored(found["plain"]["options"])) == []


def test_a_factory_that_sets_another_number_of_threads_makes_its_runs_invalid(look) -> None:
    found = look("torch", model="small", obeys=False, factory=OF_TWO_THREADS)
    assert list(ignored(found["plain"]["options"])) == ["option threads: 1 was requested, 2 was in force"]


@pytest.mark.parametrize("engine", ["torch", pytest.param("tensorflow", marks=pytest.mark.thorough), "mxnet"])
def test_adam_takes_other_steps_from_the_same_weights(look, engine: str) -> None:
    found = look(engine, "train", optimizer="adam")
    assert [name.lower() for name in in_force(found, "optimizer")] == ["sgd", "adam"]
    assert in_force(found, "learning_rate") == pytest.approx((0.001, 0.001))
    assert found["chosen"]["losses"][0] == pytest.approx(found["plain"]["losses"][0], rel=1e-3)
    assert differences(found, "scores") > 1e-3


@pytest.mark.parametrize("update", [pytest.param("foreach", marks=pytest.mark.thorough), "one_by_one"])
@pytest.mark.parametrize("optimizer", ["sgd", pytest.param("adam", marks=pytest.mark.thorough)])
def test_weights_are_updated_otherwise_and_to_the_same(look, optimizer: str, update: str) -> None:
    chosen = {} if optimizer == "sgd" else {"optimizer": optimizer}
    found = look("torch", "train", "small", update=update, **chosen)
    assert in_force(found, "update") == ("fused", update)
    if optimizer == "sgd":
        assert found["chosen"]["losses"] == pytest.approx(found["plain"]["losses"], rel=1e-5)


def test_weights_are_taken_off_the_inputs_of_a_graph_and_scores_stay(look, tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "write.py").write_text(LISTED)
    subprocess.run([python_of("onnxruntime/cpu"), tmp_path / "write.py", tmp_path / "weights"], check=True)
    found = look("onnxruntime", provider="cpu", weight_inputs="removed")
    assert in_force(found, "weights_among_inputs") == (2, 0)
    assert differences(found, "scores") < 1e-6


@pytest.mark.thorough
def test_texts_are_compiled_too(look) -> None:
    found = look("torch", model="bert_tiny", compile="compiled")
    assert in_force(found, "compiled_graphs")[1] > 0
    assert differences(found, "scores") < 1e-3


def test_texts_have_no_channels(look) -> None:
    error = look("torch", model="bert_tiny", layout="channels_last")
    assert "layout: channels_last is for images, and inputs have shape (16,)" in error


def test_without_a_compiler_nothing_runs_uncompiled(look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/c++")
    error = look("torch", model="bert_tiny", compile="compiled")
    assert "InvalidCxxCompiler" in error or "No working C++ compiler found" in error


TF32 = {
    "torch": """
from types import SimpleNamespace
from framewatt.workloads.torch.options import allow_tf32, tf32_in_force
for level in ("default", "everywhere", "nowhere"):
    allow_tf32(SimpleNamespace(level=lambda name: level))
    print(tf32_in_force())
""",
    "tensorflow": """
import tensorflow as tf
from framewatt.workloads.tensorflow.engine import _tf32_in_force
print(_tf32_in_force())
for allowed in (True, False):
    tf.config.experimental.enable_tensor_float_32_execution(allowed)
    print(_tf32_in_force())
""",
}


@pytest.mark.parametrize(("engine", "default"), [("torch", "convolutions"), ("tensorflow", "everywhere")])
def test_where_tf32_may_be_used_is_read_from_the_framework(engine: str, default: str) -> None:
    """No GPU is needed for the setting, which is the framework's own."""
    python = python_of(environment_of(engine, "cpu"))
    words = [python, "-P", "-c", TF32[engine]]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT / "src")})
    assert done.stdout.split() == [default, "everywhere", "nowhere"]
