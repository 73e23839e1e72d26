"""Options: factors that a study may leave out, each declared once.

If no entry of a study's `factors` names an option, the option appears in none of the study's frames, cells and jobs.
Engines act on levels other than the default (see workloads.contract.Spec.level), and their facts state the levels that
were in force.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from framewatt.base.typed_schema import Schema
from framewatt.study.factors import CLOSED, MOST_TOGETHER, NATIVE, PATTERN

Level = str | int | float

QUANTISED = ("int8_dynamic", "int8_static")
"""Number formats made by quantising an exported model."""

LAMB = "lamb"
"""Level of the option `optimizer`: layer-wise adaptive moments (You et al., ICLR 2020)."""

GREEDY = "greedy"
"""Level of the option `decoding`: the likeliest token each time, instead of a model's own search."""

COLD, WARM = "cold", "warm"
"""Levels of the option `caches`; the default is the state in which the previous run left them."""

FUSED, FOREACH, ONE_BY_ONE = "fused", "foreach", "one_by_one"
"""Levels of the option `update`."""

STEP = "step"
"""Level of the option `loss_read`; the default is after each epoch."""

HEAP_STAYS = "kept"
"""Level of the option `heap`: freed memory stays with the process. The default is that of the allocator."""

REMOVED = "removed"
"""Level of the option `weight_inputs`; the default is exports as they are."""

EVERYWHERE, NOWHERE = "everywhere", "nowhere"
"""Levels of the option `tf32`, besides the framework's default."""


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

    What an engine can have of it is in the table of runtimes (runtimes.Runtime.honours).

    Attributes:
        name: of the factor.
        description: one sentence for the study's schema.
        levels: JSON schema of a level.
        default: level of cells that do not name the option; None where another key of the study sets it.
        condition: why a cell cannot have a level other than the default on a device, whatever engines can do, or None
            where it can.
        phase: the phase, `train` or `infer`, to which it is confined; None where both have it.
        other_phase: why the other phase cannot have it.
        not_listed: why an engine cannot have it that does not list it: a sentence with `{engine}`, `{option}`,
            `{level}`, and `{others}` for frameworks that have it.
        by_worker: whether framewatt's worker acts on it, for every engine.
        leaves_open: whether the default leaves the matter to the framework, so that any level may be in force.
        word: prefix for a level with no meaning by itself, such as a number.
    """

    name: str
    description: str
    levels: Mapping[str, Any]
    default: Level | None
    condition: Callable[[Configuration, Level, str], str | None] = lambda cell, level, device: None
    phase: str | None = None
    other_phase: str = ""
    not_listed: str = "{engine} does not have the option {option}"
    by_worker: bool = False
    leaves_open: bool = False
    word: str = ""

    @property
    def is_of_training(self) -> bool:
        """Return whether inference has none of its levels, not even the default."""
        return self.phase == "train"

    def is_of(self, phase: str | None) -> bool:
        """Return whether a phase has any of its levels; True for an unknown phase (None)."""
        return phase is None or self.phase in (None, phase)

    def refusal(self, cell: Configuration, level: Level, device: str) -> str | None:
        """Return why a cell cannot have a level other than the default, whatever its engine is, or None."""
        return self.condition(cell, level, device) if self.is_of(cell.phase) else self.other_phase

    def text(self, level: Level) -> str:
        """Return a level as readers see it: `threads 2`, `adam`."""
        return f"{self.word} {_plain(level)}".strip()

    def suffix(self, level: Level) -> str:
        """Return a level as a part of a cell's name: `threads2`, `graph-basic`, `adam`."""
        return self.text(level).replace(" ", "-" if isinstance(level, str) else "").replace("/", "-per-")


def _plain(level: Level) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


_NOT_OF_INFERENCE = "inference takes weights as the study's `training` made them"
_NO_WEIGHT_INPUTS = "weights among inputs are those of an ONNX file"


def _precision(cell: Configuration, level: Level, device: str) -> str | None:
    if level in QUANTISED and cell.provider == NATIVE:
        return f"{level} is a quantised ONNX model, which {cell.engine} does not run"
    if level in QUANTISED and cell.provider != "cpu":
        return f"{level} is made for the kernels of the CPU provider"
    if level == "fp16" and device == "cpu":
        return "CPUs have hardly any fp16 kernels; bf16 is their half precision"
    return None


def _tf32(cell: Configuration, level: Level, device: str) -> str | None:
    if device != "cuda":
        return "TF32 is a number format of NVIDIA's GPUs"
    if cell.provider not in (NATIVE, "cuda"):
        return f"the execution provider {cell.provider} has no setting for TF32"
    if cell.changed.get("precision"):
        return "TF32 is a way to compute in fp32"
    return None


def _update(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.changed.get("optimizer") == LAMB:
        return f"{LAMB} updates all weights together, operation by operation"
    return None


def _client(cell: Configuration, level: Level, device: str) -> str | None:
    if cell.provider not in (NATIVE, "cpu"):
        return "ONNX Runtime is called from Node.js on its CPU provider only"
    return None


def _load(cell: Configuration, level: Level, device: str) -> str | None:
    count, _, unit = str(level).partition("/")
    if unit == "min" and int(count) % 60 == 0:
        return f"{level} is written {int(count) // 60}/s"
    if cell.batch_size > MOST_TOGETHER:
        return f"at most {MOST_TOGETHER} requests are answered together, for each of which numbers batches are prepared"
    return "requests are put from Python" if cell.changed.get("client") == "node" else None


def _heap(cell: Configuration, level: Level, device: str) -> str | None:
    return "Node.js is started without variables" if cell.changed.get("client") == "node" else None


def _weight_inputs(cell: Configuration, level: Level, device: str) -> str | None:
    return "Node.js reads the file as it was exported" if cell.changed.get("client") == "node" else None


def _words(*words: str) -> Schema:
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
            leaves_open=True,
            word="tf32",
        ),
        Option(
            "graph_optimization",
            "How far ONNX Runtime rewrites a graph when it loads it.",
            _words("disabled", "basic", "extended", "all"),
            "all",
            not_listed="graph optimisation levels are ONNX Runtime's",
            word="graph",
        ),
        Option(
            "threads",
            "Threads that a framework may use on the CPU; the study's `threads` where it is not named.",
            {"type": "integer", "minimum": 1},
            None,
            word="threads",
        ),
        Option(
            "compile",
            "Whether torch.compile, or XLA in TensorFlow, compiles the model or the training step.",
            _words("plain", "compiled"),
            "plain",
        ),
        Option(
            "layout",
            "Layout of images in memory; `default` is the framework's own.",
            _words("default", "channels_last"),
            "default",
            word="layout",
        ),
        Option(
            "learning_rate",
            "Of the optimizer in measured training (0.001 or 1.0e-3, YAML takes 1e-3 for text); "
            "the study's `training.learning_rate` where it is not named.",
            {"type": "number", "exclusiveMinimum": 0},
            None,
            phase="train",
            other_phase=_NOT_OF_INFERENCE,
            word="lr",
        ),
        Option(
            "optimizer",
            "Of measured training: stochastic gradient descent with the study's momentum, Adam, or LAMB.",
            _words("sgd", "adam", LAMB),
            "sgd",
            phase="train",
            other_phase=_NOT_OF_INFERENCE,
            not_listed="the optimizer {level} is built for {others}",
        ),
        Option(
            "update",
            "How PyTorch's optimizer updates weights: all in one kernel (`fused`), all together, operation by "
            "operation (`foreach`), or one after another (`one_by_one`).",
            _words(FUSED, FOREACH, ONE_BY_ONE),
            FUSED,
            _update,
            phase="train",
            other_phase=_NOT_OF_INFERENCE,
            not_listed="{engine} has one way to update weights",
            word="update",
        ),
        Option(
            "loss_read",
            "When measured training reads its losses: after an epoch, or after each step, as many loops do, for which "
            "it waits for the device.",
            _words("epoch", STEP),
            "epoch",
            phase="train",
            other_phase=_NOT_OF_INFERENCE,
            by_worker=True,
            word="loss read by",
        ),
        Option(
            "client",
            "The language from which ONNX Runtime is called.",
            _words("python", "node"),
            "python",
            _client,
            not_listed="{engine} has no client for Node.js here",
        ),
        Option(
            "weight_inputs",
            "Whether weights that an exporter lists among a graph's inputs, where ONNX Runtime takes them for no "
            "constants, stay there (`as_exported`) or are taken off that list when the model is loaded (`removed`).",
            _words("as_exported", REMOVED),
            "as_exported",
            _weight_inputs,
            phase="infer",
            other_phase=_NO_WEIGHT_INPUTS,
            not_listed=_NO_WEIGHT_INPUTS,
            leaves_open=True,
            word="weight inputs",
        ),
        Option(
            "heap",
            "Whether memory that a run lets go of returns to the kernel as glibc finds fit (`default`), or stays with "
            "the process (`kept`), which spares it page faults.",
            _words("default", HEAP_STAYS),
            "default",
            _heap,
            by_worker=True,
            leaves_open=True,
            word="heap",
        ),
        Option(
            "decoding",
            "How a model that makes its answers token by token finds them; `default` is its own search.",
            _words("default", GREEDY),
            "default",
            phase="infer",
            other_phase="training is given the translations and decodes none",
            leaves_open=True,
            word="decoding",
        ),
        Option(
            "caches",
            "What is in memory of the files that a run reads when it begins: what runs before it left (`as_found`), as "
            "little as the kernel allows (`cold`), or what an unmeasured pass left that is made just before (`warm`).",
            _words("as_found", COLD, WARM),
            "as_found",
            by_worker=True,
        ),
        Option(
            "load",
            "closed: each batch follows the one before. 20/s or 30/min: an open loop; requests of one sample arrive at "
            "that rate, and those that wait are answered together, up to batch_size of them.",
            {"type": "string", "pattern": PATTERN},
            CLOSED,
            _load,
            phase="infer",
            other_phase="requests arrive for inference",
            by_worker=True,
            word="load",
        ),
    )
}
"""By name, in the order in which cells name them."""

ALWAYS = ("precision",)
"""Options that are factors of every study."""


def optional() -> list[Option]:
    """Return the options that a study has only if it names them."""
    return [option for option in OPTIONS.values() if option.name not in ALWAYS]


def with_options(schema: Mapping[str, Any]) -> Schema:
    """Return the schema of measuring studies with the options: as lists in `factors`, and as levels in `exclude`."""
    properties = schema["properties"]
    return {
        **schema,
        "properties": {
            **properties,
            "factors": _with_properties(properties["factors"], _as_list),
            "exclude": _with_properties(properties["exclude"], _as_level),
        },
    }


def _with_properties(entries: Mapping[str, Any], describe: Callable[[Option], Schema]) -> Schema:
    items = entries["items"]
    added = {name: describe(option) for name, option in OPTIONS.items()}
    return {**entries, "items": {**items, "properties": {**items["properties"], **added}}}


def _as_list(option: Option) -> Schema:
    """Schema of a list of levels; an empty list leaves the option at its default."""
    default = [option.default] if option.name in ALWAYS else []
    return {
        "description": option.description,
        "type": "array",
        "uniqueItems": True,
        "default": default,
        "items": dict(option.levels),
    }


def _as_level(option: Option) -> Schema:
    return {"description": "Level to leave out.", **option.levels}
