"""Which GPUs did nothing for a run, though it could have used them."""

import numpy as np

from framewatt.energy.accounts import Spans
from framewatt.meters.trace import Readings

_COMPUTED, _TAKEN = "utilization_percent", "memory_used_b"

_CONTEXT_B = 64 * 2**20
"""A GPU whose memory in use grows by more than this is used, even if it computes nothing: a CUDA context alone takes
some hundred MiB, and keeps clocks and power up."""


def unused_gpus(trace: Readings, spans: Spans) -> set[str]:
    """GPUs of which every reading says that they computed nothing, and whose memory nobody took.

    A GPU of which a reading failed, or whose utilisation no meter tells, does not count as unused.

    Args:
        trace: of the run.
        spans: of the run's windows; what lies between the first start and the last end is looked at.
    """
    idle: set[str] = set()
    taken: set[str] = set()
    start_ns, end_ns = min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)
    for index, channel in enumerate(trace.channels):
        if channel.quantity not in (_COMPUTED, _TAKEN):
            continue
        time_ns, value = trace.of(index)
        inside = np.asarray(value)[(np.asarray(time_ns) >= start_ns) & (np.asarray(time_ns) <= end_ns)]
        if channel.quantity == _COMPUTED:
            (idle if len(inside) and (inside == 0).all() else taken).add(channel.domain)
        elif len(inside) and not np.ptp(inside) <= _CONTEXT_B:
            taken.add(channel.domain)
    return idle - taken
