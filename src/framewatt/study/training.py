"""Settings of a study's `training` that its schema cannot check: which optimizer and which framework they are for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.study.cell import Cell
from framewatt.study.options import LAMB, OPTIONS, TUNED
from framewatt.study.runtimes import ONNX
from framewatt.study.weights import FINE_TUNED, TRAINED, weights_of

COSINE, HALVINGS = "cosine", "halvings"
"""Kinds of schedules."""

NEEDED = {
    COSINE: ("kind", "warm_up_steps", "final_rate"),
    HALVINGS: ("kind", "warm_up_steps", "from_share", "halvings"),
}
"""Keys of a schedule, by its kind."""

_TUNING = ("clip_norm", "schedule", "weight_decay")
"""Settings that only the frameworks of options.TUNED have."""


@dataclass(frozen=True)
class _Trained:
    """A training that a study makes: of a measured run, or of weights for inference.

    Attributes:
        framework: in which.
        optimizer: level of the option.
        rate: learning rate.
        measured: whether it is a run.
    """

    framework: str
    optimizer: str
    rate: float
    measured: bool


def check_training(settings: Mapping[str, Any], cells: Iterable[Cell], path: str) -> None:
    """Check weight decay, clipping and schedule against the cells that train and the weights that are trained.

    Args:
        settings: the study's, schema-checked.
        cells: those that can run.
        path: the study file.

    Raises:
        FramewattError: a schedule lacks a key of its kind, has one of another, or ends above a learning rate; or a
            framework or an optimizer has no such setting and would silently train without it.
    """
    training = settings["training"]
    schedule = training["schedule"]
    where = f"{path}: training"
    if schedule:
        _check_keys(schedule, where)
    trained = list(dict.fromkeys(_trained(settings, cells)))
    for one in trained:
        if one.framework not in TUNED:
            _check_framework(one, training, where)
        if one.optimizer != LAMB and training["weight_decay"]:
            raise FramewattError(
                f"{where}.weight_decay: found {training['weight_decay']:g} with the optimizer {one.optimizer} of "
                f"{_purpose(one)}; allowed: null or 0, or {LAMB} as {_key(one)}"
            )
        if schedule and schedule.get("final_rate", 0) > one.rate:
            raise FramewattError(
                f"{where}.schedule.final_rate: found {schedule['final_rate']:g} above the learning rate {one.rate:g} "
                f"of {_purpose(one)}; allowed: at most that rate"
            )


def _check_keys(schedule: Mapping[str, Any], where: str) -> None:
    needed = NEEDED[schedule["kind"]]
    wrong = [*(key for key in schedule if key not in needed), *(key for key in needed if key not in schedule)]
    if wrong:
        found = f"{schedule[wrong[0]]}" if wrong[0] in schedule else "nothing"
        raise FramewattError(
            f"{where}.schedule.{wrong[0]}: found {found} with kind {schedule['kind']}; allowed: {', '.join(needed)}, "
            "all of them"
        )


def _check_framework(one: _Trained, training: Mapping[str, Any], where: str) -> None:
    """Check that a framework without these settings is given none."""
    names = " and ".join(TUNED)
    if one.optimizer == LAMB:
        others = ", ".join(level for level in OPTIONS["optimizer"].levels["enum"] if level != LAMB)
        raise FramewattError(
            f"{where}.optimizer: found {LAMB} for {_purpose(one)} of {one.framework}; allowed: {others}, or "
            f"{LAMB} with {names} alone"
        )
    for key in _TUNING:
        if training[key]:
            found = training[key]["kind"] if key == "schedule" else f"{training[key]:g}"
            raise FramewattError(
                f"{where}.{key}: found {found} for {_purpose(one)} of {one.framework}; allowed: null, or a study of "
                f"{names} alone"
            )


def _trained(settings: Mapping[str, Any], cells: Iterable[Cell]) -> Iterable[_Trained]:
    training = settings["training"]
    for cell in cells:
        changed = cell.changed
        if cell.phase == "train":
            optimizer = changed.get("optimizer", OPTIONS["optimizer"].default)
            rate = changed.get("learning_rate", training["learning_rate"])
            yield _Trained(cell.framework, str(optimizer), float(rate), measured=True)
        elif cell.framework != ONNX and weights_of(settings, cell.workload) in (TRAINED, FINE_TUNED):
            yield _Trained(cell.framework, training["optimizer"], training["learning_rate"], measured=False)


def _purpose(one: _Trained) -> str:
    return "runs that train" if one.measured else "weights for inference"


def _key(one: _Trained) -> str:
    return "the factor `optimizer`" if one.measured else "training.optimizer"
