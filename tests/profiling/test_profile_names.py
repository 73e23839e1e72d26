"""Which names of a framework's API the functions of a profile get, and which get none."""

from pathlib import Path

import pytest
from checkout import ROOT
from profile_factory import Key, builtin, profile

from framewatt.base.errors import FramewattError
from framewatt.profiling.api_names import api_names, read_rules, read_types

RULES = read_rules(ROOT / "config" / "api_names.csv")
HEADER = "framework,phase,file,function,through,api_name,why\n"


def method(name: str, of: str) -> Key:
    return builtin(f"<method '{name}' of '{of}' objects>")


def built_in(name: str) -> Key:
    return builtin(f"<built-in method {name}>")


def names_of(path: Path, framework: str, phase: str, *way: Key) -> str | None:
    """Name of the last function of a way of calls."""
    called_by = dict(zip(way[1:], way, strict=False))
    read = profile(path / "one.prof", {key: float(i + 1) for i, key in enumerate(way)}, called_by)
    return api_names(read.functions, read.calls, framework, phase, RULES)[0]


TENSOR = "torch._C._TensorBase"
NOW = "torch._C.TensorBase"
PACKAGES = "/usr/lib/python3/dist-packages/"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (method("run_backward", "torch._C._EngineBase"), "torch.autograd.backward"),
        (built_in("torch._C._cuda_synchronize"), "torch.cuda.synchronize"),
        (built_in("addmm"), "torch.addmm"),
        (built_in("torch.addmm"), "torch.addmm"),
        (built_in("tensor"), "torch.tensor"),
        (built_in("torch._C._nn.linear"), "torch.nn.functional.linear"),
        (built_in("torch._C._nn.cross_entropy_loss"), "torch.nn.functional.cross_entropy"),
        (method("item", TENSOR), "torch.Tensor.item"),
        (method("item", NOW), "torch.Tensor.item"),
        (method("zero_", TENSOR), "torch.Tensor.zero_"),
        # What Table 6 lists beside the functions of training.
        (built_in("sigmoid"), "torch.sigmoid"),
        (built_in("einsum"), "torch.einsum"),
        (built_in("max"), "torch.max"),
        (method("matmul", TENSOR), "torch.Tensor.matmul"),
        (method("to", TENSOR), "torch.Tensor.to"),
        (method("float", TENSOR), "torch.Tensor.float"),
        (method("type", TENSOR), "torch.Tensor.type"),
        ((f"{PACKAGES}torch/nn/functional.py", 1, "linear"), "torch.nn.functional.linear"),
        ((f"{PACKAGES}torch/optim/adam.py", 1, "step"), "torch.optim.Adam.step"),
        ((f"{PACKAGES}torch/nn/modules/module.py", 1, "_call_impl"), "torch.nn.Module.__call__"),
        # What belongs to Python, to others or to the framework's inside has no name of its API.
        (built_in("builtins.sum"), None),
        (built_in("builtins.max"), None),
        (built_in("torch._C._get_tracing_state"), None),
        (built_in("torch.unique_dim"), None),
        (method("_write_file", "torch._C.CudaFloatStorageBase"), None),
        (method("add", "set"), None),
        (("lamb.py", 206, "step"), None),
        ((f"{PACKAGES}torch/nn/modules/module.py", 1, "_named_members"), None),
    ],
)
def test_names_of_pytorch(tmp_path: Path, function: Key, name: str | None) -> None:
    assert names_of(tmp_path, "PyTorch", "train", function) == name
    assert names_of(tmp_path, "torch", "infer", function) == name


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (built_in("_pywrap_tensorflow_internal.TF_SessionRun_wrapper"), "TensorFlow.Session.run"),
        (built_in("tensorflow.python.client._pywrap_tf_session.TF_SessionRun_wrapper"), "TensorFlow.Session.run"),
        (built_in("_pywrap_tensorflow_internal.BufferedInputStream_ReadLineAsString"), "tf.io.gfile.GFile"),
        (method("readline", "tensorflow.python._pywrap_file_io.BufferedInputStream"), "tf.io.gfile.GFile"),
        (built_in("tensorflow.python.lib.io._pywrap_file_io.readline"), "tf.io.gfile.GFile"),
        (built_in("_pywrap_tensorflow_internal.GetMatchingFiles"), "tf.io.gfile.glob"),
        (built_in("tensorflow.python._pywrap_tfe.TFE_Py_FastPathExecute"), None),
        (built_in("addmm"), None),
    ],
)
def test_names_of_tensorflow(tmp_path: Path, function: Key, name: str | None) -> None:
    assert names_of(tmp_path, "TensorFlow", "train", function) == name


ASNUMPY = (f"{PACKAGES}mxnet/ndarray/ndarray.py", 2568, "asnumpy")
RUN = built_in("onnxruntime.capi.onnxruntime_pybind11_state.run")


@pytest.mark.parametrize(
    ("framework", "function", "name"),
    [("mxnet", ASNUMPY, "mxnet.nd.NDArray.asnumpy"), ("onnxruntime", RUN, "onnxruntime.InferenceSession.run")],
)
def test_names_of_other_runtimes(tmp_path: Path, framework: str, function: Key, name: str) -> None:
    assert names_of(tmp_path, framework, "infer", function) == name
    assert names_of(tmp_path, "torch", "infer", function) is None


EXECUTE = built_in("tensorflow.python._pywrap_tfe.TFE_Py_Execute")


@pytest.mark.parametrize(
    "file", ["tensorflow/python/keras/engine/training.py", "keras/src/backend/tensorflow/trainer.py"]
)
@pytest.mark.parametrize(
    ("phase", "loop", "name"),
    [
        ("train", "fit", "keras.Model.fit"),
        ("infer", "predict", "keras.Model.predict"),
        ("infer", "evaluate", "keras.Model.evaluate"),
        ("train", "my_own_loop", None),
    ],
)
def test_a_compiled_step_is_named_by_the_loop_above_it(
    tmp_path: Path, file: str, phase: str, loop: str, name: str | None
) -> None:
    way = [("main.py", 1, "main"), (PACKAGES + file, 9, loop), (f"{PACKAGES}tensorflow/eager/execute.py", 3, "call")]
    assert names_of(tmp_path, "tensorflow", phase, *way, EXECUTE) == name


@pytest.mark.parametrize(
    ("caller", "function", "name"),
    [
        ("torch/nn/modules/conv.py:_conv_forward", "conv2d", "torch.nn.Conv2d"),
        ("torch/nn/modules/conv.py:forward", "torch.conv2d", "torch.nn.Conv2d"),
        ("mine.py:forward", "torch.conv2d", "torch.nn.functional.conv2d"),
        ("torch/nn/modules/rnn.py:forward", "lstm", "torch.nn.LSTM"),
        ("torch/nn/functional.py:embedding", "embedding", "torch.nn.functional.embedding"),
        ("torch/nn/functional.py:relu", "torch.relu", "torch.nn.functional.relu"),
        ("mine.py:forward", "torch.relu", "torch.relu"),
    ],
)
def test_a_function_of_several_apis_is_named_by_its_caller(
    tmp_path: Path, caller: str, function: str, name: str
) -> None:
    file, calling = caller.split(":")
    assert names_of(tmp_path, "pytorch", "train", (PACKAGES + file, 1, calling), built_in(function)) == name


def test_the_first_rule_that_fits_counts(tmp_path: Path) -> None:
    table = tmp_path / "rules.csv"
    table.write_text(HEADER + ",infer,,<f>,,infer.f,why\n,,,<(f|g)>,,any.\\1,why\n")
    read = profile(tmp_path / "x.prof", {builtin("<f>"): 2.0, builtin("<g>"): 1.0})
    rules = read_rules(table)
    assert api_names(read.functions, read.calls, "torch", "infer", rules) == ["infer.f", "any.g"]
    assert api_names(read.functions, read.calls, "torch", "train", rules) == ["any.f", "any.g"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pattern,name\n", "line 1: the columns are"),
        (HEADER + ",,,,,torch.add,why\n", "line 2: function is empty"),
        (HEADER + ",,,<add>,,,why\n", "line 2: api_name is empty"),
        (HEADER + ",,,<add>,,torch.add,\n", "line 2: why is empty"),
        (HEADER + ",,,<(add>,,torch.add,why\n", "line 2: a pattern or name is not valid"),
        (HEADER + ",,,<add>,,torch.\\1,why\n", "line 2: a pattern or name is not valid"),
    ],
)
def test_a_wrong_table_of_rules_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "rules.csv"
    table.write_text(text)
    with pytest.raises(FramewattError, match=message):
        read_rules(table)


def test_types_are_those_of_the_paper_and_no_others() -> None:
    types = read_types(ROOT / "resources" / "published" / "georgiou2022_functions.csv")
    assert types["torch.cat"] == "complex implementation"
    assert types["torch.autograd.backward"] == "unknown"
    # The paper gives it two types, and torch.mean none.
    assert "torch.Tensor.matmul" not in types
    assert "torch.mean" not in types
