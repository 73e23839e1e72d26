"""The runtimes: whose weights each runs, which library runs them, and what it can do.

Adding one is a row here, an engine under workloads/, and an environment under envs/.
"""

from dataclasses import dataclass

ONNX_RUNTIME = "onnxruntime"
ONNX = "onnx"
"""The framework, and the runtime, of an ONNX file that no framework of the study exported."""


@dataclass(frozen=True)
class Runtime:
    """A way to run a model.

    Attributes:
        framework: in which the weights are made, and from which the ONNX file is exported, if one is; `onnx` where a
            user brings the file.
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
