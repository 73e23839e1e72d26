"""What windows take a channel for, once it has been measured here."""

from dataclasses import replace

from framewatt.characterisation.measured import Measured
from framewatt.characterisation.response import Lateness
from framewatt.meters.contract import COUNTER, Channel

_SOUND_SHARE = 0.1
"""Relative standard uncertainty up to which what was measured replaces what is documented."""

_SOUND_S = 0.05
"""Seconds of standard uncertainty up to which an averaging span does."""

_LEAST_S = 0.05
"""Seconds below which a mean is as good as an instant."""

_LEAST_LAG_S = 0.03
"""Seconds below which a lag is as good as none: a load may be as late itself."""

_OF_AN_UPDATE = 0.3
"""Share of an update period below which a lag is as good as none: windows allow for so much anyhow."""


def as_measured(channel: Channel, update: Measured, digit: Measured, late: Lateness) -> Channel:
    """The channel as its windows should take it: what was seen here, where that is well known, or worse.

    A characterisation may be wrong itself, and must not make uncertainty smaller than it is: a bound of a period is no
    period, a last digit becomes coarser only, and an averaging span that the documentation leaves open is taken where
    it is known to 0.05 s or a tenth; where it knows of none, one only widens, as a lag does.

    Args:
        channel: as documented.
        update: measured update period.
        digit: measured last digit.
        late: measured lag and averaging span.
    """
    found = replace(
        channel,
        update_period_s=float(update.value or 0.0) if update.within(_SOUND_SHARE) else channel.update_period_s,
        resolution=max(channel.resolution, digit.value or 0.0),
    )
    if late.note:
        return found
    if channel.kind == COUNTER:
        return replace(found, late_s=_longest_lag_s(found, late.delay))
    averaged = _with_average(found, late.average)
    return _with_lag(averaged, late.lag if averaged.average_s or averaged.average_most_s else late.delay)


def _with_average(channel: Channel, average: Measured) -> Channel:
    """A gauge with the averaging span that was measured, where that is sound."""
    if average.value is None or average.uncertainty is None or not average.within(_SOUND_SHARE, _SOUND_S):
        return channel
    least_s, most_s = (average.value + sign * 2 * average.uncertainty for sign in (-1, 1))
    if least_s <= max(_LEAST_S, channel.update_period_s):
        # No mean was seen: what may be one still is as long as the fit leaves open, and never longer than documented.
        return replace(channel, average_most_s=min(channel.average_most_s, most_s))
    if not channel.average_s and not channel.average_most_s:
        # Documented as an instant's: it may be a mean, or the load may be slow both ways. Wider holds both.
        return replace(channel, average_most_s=most_s)
    return replace(channel, average_s=average.value, average_most_s=0.0)


def _with_lag(channel: Channel, lag: Measured) -> Channel:
    """A gauge whose uncertainty holds its lag: at an edge, a delay costs what a mean over twice its time does."""
    return replace(channel, average_most_s=max(channel.average_most_s, 2 * _longest_lag_s(channel, lag)))


def _longest_lag_s(channel: Channel, lag: Measured) -> float:
    """Seconds by which a channel may be late; 0 where that is not known, or is what every update is.

    Args:
        channel: with its update period in seconds.
        lag: measured; of a counter and of an instant's power their delay, which is known better: a mean that is
            mistaken for a lag does not change it.
    """
    if lag.value is None or lag.uncertainty is None:
        return 0.0
    surely_s = abs(lag.value) - 2 * lag.uncertainty
    return (
        abs(lag.value) + 2 * lag.uncertainty
        if surely_s > max(_LEAST_LAG_S, _OF_AN_UPDATE * channel.update_period_s)
        else 0.0
    )
