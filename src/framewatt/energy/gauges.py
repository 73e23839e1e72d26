"""Mean and maximum over windows of the gauges other than power: utilisation, memory, temperature, clocks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from framewatt.meters.contract import GAUGE
from framewatt.meters.trace import Readings

Summary = dict[str, dict[str, dict[str, float]]]
"""By domain and quantity: `mean` and `max`."""


def summaries(
    trace: Readings,
    windows: Mapping[str, Sequence[tuple[int, int]]],
    leave_out: Collection[str] = (),
) -> dict[str, Summary]:
    """Means and maxima of the good readings in every window; a gauge without good readings there is left out.

    Args:
        trace: of the run.
        windows: the parts of each window, start and end in nanoseconds. A reading on an edge belongs to both sides.
        leave_out: quantities not to summarise.
    """
    found: dict[str, Summary] = {name: {} for name in windows}
    for index, channel in enumerate(trace.channels):
        if channel.kind != GAUGE or channel.quantity in leave_out:
            continue
        time_ns, value = trace.of(index)
        good = np.isfinite(value)
        of_spans = _of_spans(time_ns[good], value[good], [span for spans in windows.values() for span in spans])
        for name, spans in windows.items():
            parts = [part for part in (next(of_spans) for _ in spans) if part[0]]
            quantities = found[name].setdefault(channel.domain, {})
            if parts and channel.quantity not in quantities:
                count = sum(part[0] for part in parts)
                mean = sum(part[1] for part in parts) / count
                quantities[channel.quantity] = {"mean": mean, "max": max(part[2] for part in parts)}
    return {name: {d: quantities for d, quantities in summary.items() if quantities} for name, summary in found.items()}


def _of_spans(time_ns: Any, value: Any, spans: Sequence[tuple[int, int]]) -> Any:
    """Count, sum and maximum of the readings in each span."""
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    first, after = np.searchsorted(time_ns, starts, side="left"), np.searchsorted(time_ns, ends, side="right")
    # Every other slice is the time between two spans; the extra value lets a slice end after the last reading.
    slices = np.stack([first, after], axis=1).ravel()
    padded = np.append(value, 0.0)
    sums, most = np.add.reduceat(padded, slices)[::2], np.maximum.reduceat(padded, slices)[::2]
    return iter(zip((after - first).tolist(), sums.tolist(), most.tolist(), strict=True))
