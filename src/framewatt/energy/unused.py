"""Which GPUs did nothing for a run, though it could have used them."""

from collections.abc import Sequence

import numpy as np

from framewatt.energy.accounts import Spans
from framewatt.energy.coverage import Nanoseconds, Values
from framewatt.meters.contract import Channel

_CONTEXT_B = 64 * 2**20
"""A GPU whose memory in use grows by more than this is used, even if it computes nothing: a CUDA context alone takes
some hundred MiB, and keeps clocks and power up."""


def unused_gpus(channels: Sequence[Channel], series: Sequence[tuple[Nanoseconds, Values]], spans: Spans) -> set[str]:
    """GPUs of which every reading says that they computed nothing, and whose memory nobody took.

    A GPU of which a reading failed, or whose utilisation no meter tells, does not count as unused.

    Args:
        channels: the sampled channels.
        series: times, shape (n,), ascending, and values, shape (n,), of each channel.
        spans: of the run's windows; what lies between the first start and the last end is looked at.
    """
    idle: set[str] = set()
    taken: set[str] = set()
    start_ns, end_ns = min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)
    for channel, (time_ns, value) in zip(channels, series, strict=True):
        inside = np.asarray(value)[(np.asarray(time_ns) >= start_ns) & (np.asarray(time_ns) <= end_ns)]
        if channel.quantity == "utilization_percent":
            (idle if len(inside) and (inside == 0).all() else taken).add(channel.domain)
        elif channel.quantity == "memory_used_b" and len(inside) and not np.ptp(inside) <= _CONTEXT_B:
            taken.add(channel.domain)
    return idle - taken
