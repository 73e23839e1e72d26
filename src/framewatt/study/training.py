"""A study's `training` and its weights for inference: what each model has of it, and what its schema cannot check."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.typed_schema import Schema
from framewatt.study.cell import Cell
from framewatt.study.options import LAMB, OPTIONS
from framewatt.study.runtimes import FRAMEWORKS, ONNX, RUNTIMES, tuned_frameworks

TRAINED = "trained"
"""From the study's training, unmeasured."""

SEEDED = "seeded"
"""Random initial weights, untrained."""

PRETRAINED = "pretrained"
"""Those that the framework's own model zoo offers."""

FINE_TUNED = "fine-tuned"
"""From the study's training, unmeasured, that starts at published weights."""


def weights_of(settings: Mapping[str, Any], workload: str) -> str:
    """Return where the weights of a model come from.

    Args:
        settings: of a study; `weights` is one word for all models or one word per model; own models have their own
            `weights`.
        workload: name of the model.
    """
    own = settings.get("models", {}).get(workload)
    weights = own["weights"] if own else settings["weights"]
    return str(weights if isinstance(weights, str) else weights.get(workload, TRAINED))


COSINE, HALVINGS = "cosine", "halvings"
"""Kinds of schedules."""

NEEDED = {
    COSINE: ("kind", "warm_up_steps", "final_rate"),
    HALVINGS: ("kind", "warm_up_steps", "from_share", "halvings"),
}
"""Keys of a schedule, by its kind."""

OF_MODELS = "models"
"""Key of `training` under which models have settings of their own."""

_TUNING = ("clip_norm", "schedule", "weight_decay")
"""Settings that only frameworks have that tune, see runtimes.Runtime.tunes."""


@dataclass(frozen=True)
class _Trained:
    """A training that a study makes: of a measured run, or of weights for inference.

    Attributes:
        workload: name of the model.
        framework: name of the framework.
        optimizer: level of the option.
        rate: learning rate.
        measured: whether it is a run.
    """

    workload: str
    framework: str
    optimizer: str
    rate: float
    measured: bool


def training_of(settings: Mapping[str, Any], workload: str) -> dict[str, Any]:
    """Return how a model is trained: the settings of the study, replaced by the model's own where it has them.

    Args:
        settings: of a study.
        workload: name of the model.
    """
    training: dict[str, Any] = dict(settings["training"])
    # Settings from before models could have their own have no such key.
    own = training.pop(OF_MODELS, {})
    return {**training, **own.get(workload, {})}


def with_models(schema: Mapping[str, Any]) -> Schema:
    """Return the schema of measuring studies with settings of single models in `training`."""
    properties = schema["properties"]
    training = properties["training"]
    keys = {
        name: {word: value for word, value in key.items() if word != "default"}
        for name, key in training["properties"].items()
    }
    of_models = {
        "description": "By model, the settings that it has instead of these.",
        "type": "object",
        "default": {},
        "additionalProperties": {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": keys,
        },
    }
    extended = {**training, "properties": {**training["properties"], OF_MODELS: of_models}}
    return {**schema, "properties": {**properties, "training": extended}}


def check_training(settings: Mapping[str, Any], cells: Iterable[Cell], path: str) -> None:
    """Check weight decay, clipping and schedule against the cells that train and the weights that are trained.

    Args:
        settings: the study's, schema-checked.
        cells: those that can run.
        path: the study file.

    Raises:
        FramewattError: a schedule lacks a key of its kind, has one of another, or ends above a learning rate; a
            framework or an optimizer has no such setting and would silently train without it; or a model that has
            settings of its own is none of the study's, or has a learning rate that is a factor, too.
    """
    cells = list(cells)
    own = settings["training"][OF_MODELS]
    workloads = sorted({cell.workload for cell in cells})
    for name, own_settings in own.items():
        if name not in workloads:
            raise FramewattError(
                f"{path}: training.{OF_MODELS}: {name!r} is not a model of the study. Use {', '.join(workloads)}."
            )
        if "learning_rate" in own_settings and any(cross["learning_rate"] for cross in settings["factors"]):
            raise FramewattError(
                f"{path}: training.{OF_MODELS}.{name}.learning_rate: {own_settings['learning_rate']:g} contradicts "
                "the factor learning_rate. Use one of the two."
            )
    for one in dict.fromkeys(_trained(settings, cells)):
        where = f"{path}: training" + (f".{OF_MODELS}.{one.workload}" if one.workload in own else "")
        training = training_of(settings, one.workload)
        schedule = training["schedule"]
        if schedule:
            _check_keys(schedule, where)
        if not RUNTIMES[one.framework].tunes:
            _check_framework(one, training, where)
        if one.optimizer != LAMB and training["weight_decay"]:
            raise FramewattError(
                f"{where}.weight_decay: {training['weight_decay']:g} is not possible with the optimizer "
                f"{one.optimizer} of {_purpose(one)}. Use null or 0, or {LAMB} as {_key(one)}."
            )
        if schedule and schedule.get("final_rate", 0) > one.rate:
            raise FramewattError(
                f"{where}.schedule.final_rate: {schedule['final_rate']:g} is above the learning rate {one.rate:g} of "
                f"{_purpose(one)}. Use at most that rate."
            )


def _check_keys(schedule: Mapping[str, Any], where: str) -> None:
    needed = NEEDED[schedule["kind"]]
    wrong = [*(key for key in schedule if key not in needed), *(key for key in needed if key not in schedule)]
    if wrong:
        problem = f"{schedule[wrong[0]]} is not for" if wrong[0] in schedule else "missing in"
        raise FramewattError(
            f"{where}.schedule.{wrong[0]}: {problem} a schedule of kind {schedule['kind']}. Use {', '.join(needed)}, "
            "all of them."
        )


def _check_framework(one: _Trained, training: Mapping[str, Any], where: str) -> None:
    """Check that a framework without these settings is given none."""
    names = " and ".join(tuned_frameworks())
    option = OPTIONS["optimizer"]
    refused = [level for level in option.levels["enum"] if RUNTIMES[one.framework].refusal(option, level)]
    if one.optimizer in refused and one.optimizer != option.default:
        others = [level for level in option.levels["enum"] if level == option.default or level not in refused]
        able = " and ".join(name for name in FRAMEWORKS if not RUNTIMES[name].refusal(option, one.optimizer))
        raise FramewattError(
            f"{where}.optimizer: {one.framework} does not have {one.optimizer}, for {_purpose(one)}. Use "
            f"{', '.join(others)}, or {one.optimizer} with {able} alone."
        )
    for key in _TUNING:
        if training[key]:
            value = training[key]["kind"] if key == "schedule" else f"{training[key]:g}"
            raise FramewattError(
                f"{where}.{key}: {one.framework} does not have it, and it is {value} for {_purpose(one)}. Use null, or "
                f"a study of {names} alone."
            )


def _trained(settings: Mapping[str, Any], cells: Iterable[Cell]) -> Iterable[_Trained]:
    for cell in cells:
        changed, training = cell.changed, training_of(settings, cell.workload)
        if cell.phase == "train":
            optimizer = changed.get("optimizer", OPTIONS["optimizer"].default)
            rate = changed.get("learning_rate", training["learning_rate"])
            yield _Trained(cell.workload, cell.framework, str(optimizer), float(rate), measured=True)
        elif cell.framework != ONNX and weights_of(settings, cell.workload) in (TRAINED, FINE_TUNED):
            yield _Trained(
                cell.workload, cell.framework, training["optimizer"], training["learning_rate"], measured=False
            )


def _purpose(one: _Trained) -> str:
    return "runs that train" if one.measured else "weights for inference"


def _key(one: _Trained) -> str:
    return "the factor `optimizer`" if one.measured else "training.optimizer"
