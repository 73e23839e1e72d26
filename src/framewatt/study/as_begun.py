"""Study files under earlier defaults: a study that has a plan keeps the defaults with which the plan was made.

A plan holds all settings, so it shows which defaults were in force. The same is used to read packages.
"""

from collections.abc import Mapping
from typing import Any

from framewatt.study.stopping_rule import with_looks_then

_REPEAT = "repeat"
"""The default of `disturbance`, before disturbed runs were set aside."""

_UNMETERED = "unmetered"
"""The key of `statistics` that says what totals hold of processors without a meter."""


def as_begun(content: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study file that names the defaults with which its plan was made, where these have changed since.

    Args:
        content: what the study file says, of a study that measures or reads files.
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
    """The `statistics` of a study, without what is None since its plan is from before there was such a key.

    Args:
        statistics: with defaults filled in.
    """
    return {key: value for key, value in statistics.items() if key != _UNMETERED or value is not None}
