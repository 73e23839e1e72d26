"""Study files under earlier defaults: what a study was begun with it goes on with, and a package is read as it was.

Each default that changed what counts was another one before. A plan holds the settings in full, so that it shows which.
"""

from collections.abc import Mapping
from typing import Any

from framewatt.study.stopping_rule import with_looks_then

_REPEAT = "repeat"
"""The default of `disturbance`, before disturbed runs were set aside."""

_UNMETERED = "unmetered"
"""The key of `statistics` that says what totals hold of processors without a meter."""


def as_begun(content: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """A study file that leaves to defaults what its plan was made with: it names those of then.

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


def without_unsaid(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """The `statistics` of a study, without what is None since its plan is from before there was such a key.

    Args:
        statistics: with defaults filled in.
    """
    return {key: value for key, value in statistics.items() if key != _UNMETERED or value is not None}
