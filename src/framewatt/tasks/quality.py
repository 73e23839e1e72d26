"""Quality as records hold it, by metric.

Each metric has `value` (None where it is unknown), `unit`, `better`, and the `reason` why it is unknown, else None;
also `method`, how it was counted, if it can be counted in more than one way, and the facts of a judgement.
"""

from collections.abc import Mapping
from typing import Any

from framewatt.tasks import METRICS, TASKS
from framewatt.tasks.contract import Judged, Metric, Quality, Task

__all__ = ["HINT", "Quality", "described", "hints_of", "is_known", "primary_of", "quality_of", "task_in", "values_of"]

HINT = "hint"
"""Key of what outputs may have been meant as, see Judged."""


def hints_of(quality: Quality) -> list[str]:
    """Return what outputs may have been meant as, each once; empty where there is no doubt."""
    return list(dict.fromkeys(str(metric[HINT]) for metric in quality.values() if HINT in metric))


def quality_of(judged: Judged) -> dict[str, dict[str, Any]]:
    """Return the metrics of a judgement, as records hold them."""
    hint = {} if judged.hint is None else {HINT: judged.hint}
    return described(judged.values, judged.unknown, judged.method, {**judged.facts, **hint}, judged.meaningless)


def described(
    values: Mapping[str, float | None],
    unknown: str | None,
    method: str | None = None,
    facts: Mapping[str, float | str] | None = None,
    meaningless: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return metrics by name as records hold them.

    Args:
        values: by metric; None where it is unknown.
        unknown: why values are unknown; None where there is no reason.
        method: how they were counted; None where there is a single way.
        facts: further numbers by name, and a hint (see `Judged`); None means none.
        meaningless: why single values are unknown, by metric, where `unknown` gives no reason; None means none.
    """
    # A record may come from anywhere, with metrics of its own; verify reports them.
    metrics = {name: METRICS.get(name, Metric(name, name)) for name in values}
    return {
        name: {
            "value": value,
            "unit": known.unit,
            "better": known.better,
            "reason": (unknown or (meaningless or {}).get(name)) if value is None else None,
            **({} if method is None else {"method": method}),
            **(facts or {}),
        }
        for (name, value), known in zip(values.items(), metrics.values(), strict=True)
    }


def values_of(quality: Quality) -> dict[str, float | None]:
    """Return values by metric."""
    return {name: metric["value"] for name, metric in quality.items()}


def primary_of(quality: Quality) -> str | None:
    """Return the name of the metric that choices are compared by; None where no task has these metrics."""
    task = task_in(quality)
    return None if task is None else task.primary.name


def task_in(quality: Quality) -> Task | None:
    """Return the task of the primary metric in a quality; None where no task has that metric."""
    return next((task for task in TASKS.values() if task.primary.name in quality), None)


def is_known(quality: Quality) -> bool:
    """Return whether the metric that choices are compared by is known."""
    name = primary_of(quality)
    return name is not None and quality[name]["value"] is not None
