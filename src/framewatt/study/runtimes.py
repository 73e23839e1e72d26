"""The runtimes: which framework's weights each runs, which library executes them, and what it can do.

Adding one is a row here, an engine under workloads/, and an environment under envs/.
"""

from dataclasses import dataclass

ONNX_RUNTIME = "onnxruntime"
ONNX = "onnx"
"""Framework and runtime of an ONNX file that a user brings, and no framework of the study exported."""


PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
}
"""ONNX Runtime's names of its execution providers, by level of the factor `provider`."""


@dataclass(frozen=True)
class Runtime:
    """A way to run a model.

    Attributes:
        framework: where the weights are made and, if there is one, the ONNX file is exported; `onnx` where a user
            brings the file.
        engine: the library that executes the model, a folder under workloads/.
        trains: whether it can train.
        has_providers: whether it hands the model to one of several execution providers.
    """

    framework: str
    engine: str
    trains: bool
    has_providers: bool


def _native(framework: str) -> Runtime:
    return Runtime(framework, framework, trains=True, has_providers=False)


def _exported(framework: str) -> Runtime:
    return Runtime(framework, ONNX_RUNTIME, trains=False, has_providers=True)


RUNTIMES = {
    "torch": _native("torch"),
    "tensorflow": _native("tensorflow"),
    "mxnet": _native("mxnet"),
    "torch2onnx": _exported("torch"),
    "tf2onnx": _exported("tensorflow"),
    "mx2onnx": _exported("mxnet"),
    ONNX: _exported(ONNX),
}
"""By the level of the factor `runtime`."""

FRAMEWORKS = tuple(name for name, runtime in RUNTIMES.items() if runtime.trains)
"""The frameworks that make weights."""
