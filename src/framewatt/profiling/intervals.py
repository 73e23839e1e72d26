"""What a meter gave in the windows of a run, between its updates: for the join with operators."""

from collections.abc import Sequence

import numpy as np

from framewatt.energy.counter_steps import steps_of, without_dips
from framewatt.energy.coverage import Nanoseconds, Samples
from framewatt.energy.knots import changed, fresh, knots_of
from framewatt.meters.contract import COUNTER, Channel
from framewatt.profiling.joules import Intervals
from framewatt.profiling.timeline import Floats

_LAG_SHARE = 0.3
"""Standard uncertainty of a source's delay, as a share of its update period, as windows have it."""


class WindowTime:
    """Seconds within the parts of a window, as if they followed each other without a gap.

    Args:
        spans: start and end of each part in nanoseconds of CLOCK_MONOTONIC, ascending.
    """

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.zero_ns = spans[0][0]
        self.parts_s = (np.array(spans, np.int64) - self.zero_ns) * 1e-9
        self.length_s = float((self.parts_s[:, 1] - self.parts_s[:, 0]).sum())

    def of(self, monotonic_s: Floats) -> Floats:
        """Window time of some instants; of those in a gap, that of the gap.

        Args:
            monotonic_s: seconds of CLOCK_MONOTONIC since `zero_ns`.
        """
        inside = [np.clip(monotonic_s, start, end) - start for start, end in self.parts_s]
        found: Floats = np.sum(inside, axis=0)
        return found


def intervals_of(
    channel: Channel, time_ns: Nanoseconds, value: Floats, time: WindowTime, clock_uncertainty_s: float
) -> Intervals:
    """Joules of a channel between its updates in a window, on the window's time.

    Args:
        channel: of energy or of power.
        time_ns: (n,), CLOCK_MONOTONIC of its readings.
        value: (n,), joules or watts, NaN where a read failed.
        time: of the window.
        clock_uncertainty_s: standard uncertainty of the operators' times on that clock.
    """
    counter = channel.kind == COUNTER
    samples = Samples(time_ns, without_dips(time_ns, value, channel) if counter else value, total=counter)
    t_s: Floats = (samples.time_ns - time.zero_ns).astype(np.float64) * 1e-9
    if counter:
        gained = np.concatenate(([0.0], np.cumsum(steps_of(samples.value, channel)[0])))
        knots = knots_of(t_s, gained, channel.update_period_s, changed(gained))
        at_s, joules = knots.time_s, knots.value
    else:
        knots = knots_of(
            t_s, samples.value, channel.update_period_s, fresh(t_s, samples.value, channel.update_period_s)
        )
        # A mean over a span belongs to its middle.
        at_s = knots.time_s - channel.average_s / 2
        joules = np.concatenate(([0.0], np.cumsum(np.diff(at_s) * (knots.value[1:] + knots.value[:-1]) / 2)))
    edges, energies = [0.0], []
    for start, end in time.parts_s:
        inside = at_s[(at_s > start) & (at_s < end)]
        part = np.concatenate(([start], inside, [end]))
        energies.append(np.diff(np.interp(part, at_s, joules)))
        edges += (edges[-1] + part[1:] - start).tolist()
    lag = (_LAG_SHARE * channel.update_period_s, channel.late_s / 2, channel.average_s / 12**0.5, clock_uncertainty_s)
    return Intervals(
        np.array(edges),
        np.concatenate(energies),
        channel.resolution if counter else 0.0,
        float(np.linalg.norm(lag)),
    )
