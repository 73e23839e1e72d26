"""A GPU's mean utilisation, memory and temperature over a window."""

from collections.abc import Mapping
from typing import Any

_QUANTITIES = {
    "gpu_utilization_percent": "utilization_percent",
    "gpu_memory_utilization_percent": "memory_utilization_percent",
    "gpu_memory_used_b": "memory_used_b",
    "gpu_temperature_c": "temperature_c",
}
"""Column of a frame -> quantity of a GPU's channels."""

_ADDED = "gpu_memory_used_b"
"""The only column that is a sum over several GPUs; all others are means."""

_UNKNOWN = "telemetry_unknown"

TELEMETRY = [*_QUANTITIES, _UNKNOWN]
"""Columns of a frame: means over the window's readings, and why values are missing."""


def telemetry(window: Mapping[str, Any], domain: str | None = None) -> dict[str, Any]:
    """The columns of TELEMETRY for a window.

    Args:
        window: of a run record.
        domain: a GPU (`gpu:0`); None takes all GPUs together.

    Returns:
        None for what is unknown, and then `telemetry_unknown` says why.
    """
    gauges = [found for name, found in window["gauges"].items() if name.startswith("gpu:") and domain in (None, name)]
    known = {column: _together(column, gauges) for column in _QUANTITIES}
    missing = [column for column, value in known.items() if value is None]
    why = f"the meters told nothing of {', '.join(missing)}" if gauges and missing else None
    return known | {_UNKNOWN: why if gauges else "no meter of a GPU"}


def _together(column: str, gauges: list[Mapping[str, Any]]) -> float | None:
    """One number for all GPUs; None where it is missing for any of them."""
    means: list[float] = [found[quantity]["mean"] for found in gauges if (quantity := _QUANTITIES[column]) in found]
    if not gauges or len(means) < len(gauges):
        return None
    return sum(means) if column == _ADDED else sum(means) / len(means)
