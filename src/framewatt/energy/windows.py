"""Windows: how well readings cover one, and its energy with its uncertainty (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framewatt.meters.contract import Channel

Nanoseconds = NDArray[np.int64]
Values = NDArray[np.float64]

LONG_GAP_PERIODS = 3
"""This many planned periods without a good reading are a gap; fewer are a late reading."""

_SHORTEST_GAP_S = 0.1
"""Shortest gap in seconds: on a healthy machine, a process may be this late."""

LARGEST_GAP_SHARE = 0.03
"""Largest share of a window that may lie in gaps; with more the energy would be guesswork, so the window is invalid."""


class Samples:
    """The good samples of a channel, for any number of windows.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        values: shape (n,), NaN where the read failed.
        highest: values above it count as failed reads, such as all ones from a missing register.
        total: whether values are a running total; of several at one instant, only the last is kept.

    Raises:
        ValueError: the times do not ascend.
    """

    def __init__(self, time_ns: Nanoseconds, values: Values, highest: float | None = None, total: bool = False) -> None:
        time_ns, values = np.asarray(time_ns, dtype=np.int64), np.asarray(values, dtype=np.float64)
        if (time_ns[1:] < time_ns[:-1]).any():
            raise ValueError("sample times do not ascend")
        good = np.isfinite(values)
        if highest is not None:
            good &= ~(values > highest)
        self._failed_ns = time_ns[~good]
        self.time_ns, self.value = (time_ns, values) if good.all() else (time_ns[good], values[good])
        last = np.append(self.time_ns[1:] > self.time_ns[:-1], True)[: len(self.time_ns)]
        if total and not last.all():
            self.time_ns, self.value = self.time_ns[last], self.value[last]

    def around(self, start_ns: int, end_ns: int) -> tuple[int, int, int]:
        """Return the samples relevant to a window: those inside, and the nearest one on either side.

        Returns:
            index of the first of them, index after the last, and the number of failed reads inside the window.

        Raises:
            ValueError: `end_ns` is not after `start_ns`.
        """
        if end_ns <= start_ns:
            raise ValueError(f"window ends at {end_ns} ns, not after its start at {start_ns} ns")
        first = max(int(np.searchsorted(self.time_ns, start_ns, side="right")) - 1, 0)
        last = min(int(np.searchsorted(self.time_ns, end_ns, side="left")) + 1, len(self.time_ns))
        failed = np.searchsorted(self._failed_ns, end_ns, side="right") - np.searchsorted(self._failed_ns, start_ns)
        return first, last, int(failed)

    def seconds(self, instants_ns: Nanoseconds | int) -> Values:
        """Return times as seconds since the first good sample, so that floats keep nanosecond differences exact."""
        return np.asarray((np.asarray(instants_ns) - (self.time_ns[0] if len(self.time_ns) else 0)) * 1e-9)


def coverage(t: Nanoseconds, start_ns: int, end_ns: int) -> tuple[float | None, int, tuple[str, ...]]:
    """Return how far good samples cover a window.

    Returns:
        the largest gap in seconds, the number of samples inside, and why they do not cover the window, if so.
    """
    inside = int(np.count_nonzero((t >= start_ns) & (t <= end_ns)))
    gap_s = float(np.diff(t).max() * 1e-9) if len(t) > 1 else None
    reasons: tuple[str, ...] = ()
    if len(t) < 2:
        reasons += (f"{len(t)} good samples, at least 2 are needed",)
    elif t[0] > start_ns:
        reasons += (f"trace begins {(t[0] - start_ns) * 1e-9:.3g} s after the window",)
    elif t[-1] < end_ns:
        reasons += (f"trace ends {(end_ns - t[-1]) * 1e-9:.3g} s before the window",)
    return gap_s, inside, reasons


def judge_gaps(
    widths_s: Values, duration_s: float, period_s: float, where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the reasons why gaps make a window invalid, and flags for gaps that do not.

    Args:
        widths_s: seconds between the relevant readings.
        duration_s: of the window.
        period_s: planned seconds between two readings.
        where: where those readings are, for the message.
    """
    gaps_s = widths_s[widths_s > longest_wait_s(period_s)]
    if not len(gaps_s):
        return (), ()
    share = float(gaps_s.sum()) / duration_s
    gap = f"no reading for {gaps_s.max():.3g} s {where}"
    if share > LARGEST_GAP_SHARE:
        return (f"{gap}: gaps are {100 * share:.3g} % of the window, at most {100 * LARGEST_GAP_SHARE:g} % may be",), ()
    return (), (gap,)


def longest_wait_s(period_s: float) -> float:
    """Return the seconds between two readings above which they are a gap."""
    return max(LONG_GAP_PERIODS * period_s, _SHORTEST_GAP_S)


def segment(t: Nanoseconds, edge_ns: int) -> int:
    """Return the index of the segment between two readings that contains an edge of a window."""
    return int(np.clip(np.searchsorted(t, edge_ns, side="right"), 1, len(t) - 1)) - 1


SHORTEST_WINDOW_PERIODS = 20
"""A window of fewer update periods of its meter, or fewer readings, is flagged (design, section 5.7)."""

UNIFORM = 12**-0.5
"""Standard deviation of a uniform distribution, as a share of its width (JCGM 100:2008, 4.3.7)."""


@dataclass(frozen=True)
class WindowEnergy:
    """A window's energy as one channel measured it.

    Attributes:
        energy_j: joules, or None where the window is invalid.
        uncertainty_j: standard uncertainty of `energy_j` in joules, or None.
        mean_power_w: watts, or None.
        samples: good samples inside the window, edges included.
        failed_reads: reads inside the window that failed and were bridged.
        largest_gap_s: longest time between two successive good samples inside or next to the window, in seconds.
        reasons: why the window is invalid; empty where it is valid.
        flags: caveats of a valid number.
        systematic_j: the part of `uncertainty_j` in joules that is the same for all windows of similar loads, such as
            the loss of a slow meter at their start.
    """

    energy_j: float | None
    uncertainty_j: float | None
    mean_power_w: float | None
    samples: int
    failed_reads: int
    largest_gap_s: float | None
    reasons: tuple[str, ...] = field(default=())
    flags: tuple[str, ...] = field(default=())
    systematic_j: float = 0.0


def combine(parts: Sequence[WindowEnergy], duration_s: float) -> WindowEnergy:
    """Return the energy of a window that consists of several spans (the epochs of a training).

    Energies add up. Random parts of the uncertainties add in quadrature, systematic ones linearly.

    Args:
        parts: the spans' results, at least one.
        duration_s: seconds of all spans together.
    """
    reasons = tuple(dict.fromkeys(reason for part in parts for reason in part.reasons))
    gaps = [part.largest_gap_s for part in parts if part.largest_gap_s is not None]
    energy = uncertainty = power = None
    systematic = sum(part.systematic_j for part in parts)
    if not reasons:
        energy = sum(part.energy_j or 0.0 for part in parts)
        by_chance = sum((part.uncertainty_j or 0.0) ** 2 - part.systematic_j**2 for part in parts)
        uncertainty = float(np.sqrt(max(by_chance, 0.0) + systematic**2))
        power = energy / duration_s
    return WindowEnergy(
        energy,
        uncertainty,
        power,
        sum(part.samples for part in parts),
        sum(part.failed_reads for part in parts),
        max(gaps) if gaps else None,
        reasons,
        tuple(dict.fromkeys(flag for part in parts for flag in part.flags)),
        systematic,
    )


def flags_of(channel: Channel, duration_s: float, failed: int) -> tuple[str, ...]:
    """Return the flags for a window that is short for its meter, or has failed reads.

    Args:
        channel: the channel that was read.
        duration_s: of the window, seconds.
        failed: reads inside it that failed.
    """
    flags: tuple[str, ...] = ()
    longest_s = max(channel.update_period_s, channel.period_s)
    if duration_s < SHORTEST_WINDOW_PERIODS * longest_s:
        what = "update periods" if channel.update_period_s >= channel.period_s else "readings"
        flags += (f"window of {duration_s:.3g} s is shorter than {SHORTEST_WINDOW_PERIODS} {what}",)
    if duration_s < channel.fit_window_s:
        flags += (f"window of {duration_s:.3g} s is shorter than the {channel.fit_window_s:.3g} s that 5 % take here",)
    if failed:
        flags += (f"{failed} failed reads bridged",)
    return flags


def together(at_start_j: float, at_end_j: float) -> float:
    """Return the combined error of a window's two edges in joules, from their signed errors.

    If a load begins and ends with the window, both edges change the energy in the same direction and their errors add
    up; otherwise they are independent.
    """
    return float(max(np.hypot(at_start_j, at_end_j), abs(at_end_j - at_start_j)))
