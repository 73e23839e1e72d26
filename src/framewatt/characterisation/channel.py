"""Everything that a characterisation knows about one channel, and the channel with its measured properties."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from framewatt.characterisation.fitness import LONGEST_S, Seen, shortest_windows
from framewatt.characterisation.lateness import Lateness, lateness
from framewatt.characterisation.levels import Response, Wave, mean_power, response, wave
from framewatt.characterisation.measured import Measured
from framewatt.characterisation.schedule import GPU_CLOSED, IDLE, Stretch, edges_of, expected_load, is_steady, period_of
from framewatt.characterisation.series import Series, find_resolution, find_standstill, find_update_period
from framewatt.meters.contract import COUNTER, Channel

_SOUND_SHARE = 0.1
"""Relative standard uncertainty up to which a measured value replaces the documented one."""

_SOUND_S = 0.05
"""Standard uncertainty in seconds up to which a measured averaging span does so."""

_LEAST_S = 0.05
"""Averaging span in seconds below which a value counts as instantaneous."""

_LEAST_LAG_S = 0.03
"""Lag in seconds below which it counts as 0: the load itself may be that late."""

_OF_AN_UPDATE = 0.3
"""Lag as a share of the update period below which it counts as 0: windows allow for that much anyway."""


def as_measured(channel: Channel, update: Measured, digit: Measured, late: Lateness) -> Channel:
    """Return the channel with measured properties, where they are known well or are worse than documented.

    A characterisation may be wrong itself, and must not understate uncertainty. So an upper bound does not replace a
    period, and a last digit only becomes coarser. A measured averaging span is used where the documentation leaves it
    open, if it is known to 0.05 s or a tenth. If the documentation has none, a measured span only increases
    uncertainty, as a lag does.

    Args:
        channel: as documented.
        update: measured update period.
        digit: measured last digit.
        late: measured lag and averaging span.
    """
    measured = replace(
        channel,
        update_period_s=float(update.value or 0.0) if update.within(_SOUND_SHARE) else channel.update_period_s,
        resolution=max(channel.resolution, digit.value or 0.0),
    )
    if late.note:
        return measured
    if channel.kind == COUNTER:
        return replace(measured, late_s=_longest_lag_s(measured, late.delay))
    averaged = _with_average(measured, late.average)
    return _with_lag(averaged, late.lag if averaged.average_s or averaged.average_most_s else late.delay)


def _with_average(channel: Channel, average: Measured) -> Channel:
    """Return a gauge with the measured averaging span, if that is known well enough."""
    if average.value is None or average.uncertainty is None or not average.within(_SOUND_SHARE, _SOUND_S):
        return channel
    least_s, most_s = (average.value + sign * 2 * average.uncertainty for sign in (-1, 1))
    if least_s <= max(_LEAST_S, channel.update_period_s):
        # No averaging was seen: the longest possible span is what the fit leaves open, and never more than documented.
        return replace(channel, average_most_s=min(channel.average_most_s, most_s))
    if not channel.average_s and not channel.average_most_s:
        # Documented as instantaneous: it may be a mean, or the load may be slow both ways. A wider uncertainty covers
        # both.
        return replace(channel, average_most_s=most_s)
    return replace(channel, average_s=average.value, average_most_s=0.0)


def _with_lag(channel: Channel, lag: Measured) -> Channel:
    """Return a gauge with its lag in its uncertainty: a delay counts at an edge like a mean over twice the time."""
    return replace(channel, average_most_s=max(channel.average_most_s, 2 * _longest_lag_s(channel, lag)))


def _longest_lag_s(channel: Channel, lag: Measured) -> float:
    """Return the seconds by which a channel may be late; 0 where unknown, or within what windows allow for anyway.

    Args:
        channel: with its update period in seconds.
        lag: measured; for a counter and for instant power their delay, which is known better: a mean that is mistaken
            for a lag does not change it.
    """
    if lag.value is None or lag.uncertainty is None:
        return 0.0
    surely_s = abs(lag.value) - 2 * lag.uncertainty
    return (
        abs(lag.value) + 2 * lag.uncertainty
        if surely_s > max(_LEAST_LAG_S, _OF_AN_UPDATE * channel.update_period_s)
        else 0.0
    )


_LEAST_RISE = 0.05
"""Least rise under a load, as a share of the largest rise, for its steps to be used for the lag."""


@dataclass(frozen=True)
class Character:
    """How a channel behaves on this machine.

    Attributes:
        channel: as documented.
        readings: how many were good.
        reading_s: median seconds between two of them.
        failed: reads that failed.
        absurd: readings that are impossible for such a domain.
        resets: times that a counter went back by other than a wrap.
        still: why it is stuck or frozen; empty where it moves.
        update_period: seconds between two updates.
        resolution: last digit, in the channel's unit.
        lateness: lag, averaging span and delay, in seconds.
        responses: its response to each steady load.
        waves: what it showed of each square wave.
        idle_w: watts it showed idle, or None.
        gpu_closed_w: watts it showed idle while no process had the GPU open, or None.
        shortest_window_s: seconds by relative uncertainty of the energy (`0.01`, `0.05`); None above an hour, or where
            no power is known.
    """

    channel: Channel
    readings: int
    reading_s: float
    failed: int
    absurd: int
    resets: int
    still: str
    update_period: Measured
    resolution: Measured
    lateness: Lateness
    responses: tuple[Response, ...]
    waves: tuple[Wave, ...]
    idle_w: float | None
    gpu_closed_w: float | None
    shortest_window_s: dict[str, float | None]

    @property
    def name(self) -> str:
        """Return the domain, quantity and instrument."""
        return f"{self.channel.domain} {self.channel.quantity} of {self.channel.instrument}"

    @property
    def load_w(self) -> float | None:
        """Return the watts under the load with the largest rise, or idle where it showed no load."""
        seen = [one.power_w for one in self.responses if one.seen and one.power_w is not None]
        return max(seen) if seen else self.idle_w

    @property
    def as_measured(self) -> Channel:
        """Return the channel with measured properties, see as_measured."""
        measured = as_measured(self.channel, self.update_period, self.resolution, self.lateness)
        if not self.shortest_window_s:
            return measured
        return replace(measured, fit_window_s=self.shortest_window_s["0.05"] or LONGEST_S)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        both = {"channel": self.channel.to_dict(), "as_measured": self.as_measured.to_dict()}
        return asdict(self) | both


def character_of(channel: Channel, series: Series, stretches: Sequence[Stretch], origin_ns: int) -> Character:
    """Characterise one channel of joules or watts.

    Args:
        channel: as documented.
        series: its readings.
        stretches: the loads during the readings.
        origin_ns: CLOCK_MONOTONIC of the series' second 0.
    """
    loads = list(dict.fromkeys(stretch.load for stretch in stretches if is_steady(stretch.load)))
    # Under square waves a gauge changes when the load does, at the times that its updates happen to fall on.
    wave_ns = [stretch.start_ns for stretch in stretches if period_of(stretch.load)]
    steady = series.between(-math.inf, (wave_ns[0] - origin_ns) * 1e-9) if wave_ns else series
    update, digit = find_update_period(steady), find_resolution(series)
    responses = tuple(response(series, stretches, origin_ns, load) for load in loads)
    rises = {one.load: one.rise_w for one in responses if one.seen and one.rise_w is not None}
    # One test in a hundred is a false positive, with a rise that is small compared to real ones.
    seen = [load for load, rise_w in rises.items() if rise_w >= _LEAST_RISE * max(rises.values())]
    # A channel that a load does not affect may stand still under it.
    own = [expected] if (expected := expected_load(channel.domain)) else seen
    loads_s = np.array([(edge.at_ns - origin_ns) * 1e-9 for edge in edges_of(stretches, own)])
    still = find_standstill(series, loads_s)
    late = lateness(series, edges_of(stretches, seen), origin_ns, update, digit.value or channel.resolution)
    waves = tuple(wave(series, stretch, origin_ns) for stretch in stretches if period_of(stretch.load))
    character = Character(
        channel,
        len(series.value),
        series.reading_s,
        series.failed,
        series.absurd,
        series.resets,
        still,
        update,
        digit,
        late,
        responses,
        waves,
        _mean_power(series, stretches, origin_ns, IDLE),
        _mean_power(series, stretches, origin_ns, GPU_CLOSED),
        {},
    )
    return replace(character, shortest_window_s=_shortest_windows(character))


def _mean_power(series: Series, stretches: Sequence[Stretch], origin_ns: int, load: str) -> float | None:
    """Return the watts over all stretches of a load, or None where no reading shows them."""
    powers = [mean_power(series, stretch, origin_ns) for stretch in stretches if stretch.load == load]
    known = [power for power in powers if power is not None]
    return float(np.mean(known)) if known else None


def _shortest_windows(character: Character) -> dict[str, float | None]:
    """See fitness.shortest_windows; empty where power is not known, or nothing moves."""
    if character.still or not character.load_w or character.load_w <= 0:
        return {}
    channel = as_measured(character.channel, character.update_period, character.resolution, character.lateness)
    lag, average = character.lateness.lag, character.lateness.average
    # An unknown averaging span counts as the longest possible one.
    average_s = (channel.average_s or channel.average_most_s) if average.value is None else average.value
    return shortest_windows(
        Seen(channel, lag.value or 0.0, average_s, max(character.idle_w or 0.0, 0.0), character.load_w)
    )
