"""The runtimes: which framework's weights each runs, which library executes them, and what it can do.

Adding one is a row here, an engine under workloads/, and an environment under envs/.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framewatt.base.typed_schema import Schema
from framewatt.study.factors import NATIVE
from framewatt.study.options import EVERYWHERE, GREEDY, LAMB, NOWHERE, QUANTISED, REMOVED, Level, Option

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

ANY = None
"""In `Runtime.honours`: all levels of an option."""

Honoured = Mapping[str, Sequence[Level] | None]


@dataclass(frozen=True)
class Runtime:
    """A way to run a model.

    Attributes:
        framework: where the weights are made and, if there is one, the ONNX file is exported; `onnx` where a user
            brings the file.
        engine: the library that executes the model, a folder under workloads/.
        honours: the options that the engine acts on, each with its levels other than the default, or ANY. An option or
            a level that is not in it is refused, unless framewatt's worker acts on it (Option.by_worker).
        trains: whether it can train.
        has_providers: whether it hands the model to one of several execution providers.
        reasons: why the engine cannot act on some others, for readers, by option.
        tunes: whether it clips gradients, and takes learning rates from a schedule.
        per_device: whether its environment differs between CPU and CUDA.
        colour: in figures, from Okabe and Ito's palette; without one it gets a free one.
        markers: in figures, by level of the factor `provider` or `native`.
    """

    framework: str
    engine: str
    honours: Honoured
    trains: bool = True
    has_providers: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    tunes: bool = False
    per_device: bool = True
    colour: str | None = None
    markers: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, option: Option, level: Level) -> str | None:
        """Return why the engine cannot have a level of an option that is not its default, or None where it can."""
        if option.by_worker:
            return None
        levels = self.honours.get(option.name, ())
        if levels is ANY or level in levels:
            return None
        return self.reasons.get(option.name) or option.not_listed.format(
            engine=self.engine, option=option.name, level=level, others=" and ".join(tuned_frameworks())
        )


_OF_ONNX_RUNTIME: Honoured = {
    "precision": QUANTISED,
    "tf32": (EVERYWHERE, NOWHERE),
    "graph_optimization": ANY,
    "threads": ANY,
    "client": ANY,
    "weight_inputs": (REMOVED,),
}
_NOT_OF_ONNX_RUNTIME = {
    "precision": f"exports are in fp32; quantised ones are {' and '.join(QUANTISED)}",
    "compile": "ONNX Runtime has no compiler to turn on; its graph_optimization is an option of its own",
    "layout": "the layout of an exported model is that of its graph",
    "decoding": "an exported model answers at once",
}


def _exported(framework: str, colour: str | None = None, **markers: str) -> Runtime:
    """ONNX Runtime on the models that a framework exports."""
    return Runtime(
        *(framework, ONNX_RUNTIME, _OF_ONNX_RUNTIME),
        trains=False,
        has_providers=True,
        reasons=_NOT_OF_ONNX_RUNTIME,
        colour=colour,
        markers=markers,
    )


RUNTIMES = {
    "torch": Runtime(
        *("torch", "torch"),
        {
            "precision": ("fp16", "bf16"),
            "tf32": ANY,
            "threads": ANY,
            "compile": ANY,
            "layout": ANY,
            "learning_rate": ANY,
            "optimizer": ("adam", LAMB),
            "update": ANY,
            "decoding": (GREEDY,),
        },
        tunes=True,
        per_device=False,
        colour="#d55e00",
        markers={NATIVE: "o"},
    ),
    "tensorflow": Runtime(
        *("tensorflow", "tensorflow"),
        {
            "precision": ("fp16", "bf16"),
            "tf32": ANY,
            "threads": ANY,
            "compile": ANY,
            "learning_rate": ANY,
            "optimizer": ("adam", LAMB),
            "decoding": (GREEDY,),
        },
        reasons={"layout": "TensorFlow's images are channels-last anyway"},
        tunes=True,
        colour="#e69f00",
        markers={NATIVE: "s"},
    ),
    "mxnet": Runtime(
        *("mxnet", "mxnet"),
        {"threads": ANY, "learning_rate": ANY, "optimizer": ("adam",)},
        reasons={
            "precision": "MXNet is run in fp32 only",
            "tf32": "MXNet has no setting for TF32",
            "compile": "MXNet's models are always compiled, by hybridize",
            "layout": "MXNet's zoo is channels-first only",
        },
        colour="#0072b2",
        markers={NATIVE: "^"},
    ),
    "torch2onnx": _exported("torch", "#cc79a7", cpu="D", openvino="d", cuda="h"),
    "tf2onnx": _exported("tensorflow", "#009e73", cpu="P", openvino="p", cuda=">"),
    "mx2onnx": _exported("mxnet", "#56b4e9", cpu="X", openvino="*", cuda="<"),
    ONNX: _exported(ONNX),
}
"""By the level of the factor `runtime`."""

_LEVELS = {"enum": list(RUNTIMES)}

FRAMEWORKS = tuple(name for name, runtime in RUNTIMES.items() if runtime.trains)
"""The frameworks that make weights."""


def with_runtimes(schema: Mapping[str, Any]) -> Schema:
    """Return the schema of measuring studies with the runtimes as levels of the factor `runtime`."""
    factors = schema["properties"]["factors"]
    levels = factors["items"]["properties"]
    items = {**factors["items"], "properties": {**levels, "runtime": {**levels["runtime"], "items": _LEVELS}}}
    return {**schema, "properties": {**schema["properties"], "factors": {**factors, "items": items}}}


def tuned_frameworks() -> tuple[str, ...]:
    """Return the frameworks that have LAMB, clipping of gradients and schedules, and take the same steps by them."""
    return tuple(name for name in FRAMEWORKS if RUNTIMES[name].tunes)


def runtime_of(engine: str) -> Runtime:
    """Return a runtime of an engine; all of one engine honour the same options."""
    return next(one for one in RUNTIMES.values() if one.engine == engine)


def exported_from(framework: str) -> str:
    """Return the runtime that executes what a framework exports."""
    return next(name for name, one in RUNTIMES.items() if one.framework == framework and not one.trains)
