"""A channel's properties for windows, after its characterisation on this machine."""

from dataclasses import replace

from framewatt.characterisation.measured import Measured
from framewatt.characterisation.response import Lateness
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
    """The channel with measured properties, where they are known well or are worse than documented.

    A characterisation may be wrong itself, and must not understate uncertainty. So an upper bound does not replace a
    period, and a last digit only becomes coarser. An averaging span that the documentation leaves open is taken if it
    is known to 0.05 s or a tenth. If the documentation has none, a measured span only increases uncertainty, as a lag
    does.

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
    """A gauge with the measured averaging span, if that is known well enough."""
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
    """A gauge whose uncertainty includes its lag: at an edge, a delay costs as much as a mean over twice its time."""
    return replace(channel, average_most_s=max(channel.average_most_s, 2 * _longest_lag_s(channel, lag)))


def _longest_lag_s(channel: Channel, lag: Measured) -> float:
    """Seconds by which a channel may be late; 0 where unknown, or no more than an update's usual delay.

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
