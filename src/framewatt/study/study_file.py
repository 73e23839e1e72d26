"""The file of a study that measures: its content becomes validated settings, and those become cells."""

import itertools
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from framewatt.base.errors import FramewattError
from framewatt.base.typed_schema import Schema
from framewatt.base.validation import validate
from framewatt.study.cell import FIXED, Cell, Chosen
from framewatt.study.factors import NATIVE, shared
from framewatt.study.options import Level, optional, with_options
from framewatt.study.own_models import OwnModel, own_models
from framewatt.study.runtimes import RUNTIMES, with_runtimes
from framewatt.study.stopping_rule import check_rule, most_blocks, with_looks, with_looks_then
from framewatt.study.study import MeasuredStudy, threads_of
from framewatt.study.training import check_training, with_models

MOST_RUNS = 100_000
"""Most runs of one study: at a minute each, ten weeks."""


class Lacks(Protocol):
    """What an interpreter lacks, see framewatt.planning.needed.Absent."""

    @property
    def why(self) -> Mapping[str, str]:
        """By name of the module or provider."""

    def reason(self, cell: Cell) -> str | None:
        """Return why a cell cannot run without them, or None where it can."""


def schema_of_measuring(schema: Mapping[str, Any]) -> Schema:
    """Return the part of the study schema for studies that measure, with options and settings of single models."""
    properties = {key: sub for key, sub in schema["properties"].items() if key not in ("files", "packages")}
    measuring = {**schema, "required": [*schema["required"], "factors"], "properties": properties}
    return with_models(with_options(with_runtimes(measuring)))


def load_study(
    path: Path,
    content: Mapping[str, Any],
    schema: Mapping[str, Any],
    known: Mapping[str, Iterable[str]],
    device: str,
    processors: int,
    lacks: Lacks | None = None,
) -> MeasuredStudy:
    """Check and expand a study file.

    Args:
        path: the study file.
        content: its content.
        schema: config/schemas/study.schema.yaml, loaded.
        known: what exists in this project: `dataset` names, and `workload` names per framework under
            `workload/<framework>`.
        device: `cpu` or `cuda`, already resolved.
        processors: how many a process may use, which is what `threads: auto` means.
        lacks: what the interpreter that runs everything lacks; None where environments are built.

    Raises:
        FramewattError: one line with the file, the key, what is wrong, and what to write.
    """
    settings = validate(content, schema_of_measuring(schema), str(path))
    settings["repetitions"] = with_looks(settings["repetitions"])
    settings["statistics"] = without_unset(settings["statistics"])
    instruments = settings["instruments"]
    if instruments["meters"] == "auto" and instruments["fallback"] != "estimate":
        raise FramewattError(
            f"{path}: instruments.meters: 'auto' needs fallback: estimate, and it is {instruments['fallback']}. "
            "Name a list of meters, or set fallback: estimate."
        )
    if settings["repeated_operators"] and not settings["operators"]:
        raise FramewattError(
            f"{path}: repeated_operators: {settings['repeated_operators']} needs operators: true, since operators are "
            "chosen by their joules. Set operators: true, or repeated_operators: 0."
        )
    defaults = _default_levels(settings, processors)
    _check_compared(settings["statistics"]["compare"], defaults, str(path))
    own = own_models(path, settings)
    for name, model in own.items():
        taken = next((key for key, names in known.items() if key != "dataset" and name in names), None)
        if taken:
            raise FramewattError(f"{path}: models: {name!r} is the name of a model of {taken}. Use another name.")
        known = _with_own(known, model)
    _check_count(settings, defaults, str(path))
    cells: dict[str, Cell] = {}
    for index, cross in enumerate(settings["factors"]):
        _check_known(cross, known, f"{path}: factors.{index}")
        for cell in _expand(cross, device, defaults):
            if cells.setdefault(cell.id, cell) != cell:
                raise _name_error(cell, cells[cell.id], f"{path}: factors.{index}")
    _check_weights(settings["weights"], {cell.workload for cell in cells.values()} - set(own), str(path))
    excluded = [cell for cell in cells.values() if any(_matches(cell, rule) for rule in settings["exclude"])]
    included = [cell for cell in cells.values() if cell not in excluded]
    reasons = {cell: cell.unsupported(device) or (lacks.reason(cell) if lacks else None) for cell in included}
    unsupported = [(cell, reason) for cell, reason in reasons.items() if reason]
    runnable = [cell for cell, reason in reasons.items() if not reason]
    if not runnable:
        raise FramewattError(
            f"{path}: factors: no cell can run ({len(excluded)} excluded, {len(unsupported)} unsupported"
            f"{f': {unsupported[0][1]}' if unsupported else ''}). Change the factors so that at least one cell can."
        )
    check_training(settings, runnable, str(path))
    _check_passes(settings, runnable, str(path))
    check_rule(settings, _groups(runnable, settings["statistics"]["compare"]), str(path))
    return MeasuredStudy(
        *(path, settings, device, processors, tuple(runnable), tuple(excluded), tuple(unsupported)),
        absent=dict(lacks.why) if lacks else {},
    )


def _name_error(cell: Cell, other: Cell, where: str) -> FramewattError:
    """Return the error for two cells of one name: levels agree to 6 digits, or names join to the same text."""
    levels = other.to_dict()
    name, level = next((name, level) for name, level in cell.to_dict().items() if levels[name] != level)
    return FramewattError(
        f"{where}.{name}: {level!r} and {levels[name]!r} give two cells the name {cell.id}. Use levels with different "
        "names; numbers must differ in their first 6 digits."
    )


def _with_own(known: Mapping[str, Iterable[str]], model: OwnModel) -> dict[str, Iterable[str]]:
    """`known` with an own model and its data set added."""
    own = {"dataset": model.dataset, **{f"workload/{framework}": model.name for framework in model.frameworks}}
    return {**known, **{key: [*known.get(key, []), name] for key, name in own.items()}}


def _check_known(cross: Mapping[str, Any], known: Mapping[str, Iterable[str]], where: str) -> None:
    frameworks = {RUNTIMES[runtime].framework for runtime in cross["runtime"]}
    choices = [("dataset", set(known["dataset"]), "")]
    choices += [
        ("workload", set(known.get(f"workload/{framework}", [])), f" (in {framework})")
        for framework in sorted(frameworks)
    ]
    for key, allowed, where_known in choices:
        for level in cross[key]:
            if level not in allowed:
                names = ", ".join(sorted(allowed)) or "no level here, since no model of the study is an ONNX file"
                raise FramewattError(f"{where}.{key}: {level!r} is unknown{where_known}. Use {names}.")


def _check_count(settings: Mapping[str, Any], defaults: Mapping[str, Level], path: str) -> None:
    """Refuse a study of more than MOST_RUNS runs before expanding its cells: ten short lines can name a billion."""
    counts = (
        math.prod(len(cross[name]) for name in FIXED) * math.prod(len(cross[name] or "1") for name in defaults)
        for cross in settings["factors"]
    )
    runs = most_blocks(settings) * sum(counts)
    if runs > MOST_RUNS:
        raise FramewattError(
            f"{path}: factors and repetitions: {runs} runs are more than {MOST_RUNS}. Remove levels or repetitions, or "
            "make several studies of it."
        )


def _check_weights(weights: str | Mapping[str, str], zoo_models: Iterable[str], path: str) -> None:
    """Check that `weights` names models of the study only: after a typo, the model meant would silently be trained."""
    for name in weights if isinstance(weights, Mapping) else ():
        if name not in zoo_models:
            raise FramewattError(
                f"{path}: weights: {name!r} is not a zoo's model of the study. Use {', '.join(sorted(zoo_models))}."
            )


def _default_levels(settings: Mapping[str, Any], processors: int) -> dict[str, Level]:
    """Return the options that any entry of `factors` names, and their level in cells that do not name them."""
    elsewhere = {"threads": threads_of(settings, processors), "learning_rate": settings["training"]["learning_rate"]}
    return {
        option.name: elsewhere[option.name] if option.default is None else option.default
        for option in optional()
        if any(cross[option.name] for cross in settings["factors"])
    }


def _check_passes(settings: Mapping[str, Any], cells: Iterable[Cell], path: str) -> None:
    """Refuse a number of passes where something else paces the window, which would silently not make them."""
    paced = [cell.id for cell in cells if cell.changed.get("client") == "node" or "load" in cell.changed]
    if settings["window"]["passes"] > 1 and paced:
        raise FramewattError(
            f"{path}: window.passes: {settings['window']['passes']} passes are not possible in {paced[0]}. Use 1, or a "
            "study without Node.js and requests at a rate."
        )


def _check_compared(compared: Iterable[str], options: Iterable[str], path: str) -> None:
    allowed = (*FIXED, *options)
    for factor in compared:
        if factor == "load":
            raise FramewattError(
                f"{path}: statistics.compare: 'load' cannot be compared, since nobody chooses how many requests come. "
                "Name factors that can be chosen; each load is compared by itself."
            )
        if factor not in allowed:
            raise FramewattError(
                f"{path}: statistics.compare: {factor!r} is not a factor of the study. Use {', '.join(allowed)}."
            )


def _expand(cross: Mapping[str, Any], device: str, defaults: Mapping[str, Level]) -> Iterable[Cell]:
    named = {name: cross[name] or [level] for name, level in defaults.items()}
    for levels in itertools.product(*(cross[name] for name in FIXED), *named.values()):
        fixed = dict(zip(FIXED, levels, strict=False))
        if fixed["provider"] == "default":
            fixed["provider"] = device if RUNTIMES[str(fixed["runtime"])].has_providers else NATIVE
        chosen = zip(named, levels[len(FIXED) :], strict=True)
        yield Cell(**fixed, options=tuple(Chosen(name, level, level == defaults[name]) for name, level in chosen))


def _groups(cells: Iterable[Cell], compared: Iterable[str]) -> list[list[Cell]]:
    """Groups of cells that differ in compared factors only."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        levels = cell.to_dict()
        groups.setdefault(tuple(levels[name] for name in shared(levels, compared)), []).append(cell)
    return list(groups.values())


def _matches(cell: Cell, rule: Mapping[str, Any]) -> bool:
    levels = cell.to_dict()
    return all(name in levels and levels[name] == level for name, level in rule.items())


_REPEAT = "repeat"
"""The default of `disturbance`, before disturbed runs were set aside."""

_UNMETERED = "unmetered"
"""The key of `statistics` for what totals include of processors without a meter."""


def with_planned_defaults(content: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study file that names the defaults with which its plan was made, where these have changed since.

    Args:
        content: of the study file, of a study that measures or reads logs.
        plan: of the study; empty where there is none.
    """
    settings = plan.get("settings") or {}
    completed = with_looks_then(content, plan)
    if settings.get("disturbance") == _REPEAT:
        completed = {"disturbance": _REPEAT, **completed}
    then, now = settings.get("statistics"), completed.get("statistics") or {}
    if isinstance(then, Mapping) and isinstance(now, Mapping) and _UNMETERED not in {*then, *now}:
        completed["statistics"] = {**now, _UNMETERED: None}
    return completed


def without_unset(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `statistics` of a study without a key that is None because its plan is older than the key.

    Args:
        statistics: with defaults filled in.
    """
    return {key: value for key, value in statistics.items() if key != _UNMETERED or value is not None}
