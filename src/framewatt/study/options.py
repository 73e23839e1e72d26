"""Options: factors that a study may leave out, each declared once.

If no entry of a study's `factors` names an option, the option appears in none of the study's frames, cells and jobs.
Engines act on levels other than the default (see workloads.contract.Spec.level), and their facts state the levels that
were in force.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from framewatt.study.load import CLOSED, MOST_TOGETHER, PATTERN
from framewatt.study.runtimes import ONNX_RUNTIME

Level = str | int | float

QUANTISED = ("int8_dynamic", "int8_static")
"""Number formats made by quantising an exported model."""

LAMB = "lamb"
"""Level of the option `optimizer`: layer-wise adaptive moments (You et al., ICLR 2020)."""

GREEDY = "greedy"
"""Level of the option `decoding`: the likeliest token each time, in place of a model's own search."""

COLD, WARM = "cold", "warm"
"""Levels of the option `caches`, beside that of caches as the run before left them."""

FUSED, FOREACH, ONE_BY_ONE = "fused", "foreach", "one_by_one"
"""Levels of the option `update`."""

STEP = "step"
"""Level of the option `loss_read`, beside that of epochs."""

KEPT = "kept"
"""Level of the option `heap`, beside the allocator's default."""

REMOVED = "removed"
"""Level of the option `weight_inputs`, beside that of exports as they are."""

EVERYWHERE, NOWHERE = "everywhere", "nowhere"
"""Levels of the option `tf32`, besides the framework's default."""

TUNED = ("torch", "tensorflow")
"""Frameworks that have LAMB, clipping of gradients and schedules, and take the same steps by them."""


class Configuration(Protocol):
    """Cell fields that an option's `refusal` may inspect."""

    @property
    def phase(self) -> str:
        """`train` or `infer`."""

    @property
    def provider(self) -> str:
        """ONNX Runtime's execution provider, or `native`."""

    @property
    def engine(self) -> str:
        """Library that executes the model."""

    @property
    def batch_size(self) -> int:
        """Samples a batch."""

    @property
    def changed(self) -> Mapping[str, Level]:
        """Options that are not at their default level, by name."""


@dataclass(frozen=True)
class Option:
    """A factor that a study may vary.

    Attributes:
        name: of the factor.
        description: one sentence for the study's schema.
        levels: JSON schema of a level.
        default: level of cells that do not name the option; None where another key of the study sets it.
        refusal: why a cell cannot have a level other than the default on a device, or None where it can.
        word: prefix for a level that says nothing by itself, such as a number.
    """

    name: str
    description: str
    levels: Mapping[str, Any]
    default: Level | None
    refusal: Callable[[Configuration, Level, str], str | None]
    word: str = ""

    @property
    def of_training(self) -> bool:
        """Whether inference has none of its levels, its default neither."""
        return self.refusal in (_of_training, _optimizer, _update)

    def is_of(self, phase: str | None) -> bool:
        """Whether a phase has any of its levels; of an unknown phase, None, nothing is ruled out."""
        if phase == "train":
            return self.refusal not in (_decoding, _load, _weight_inputs)
        return phase is None or not self.of_training

    def text(self, level: Level) -> str:
        """A level as readers see it: `threads 2`, `adam`."""
        return f"{self.word} {_plain(level)}".strip()

    def suffix(self, level: Level) -> str:
        """A level as a part of a cell's name: `threads2`, `graph-basic`, `adam`."""
        return self.text(level).replace(" ", "-" if isinstance(level, str) else "").replace("/", "-per-")


def _plain(level: Level) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


def _precision(cell: Configuration, level: Level, device: str) -> str | None:
    if level in QUANTISED:
        return _quantised(cell, level)
    if level == "fp16" and device == "cpu":
        return "CPUs have hardly any fp16 kernels; bf16 is their half precision"
    return {
        "mxnet": "MXNet is run in fp32 only",
        ONNX_RUNTIME: f"exports are in fp32; quantised ones are {' and '.join(QUANTISED)}",
    }.get(cell.engine)


def _quantised(cell: Configuration, level: Level) -> str | None:
    if cell.engine != ONNX_RUNTIME:
        return f"{level} is a quantised ONNX model, which {cell.engine} does not run"
    if cell.provider != "cpu":
        return f"{level} is made for the kernels of the CPU provider"
    return None


def _graph_optimization(cell: Configuration, level: Level, device: str) -> str | None:
    return None if cell.engine == ONNX_RUNTIME else "graph optimisation levels are ONNX Runtime's"


def _tf32(cell: Configuration, level: Level, device: str) -> str | None:
    if device != "cuda":
        return "TF32 is a number format of NVIDIA's GPUs"
    if cell.engine == "mxnet":
        return "MXNet has no setting for TF32"
    if cell.engine == ONNX_RUNTIME and cell.provider != "cuda":
        return f"the execution provider {cell.provider} has no setting for TF32"
    if cell.changed.get("precision"):
        return "TF32 is a way to compute in fp32"
    return None


def _threads(cell: Configuration, level: Level, device: str) -> str | None:
    return None


def _compile(cell: Configuration, level: Level, device: str) -> str | None:
    return {
        ONNX_RUNTIME: "ONNX Runtime has no compiler to turn on; its graph_optimization is an option of its own",
        "mxnet": "MXNet's models are always compiled, by hybridize",
    }.get(cell.engine)


def _layout(cell: Configuration, level: Level, device: str) -> str | None:
    return {
        "tensorflow": "TensorFlow's images are channels-last anyway",
        "mxnet": "MXNet's zoo is channels-first only",
        ONNX_RUNTIME: "the layout of an exported model is that of its graph",
    }.get(cell.engine)


def _of_training(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.phase == "train":
        return None
    return "inference takes weights as the study's `training` made them"


def _optimizer(cell: Configuration, level: Level, device: str) -> str | None:
    if level == LAMB and cell.engine not in TUNED and cell.phase == "train":
        return f"the optimizer {LAMB} is built for {' and '.join(TUNED)}"
    return _of_training(cell, level, device)


def _update(cell: Configuration, level: Level, device: str) -> str | None:
    if reason := _of_training(cell, level, device):
        return reason
    if cell.engine != "torch":
        return f"{cell.engine} has one way to update weights"
    if cell.changed.get("optimizer") == LAMB:
        return f"{LAMB} updates all weights together, operation by operation"
    return None


def _client(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.engine != ONNX_RUNTIME:
        return f"{cell.engine} has no client for Node.js here"
    return None if cell.provider == "cpu" else "ONNX Runtime is called from Node.js on its CPU provider only"


def _load(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.phase == "train":
        return "requests arrive for inference"
    count, _, unit = str(level).partition("/")
    if unit == "min" and int(count) % 60 == 0:
        return f"{level} is written {int(count) // 60}/s"
    if cell.batch_size > MOST_TOGETHER:
        return f"at most {MOST_TOGETHER} requests are answered together, for each of which numbers batches are prepared"
    return "requests are put from Python" if cell.changed.get("client") == "node" else None


def _caches(cell: Configuration, level: Level, device: str) -> str | None:
    return None


def _heap(cell: Configuration, level: Level, device: str) -> str | None:
    return "Node.js is started without variables" if cell.changed.get("client") == "node" else None


def _weight_inputs(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.engine != ONNX_RUNTIME:
        return "weights among inputs are those of an ONNX file"
    return "Node.js reads the file as it was exported" if cell.changed.get("client") == "node" else None


def _decoding(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.phase == "train":
        return "training is given the translations and decodes none"
    return "an exported model answers at once" if cell.engine == ONNX_RUNTIME else None


def _words(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


OPTIONS: Mapping[str, Option] = {
    option.name: option
    for option in (
        Option(
            "precision",
            "Number format; fp16 and bf16 train in mixed precision; int8 ones are quantised by ONNX Runtime.",
            _words("fp32", "fp16", "bf16", *QUANTISED),
            "fp32",
            _precision,
        ),
        Option(
            "tf32",
            "Whether products of fp32 numbers may be computed with TF32's 10 bits of mantissa on NVIDIA GPUs; "
            "`default` is the framework's own rule.",
            _words("default", EVERYWHERE, NOWHERE),
            "default",
            _tf32,
            word="tf32",
        ),
        Option(
            "graph_optimization",
            "How far ONNX Runtime rewrites a graph when it loads it.",
            _words("disabled", "basic", "extended", "all"),
            "all",
            _graph_optimization,
            word="graph",
        ),
        Option(
            "threads",
            "Threads that a framework may use on the CPU; the study's `threads` where it is not named.",
            {"type": "integer", "minimum": 1},
            None,
            _threads,
            word="threads",
        ),
        Option(
            "compile",
            "Whether torch.compile, or XLA in TensorFlow, compiles the model or the training step.",
            _words("plain", "compiled"),
            "plain",
            _compile,
        ),
        Option(
            "layout",
            "Layout of images in memory; `default` is the framework's own.",
            _words("default", "channels_last"),
            "default",
            _layout,
            word="layout",
        ),
        Option(
            "learning_rate",
            "Of the optimizer in measured training (0.001 or 1.0e-3, YAML takes 1e-3 for text); "
            "the study's `training.learning_rate` where it is not named.",
            {"type": "number", "exclusiveMinimum": 0},
            None,
            _of_training,
            word="lr",
        ),
        Option(
            "optimizer",
            "Of measured training: stochastic gradient descent with the study's momentum, Adam, or LAMB.",
            _words("sgd", "adam", LAMB),
            "sgd",
            _optimizer,
        ),
        Option(
            "update",
            "How PyTorch's optimizer updates weights: all in one kernel (`fused`), all together, operation by "
            "operation (`foreach`), or one after another (`one_by_one`).",
            _words(FUSED, FOREACH, ONE_BY_ONE),
            FUSED,
            _update,
            word="update",
        ),
        Option(
            "loss_read",
            "When measured training reads its losses: after an epoch, or after each step, as many loops do, for which "
            "it waits for the device.",
            _words("epoch", STEP),
            "epoch",
            _of_training,
            word="loss read by",
        ),
        Option(
            "client",
            "The language from which ONNX Runtime is called.",
            _words("python", "node"),
            "python",
            _client,
        ),
        Option(
            "weight_inputs",
            "Whether weights that an exporter lists among a graph's inputs, where ONNX Runtime takes them for no "
            "constants, stay there (`as_exported`) or are taken off that list when the model is loaded (`removed`).",
            _words("as_exported", REMOVED),
            "as_exported",
            _weight_inputs,
            word="weight inputs",
        ),
        Option(
            "heap",
            "Whether memory that a run lets go of returns to the kernel as glibc finds fit (`default`), or stays with "
            "the process (`kept`), which spares it page faults.",
            _words("default", KEPT),
            "default",
            _heap,
            word="heap",
        ),
        Option(
            "decoding",
            "How a model that makes its answers token by token finds them; `default` is its own search.",
            _words("default", GREEDY),
            "default",
            _decoding,
            word="decoding",
        ),
        Option(
            "caches",
            "What is in memory of the files that a run reads when it begins: what runs before it left (`as_found`), as "
            "little as the kernel allows (`cold`), or what an unmeasured pass left that is made just before (`warm`).",
            _words("as_found", COLD, WARM),
            "as_found",
            _caches,
        ),
        Option(
            "load",
            "closed: each batch follows the one before. 20/s or 30/min: an open loop; requests of one sample arrive at "
            "that rate, and those that wait are answered together, up to batch_size of them.",
            {"type": "string", "pattern": PATTERN},
            CLOSED,
            _load,
            word="load",
        ),
    )
}
"""By name, in the order in which cells name them."""

ALWAYS = ("precision",)
"""Options that are factors of every study."""


def optional() -> list[Option]:
    """The options that a study has only if it names them."""
    return [option for option in OPTIONS.values() if option.name not in ALWAYS]


def with_options(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of measuring studies with the options in it: as lists in `factors`, and as levels in `exclude`."""
    properties = schema["properties"]
    return {
        **schema,
        "properties": {
            **properties,
            "factors": _with_properties(properties["factors"], _as_list),
            "exclude": _with_properties(properties["exclude"], _as_level),
        },
    }


def _with_properties(entries: Mapping[str, Any], describe: Callable[[Option], dict[str, Any]]) -> dict[str, Any]:
    items = entries["items"]
    added = {name: describe(option) for name, option in OPTIONS.items()}
    return {**entries, "items": {**items, "properties": {**items["properties"], **added}}}


def _as_list(option: Option) -> dict[str, Any]:
    """Schema of a list of levels; an empty list leaves the option at its default."""
    default = [option.default] if option.name in ALWAYS else []
    return {
        "description": option.description,
        "type": "array",
        "uniqueItems": True,
        "default": default,
        "items": dict(option.levels),
    }


def _as_level(option: Option) -> dict[str, Any]:
    return {"description": "Level to leave out.", **option.levels}
