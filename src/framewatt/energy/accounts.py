"""The accounts of a domain's energy: the channels that measure it, and those that other channels prove wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from framewatt.energy.counter_windows import counter_energies
from framewatt.energy.gauge_windows import gauge_energies
from framewatt.energy.windows import LARGEST_GAP_SHARE, SHORTEST_WINDOW_PERIODS, Values, WindowEnergy
from framewatt.meters.contract import COUNTER, GAUGE, Channel
from framewatt.meters.trace import Readings

DIE = "-die-"
"""Separates the name of a package's domain from the number of a die."""

_APART_J = 1.0
"""Largest difference in growth of two views of one counter: read one after the other, they differ by milliseconds of
power."""

_APART_SHARE = 1e-3
"""Share of their growth by which the counters of two real dies differ at least."""

_DISTINCT_J = 100.0
"""From this growth on, two views of one counter differ by a smaller share than two real dies."""


def mirrored(trace: Readings, spans: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Return the counters that grew exactly as another die's, reading by reading.

    Args:
        trace: raw readings.
        spans: parts of a window, start and end in nanoseconds.

    Returns:
        the domain that a channel mirrors, by index of the channel; the first of equal counters is left out.
    """
    twins: dict[int, str] = {}
    dies = [i for i, c in enumerate(trace.channels) if DIE in c.domain and c.kind == COUNTER]
    for later, index in enumerate(dies):
        channel = trace.channels[index]
        for first in dies[:later]:
            other = trace.channels[first]
            same_package = other.domain.partition(DIE)[0] == channel.domain.partition(DIE)[0]
            if first in twins or other.instrument != channel.instrument or not same_package:
                continue
            if _alike(trace, first, index, spans):
                twins[index] = other.domain
                break
    return twins


def _alike(trace: Readings, first: int, second: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether two counters of one meter grew alike over all readings of a window."""
    (time_ns, value), (other_ns, other_value) = trace.read_channel(first), trace.read_channel(second)
    if len(time_ns) != len(other_ns):
        return False
    inside = np.isfinite(value) & np.isfinite(other_value)
    inside &= (time_ns >= spans[0][0]) & (time_ns <= spans[-1][1])
    if np.count_nonzero(inside) < 2:
        return False
    grown = _grown(value[inside], trace.channels[first].wrap)
    apart = np.ptp(grown - _grown(other_value[inside], trace.channels[second].wrap))
    return bool(grown[-1] >= _DISTINCT_J and apart <= min(_APART_J, _APART_SHARE * grown[-1]))


def _grown(joules: Values, wrap: float | None) -> Values:
    """Return the growth of a counter since its first reading, corrected for wraps."""
    steps = np.diff(joules, prepend=joules[0])
    return np.cumsum(np.where(steps < -(wrap or np.inf) / 2, steps + (wrap or 0.0), steps))


Spans = list[tuple[int, int]]
"""Start and end of each part of a window, CLOCK_MONOTONIC nanoseconds."""

POWER = ("power_instant_w", "power_average_w", "power_w")
"""The quantities that give energy by integration, best first."""


def energies_of(channel: Channel, time_ns: Any, value: Any, spans: Spans) -> list[WindowEnergy]:
    """Return the energy of every span from one channel, by the kind of the channel."""
    return (counter_energies if channel.kind == COUNTER else gauge_energies)(channel, time_ns, value, spans)


def energy_of(channel: Channel, time_ns: Any, value: Any, start_ns: int, end_ns: int) -> WindowEnergy:
    """Return the energy of one window from one channel."""
    return energies_of(channel, time_ns, value, [(start_ns, end_ns)])[0]


def energy_accounts(channels: Sequence[Channel]) -> dict[str, list[int]]:
    """Return the channels that measure a domain's energy, best first: its counter, instant power, averaged power.

    Of two instruments with the same quantity, the one that the study names first comes first.

    Returns:
        indices into `channels` by domain.
    """
    accounts: dict[str, list[int]] = {}
    for quantity in ("energy_j", *POWER):
        for index, channel in enumerate(channels):
            if channel.quantity == quantity:
                accounts.setdefault(channel.domain, []).append(index)
    return accounts


def energy_channels(channels: Sequence[Channel]) -> dict[str, int]:
    """Return the best of each domain's accounts, see `energy_accounts`."""
    return {domain: indices[0] for domain, indices in energy_accounts(channels).items()}


_CONTRADICTION = 0.5
"""Relative difference of two accounts of one domain above which neither is believed."""

_FROZEN_READINGS = 100
"""A gauge is frozen after this many readings of exactly the same power while others move. Within a part of a window,
they must span as many updates, too: an idle GPU may show one power for a while."""


def believed(
    energies: Mapping[int, WindowEnergy], trace: Readings, spans: Spans, twins: Mapping[int, str]
) -> dict[int, WindowEnergy]:
    """Return the accounts of a domain, without the energy of those that are frozen or mirror another domain's counter.

    Args:
        energies: energy over a window by index of the channel.
        trace: raw readings.
        spans: the parts of the window.
        twins: see mirrored.
    """
    accounts = {index: _unless_frozen(energy, trace, index, spans) for index, energy in energies.items()}
    return accounts | {
        index: _refused(accounts[index], f"{trace.channels[index].domain} shows the counter of {twins[index]} again")
        for index in energies
        if index in twins
    }


def _unless_frozen(energy: WindowEnergy, trace: Readings, index: int, spans: Spans) -> WindowEnergy:
    """Return a gauge's energy, rejected where the gauge shows one value while its domain's other gauges move."""
    channel = trace.channels[index]
    if channel.kind == COUNTER or energy.samples < _FROZEN_READINGS:
        return energy
    still = list(spans) if not _moves(trace.inside(index, spans)) else _stillest(trace, index, spans)
    if not still:
        return energy
    others = [
        other.quantity
        for number, other in enumerate(trace.channels)
        if number != index
        and other.domain == channel.domain
        and other.kind == GAUGE
        and _moves(trace.inside(number, still))
    ]
    if not others:
        return energy
    seconds = sum(end - start for start, end in still) * 1e-9
    frozen = f"{channel.quantity} has not moved for {seconds:.3g} s, in which {others[0]} did"
    return _refused(energy, frozen)


def _stillest(trace: Readings, index: int, spans: Spans) -> Spans:
    """Return the longest span in a part of a window with one value of a gauge; empty if too short to be frozen."""
    time_ns, value = trace.read_channel(index)
    good = np.isfinite(value)
    time_ns, value = time_ns[good], value[good]
    longest_ns = 0
    longest: Spans = []
    for start, end in spans:
        inside = slice(np.searchsorted(time_ns, start), np.searchsorted(time_ns, end, side="right"))
        t, shown = time_ns[inside], value[inside]
        edges = np.concatenate(([0], np.flatnonzero(np.diff(shown)) + 1, [len(shown)]))
        number = int(np.argmax(np.diff(edges)))
        first, last = edges[number], edges[number + 1] - 1
        if last - first + 1 >= _FROZEN_READINGS and t[last] - t[first] > longest_ns:
            longest_ns, longest = int(t[last] - t[first]), [(int(t[first]), int(t[last]))]
    least_s = max(
        _FROZEN_READINGS * trace.channels[index].update_period_s,
        LARGEST_GAP_SHARE * sum(end - start for start, end in spans) * 1e-9,
    )
    return longest if longest_ns * 1e-9 > least_s else []


def unless_contradicted(
    energies: Mapping[int, WindowEnergy], channels: Sequence[Channel], index: int, duration_s: float
) -> WindowEnergy:
    """Return the chosen account of a domain, rejected where another capable account deviates strongly from it.

    An account is capable if it is no estimate and the window is long for its meter.

    Args:
        energies: energy over a window by index of the channel.
        channels: of the trace.
        index: of the chosen account.
        duration_s: of the window.
    """

    def can_know(number: int) -> bool:
        channel = channels[number]
        longest_s = max(channel.update_period_s, channel.period_s, channel.average_s, channel.average_most_s)
        return not channel.estimated and duration_s >= SHORTEST_WINDOW_PERIODS * longest_s

    chosen = energies[index]
    if chosen.energy_j is None or not can_know(index):
        return chosen
    for number, other in energies.items():
        if number == index or other.energy_j is None or not can_know(number):
            continue
        apart_j = abs(other.energy_j - chosen.energy_j)
        uncertain_j = float(np.hypot(chosen.uncertainty_j or 0.0, other.uncertainty_j or 0.0))
        if apart_j > max(_CONTRADICTION * max(chosen.energy_j, other.energy_j), 3 * uncertain_j):
            names = [f"{channels[i].quantity} of {channels[i].instrument}" for i in (index, number)]
            return _refused(
                chosen,
                f"{names[0]} says {chosen.energy_j:.4g} J, {names[1]} {other.energy_j:.4g} J: one of them is wrong",
            )
    return chosen


def _refused(energy: WindowEnergy, reason: str) -> WindowEnergy:
    """Return the energy of a channel, made invalid for a reason."""
    return replace(energy, energy_j=None, uncertainty_j=None, mean_power_w=None, reasons=(*energy.reasons, reason))


def _moves(values: Any) -> bool:
    return bool(len(values) and (values != values[0]).any())
