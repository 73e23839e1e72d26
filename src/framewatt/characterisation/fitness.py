"""The shortest window that a meter can measure well, by simulating the energy calculation for a known load.

The load is the worst case of runs: it steps up from idle at the start of the window and down at its end. The simulated
meter has the measured period, lag, averaging span and last digit. The larger of stated uncertainty and actual error
counts, so that a lag unknown to windows does not make the result look better.
"""

from dataclasses import dataclass

import numpy as np

from framewatt.energy.accounts import energy_of
from framewatt.energy.windows import Nanoseconds, Values
from framewatt.meters.contract import COUNTER, Channel

SHARES = (0.01, 0.05)
"""Relative uncertainties of the energy for which the shortest window is searched."""

_PHASES = 5
"""Number of phases between two updates at which windows are tried."""

LONGEST_S = 3600.0
"""Longest window tried, in seconds."""

_MOST_READINGS = 20_000
_FINER = 1.15
"""Ratio that gives the precision of the shortest window."""


@dataclass(frozen=True)
class Seen:
    """Parameters of a simulated meter.

    Attributes:
        channel: the channel as the energy calculation sees it, as measured.
        lag_s: seconds by which its values are late.
        average_s: seconds over which they are means.
        idle_w: watts it shows idle.
        load_w: watts it shows under load.
    """

    channel: Channel
    lag_s: float
    average_s: float
    idle_w: float
    load_w: float


def shortest_windows(seen: Seen) -> dict[str, float | None]:
    """Return the seconds of the shortest window by relative uncertainty (SHARES); None above an hour.

    The search doubles the window, then narrows down: relative uncertainty falls with length, except for the part from a
    power's last digit, which stays.
    """
    return {f"{share:g}": _shortest_s(seen, share) for share in SHARES}


def relative_error(seen: Seen, window_s: float) -> float | None:
    """Return the larger of uncertainty and error, as a share of the energy, root mean square; None where it is invalid.

    Args:
        seen: the meter.
        window_s: seconds of load, and of the window.
    """
    shares = []
    period_s = seen.channel.period_s or seen.channel.update_period_s
    # In a window of thousands of readings, those in the middle make no difference.
    right_j = seen.load_w * window_s
    for phase in (np.arange(_PHASES) + 0.5) / _PHASES:
        start_s = 3 * max(seen.channel.update_period_s, period_s, seen.average_s) + seen.lag_s + 1.0
        start_s += phase * max(seen.channel.update_period_s, period_s)
        time_ns, value = _shown(seen, start_s, start_s + window_s, period_s)
        window = energy_of(seen.channel, time_ns, value, round(start_s * 1e9), round((start_s + window_s) * 1e9))
        if window.energy_j is None or window.uncertainty_j is None:
            return None
        shares.append(max(window.uncertainty_j, abs(window.energy_j - right_j)) / right_j)
    return float(np.sqrt(np.mean(np.square(shares))))


def _shortest_s(seen: Seen, share: float) -> float | None:
    if seen.load_w <= 0:
        return None
    period_s = max(seen.channel.period_s, seen.channel.update_period_s, 1e-3)
    longest_s = min(LONGEST_S, _MOST_READINGS * (seen.channel.period_s or period_s))

    def fit(window_s: float) -> bool:
        error = relative_error(seen, window_s)
        return error is not None and error <= share

    long_s = period_s
    while not fit(long_s):
        long_s *= 2
        if long_s > longest_s:
            return None
    short_s = long_s / 2
    while long_s / short_s > _FINER:
        middle_s = float(np.sqrt(short_s * long_s))
        short_s, long_s = (short_s, middle_s) if fit(middle_s) else (middle_s, long_s)
    return long_s


def _shown(seen: Seen, start_s: float, end_s: float, period_s: float) -> tuple[Nanoseconds, Values]:
    """Return the simulated times and values of every reading of a load between two times."""
    channel = seen.channel
    read_s = np.arange(0.0, end_s + start_s, period_s)
    update_s = channel.update_period_s
    shown_s = read_s if update_s <= period_s / 3 else np.floor(read_s / update_s) * update_s
    late_s = shown_s - seen.lag_s
    energy_j = _energy(seen, late_s, start_s, end_s)
    if channel.kind == COUNTER:
        value = energy_j if not seen.average_s else _mean_energy(seen, late_s, start_s, end_s)
    elif seen.average_s:
        value = (energy_j - _energy(seen, late_s - seen.average_s, start_s, end_s)) / seen.average_s
    else:
        value = np.where((late_s >= start_s) & (late_s < end_s), seen.load_w, seen.idle_w)
    if channel.resolution:
        value = np.floor(value / channel.resolution + 1e-9) * channel.resolution
    return np.round(read_s * 1e9).astype(np.int64), value


def _energy(seen: Seen, second: Values, start_s: float, end_s: float) -> Values:
    """Return the joules from second 0."""
    loaded_s = np.clip(second, start_s, end_s) - start_s
    return np.asarray(seen.idle_w * second + (seen.load_w - seen.idle_w) * loaded_s)


def _mean_energy(seen: Seen, second: Values, start_s: float, end_s: float) -> Values:
    """Return the joules of a counter that sums up averaged power: the mean of the true joules over the span before."""
    offsets = (np.arange(20) + 0.5) / 20 * seen.average_s
    return np.asarray(np.mean([_energy(seen, second - offset, start_s, end_s) for offset in offsets], axis=0))
