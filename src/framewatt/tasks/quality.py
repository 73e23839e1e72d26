"""Quality as records hold it: every metric of the task with its unit, its direction, and why it is unknown."""

from collections.abc import Mapping
from typing import Any

from framewatt.tasks import METRICS, TASKS
from framewatt.tasks.contract import Judged, Metric

Quality = Mapping[str, Mapping[str, Any]]
"""By metric: `value` (None where it is unknown), `unit`, `better`, and the `reason` why it is unknown, else None.

And `method`, how it was counted, of a metric that can be counted in more than one way; and the facts of a judgement.
"""


HINT = "hint"
"""Key of what outputs may have been meant as, see Judged."""


def hints_of(quality: Quality) -> list[str]:
    """What outputs may have been meant as, each once; empty where there is no doubt."""
    return list(dict.fromkeys(str(told[HINT]) for told in quality.values() if HINT in told))


def quality_of(judged: Judged) -> dict[str, dict[str, Any]]:
    """The metrics of a judgement, as records hold them."""
    hint = {} if judged.hint is None else {HINT: judged.hint}
    return described(judged.values, judged.unknown, judged.method, {**judged.facts, **hint}, judged.meaningless)


def described(
    values: Mapping[str, float | None],
    unknown: str | None,
    method: str | None = None,
    facts: Mapping[str, float | str] | None = None,
    meaningless: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Any]]:
    """Metrics by name as records hold them.

    Args:
        values: by metric; None where it is unknown.
        unknown: why values are unknown; None where there is no reason.
        method: how they were counted; None where there is one way.
        facts: further numbers by name, and a hint (see `Judged`); None are none.
        meaningless: why single values are unknown, by metric, where `unknown` gives no reason; None are none.
    """
    # A record may come from anywhere, with metrics of its own; what checks packages tells of them.
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
    """Values by metric."""
    return {name: told["value"] for name, told in quality.items()}


def primary_of(quality: Quality) -> str | None:
    """Name of the metric that choices are compared by; None where the quality is that of no task."""
    return next((task.primary.name for task in TASKS.values() if task.primary.name in quality), None)


def is_known(quality: Quality) -> bool:
    """Whether the metric that choices are compared by is known."""
    name = primary_of(quality)
    return name is not None and quality[name]["value"] is not None
