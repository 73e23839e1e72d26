"""Options of a run: the levels that were requested, and those that were in force, as the engine reads them back."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.study.options import OPTIONS, Level
from framewatt.study.runtimes import runtime_of

RECORDED_SINCE = 6
"""The schema version of records that have `workload.options`."""

_CACHES = "caches"
"""The option that is in force before a run's process starts; the record has its state apart, see runs.caches."""

_UNREAD_BY_NODE = ("threads", "graph_optimization")
"""Options whose level ONNX Runtime for Node.js has no way to report; no other library may leave one unreported."""

_SAME = 1e-6
"""How far a number may be off, relative to it: frameworks store learning rates in single precision."""

Levels = Mapping[str, Mapping[str, Level | None]]
"""By option, the level `requested` and the one `in_force`, None where the engine does not report it."""


def requested(job: Mapping[str, Any]) -> dict[str, Level]:
    """Return the level of every option that a run was to have.

    These are the options that its engine acts on in that phase, and those that its cell names. Not among them are
    defaults that leave the matter to the framework, and a learning rate that follows a schedule, whose rates are in
    `workload.in_force.schedule`.

    Args:
        job: `engine`, `phase`, `options` other than the default, `threads`, and `training`, see planning.jobs.
    """
    named, training = job.get("options", {}), job["training"] or {}
    rate = None if training.get("schedule") else training.get("learning_rate")
    elsewhere = {"threads": job["threads"], "learning_rate": rate}
    levels = {}
    for name, option in OPTIONS.items():
        acted_on = option.is_of(job["phase"]) and name in runtime_of(job["engine"]).honours and not option.leaves_open
        level = named.get(name, elsewhere.get(name, option.default) if acted_on else None)
        if level is not None and name != _CACHES:
            levels[name] = level
    return levels


def in_force(wanted: Mapping[str, Level], reported: Mapping[str, Level | None]) -> dict[str, dict[str, Level | None]]:
    """Return what a record has of its options.

    Args:
        wanted: see `requested`.
        reported: levels in force by option; None where a library has no way to report it.

    Returns:
        By option, `requested` and `in_force`; without the latter where nothing was reported.
    """
    return {
        name: {"requested": level, **({"in_force": reported[name]} if name in reported else {})}
        for name, level in wanted.items()
    }


def ignored(levels: Levels) -> Iterator[str]:
    """Yield for every option that was not in force as requested why the run is invalid.

    Args:
        levels: `workload.options` of a record.
    """
    unread = _UNREAD_BY_NODE if levels.get("client", {}).get("requested") == "node" else ()
    for name, level in levels.items():
        wanted, reported = level["requested"], level.get("in_force")
        if reported is None:
            if name not in unread and ("in_force" in level or wanted != OPTIONS[name].default):
                yield f"option {name}: {wanted} was requested, and the engine does not report what was in force"
        elif not _same(wanted, reported):
            yield f"option {name}: {wanted} was requested, {reported} was in force"


def unconfirmed(levels: Levels) -> Iterator[str]:
    """Yield a flag for every option with a level other than the default that a library has no way to report.

    Args:
        levels: `workload.options` of a record.
    """
    for name, level in levels.items():
        if level.get("in_force", "") is None and level["requested"] != OPTIONS[name].default:
            yield f"option {name}: {level['requested']} was requested; the library does not report what was in force"


def _same(one: Level | None, other: Level | None) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_SAME)
    return one == other
