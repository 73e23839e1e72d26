"""How well the readings of a trace cover a window: the relevant readings, the gaps, and the gaps that are tolerated."""

import numpy as np
from numpy.typing import NDArray

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
        """The samples relevant to a window: those inside, and the nearest one on either side.

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
        """Times as seconds since the first good sample, so that floats keep nanosecond differences exact."""
        return np.asarray((np.asarray(instants_ns) - (self.time_ns[0] if len(self.time_ns) else 0)) * 1e-9)


def coverage(t: Nanoseconds, start_ns: int, end_ns: int) -> tuple[float | None, int, tuple[str, ...]]:
    """How far good samples cover a window.

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
    """Reasons why gaps make a window invalid, and flags for gaps that do not.

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
    said = f"no reading for {gaps_s.max():.3g} s {where}"
    if share > LARGEST_GAP_SHARE:
        return (
            f"{said}: gaps are {100 * share:.3g} % of the window, at most {100 * LARGEST_GAP_SHARE:g} % may be",
        ), ()
    return (), (said,)


def longest_wait_s(period_s: float) -> float:
    """Seconds between two readings above which they are a gap."""
    return max(LONG_GAP_PERIODS * period_s, _SHORTEST_GAP_S)


def segment(t: Nanoseconds, edge_ns: int) -> int:
    """Index of the segment between two readings that contains an edge of a window."""
    return int(np.clip(np.searchsorted(t, edge_ns, side="right"), 1, len(t) - 1)) - 1
