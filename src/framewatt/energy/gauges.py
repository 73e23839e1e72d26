"""Gauges other than power over windows: utilisation, memory, temperature, clocks; and GPUs that a run did not use."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from framewatt.energy.accounts import Spans
from framewatt.meters.contract import GAUGE
from framewatt.meters.trace import Readings

Summary = dict[str, dict[str, dict[str, float]]]
"""By domain and quantity: `mean` and `max`."""


def summaries(
    trace: Readings,
    windows: Mapping[str, Sequence[tuple[int, int]]],
    leave_out: Collection[str] = (),
) -> dict[str, Summary]:
    """Return means and maxima of the good readings in every window; gauges without good readings there are left out.

    Args:
        trace: of the run.
        windows: the parts of each window, start and end in nanoseconds. A reading on an edge belongs to both sides.
        leave_out: quantities not to summarise.
    """
    by_window: dict[str, Summary] = {name: {} for name in windows}
    for index, channel in enumerate(trace.channels):
        if channel.kind != GAUGE or channel.quantity in leave_out:
            continue
        time_ns, value = trace.read_channel(index)
        good = np.isfinite(value)
        parts_of_spans = _count_in_spans(
            time_ns[good], value[good], [span for spans in windows.values() for span in spans]
        )
        for name, spans in windows.items():
            parts = [part for part in (next(parts_of_spans) for _ in spans) if part[0]]
            quantities = by_window[name].setdefault(channel.domain, {})
            if parts and channel.quantity not in quantities:
                count = sum(part[0] for part in parts)
                mean = sum(part[1] for part in parts) / count
                quantities[channel.quantity] = {"mean": mean, "max": max(part[2] for part in parts)}
    return {
        name: {d: quantities for d, quantities in summary.items() if quantities} for name, summary in by_window.items()
    }


def _count_in_spans(time_ns: Any, value: Any, spans: Sequence[tuple[int, int]]) -> Any:
    """Return the count, sum and maximum of the readings in each span."""
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    first, after = np.searchsorted(time_ns, starts, side="left"), np.searchsorted(time_ns, ends, side="right")
    # Every other slice is the time between two spans; the extra value lets a slice end after the last reading.
    slices = np.stack([first, after], axis=1).ravel()
    padded = np.append(value, 0.0)
    sums, most = np.add.reduceat(padded, slices)[::2], np.maximum.reduceat(padded, slices)[::2]
    return iter(zip((after - first).tolist(), sums.tolist(), most.tolist(), strict=True))


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
    """Return the columns of TELEMETRY for a window.

    Args:
        window: of a run record.
        domain: a GPU (`gpu:0`); None takes all GPUs together.

    Returns:
        None for unknown values, and then `telemetry_unknown` has the reason.
    """
    gauges = [
        summary for name, summary in window["gauges"].items() if name.startswith("gpu:") and domain in (None, name)
    ]
    known = {column: _together(column, gauges) for column in _QUANTITIES}
    missing = [column for column, value in known.items() if value is None]
    why = f"the meters report no {', '.join(missing)}" if gauges and missing else None
    return known | {_UNKNOWN: why if gauges else "no meter of a GPU"}


def _together(column: str, gauges: list[Mapping[str, Any]]) -> float | None:
    """Return one number for all GPUs; None where it is missing for any of them."""
    means: list[float] = [gauge[quantity]["mean"] for gauge in gauges if (quantity := _QUANTITIES[column]) in gauge]
    if not gauges or len(means) < len(gauges):
        return None
    return sum(means) if column == _ADDED else sum(means) / len(means)


_COMPUTED, _TAKEN = "utilization_percent", "memory_used_b"

_CONTEXT_B = 64 * 2**20
"""A GPU counts as used if its memory in use grows by more than this, even if it computes nothing: a CUDA context alone
takes some hundred MiB, and keeps clocks and power up."""


def unused_gpus(trace: Readings, spans: Spans) -> set[str]:
    """Return the GPUs that computed nothing in every reading, and on which nobody took memory.

    A GPU with a failed reading, or without a channel of utilisation, does not count as unused.

    Args:
        trace: of the run.
        spans: of the run's windows; readings from the first start to the last end count.
    """
    idle: set[str] = set()
    taken: set[str] = set()
    start_ns, end_ns = min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)
    for index, channel in enumerate(trace.channels):
        if channel.quantity not in (_COMPUTED, _TAKEN):
            continue
        time_ns, value = trace.read_channel(index)
        inside = np.asarray(value)[(np.asarray(time_ns) >= start_ns) & (np.asarray(time_ns) <= end_ns)]
        if channel.quantity == _COMPUTED:
            (idle if len(inside) and (inside == 0).all() else taken).add(channel.domain)
        elif len(inside) and not np.ptp(inside) <= _CONTEXT_B:
            taken.add(channel.domain)
    return idle - taken
