"""What windows take a channel for, once it has been measured here."""

from dataclasses import replace

from framewatt.characterisation.measured import Measured
from framewatt.characterisation.response import Lateness
from framewatt.meters.contract import COUNTER, Channel

_SOUND_SHARE = 0.1
"""Relative standard uncertainty up to which what was measured replaces what is documented."""

_SOUND_S = 0.05
"""Seconds of standard uncertainty up to which an averaging span does."""

_LEAST_AVERAGE_S = 0.05
"""Seconds below which a mean is as good as an instant."""


def as_measured(channel: Channel, update: Measured, digit: Measured, late: Lateness) -> Channel:
    """The channel as its windows should take it: what was seen here, where that is well known, or worse.

    A characterisation may be wrong itself, and must not make uncertainty smaller than it is: a bound of a period is no
    period, a last digit becomes coarser only, and an averaging span that the documentation leaves open is taken where
    it is known to 0.05 s or a tenth; where it knows of none, one only widens.

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
    average = late.average
    if channel.kind == COUNTER or late.note or average.value is None or average.uncertainty is None:
        return found
    if not average.within(_SOUND_SHARE, _SOUND_S):
        return found
    least_s, most_s = (average.value + sign * 2 * average.uncertainty for sign in (-1, 1))
    if least_s <= max(_LEAST_AVERAGE_S, found.update_period_s):
        # No mean was seen: what may be one still is as long as the fit leaves open, and never longer than documented.
        return replace(found, average_most_s=min(channel.average_most_s, most_s))
    if not channel.average_s and not channel.average_most_s:
        # Documented as an instant's: it may be a mean, or the load may be slow both ways. Wider holds both.
        return replace(found, average_most_s=most_s)
    return replace(found, average_s=average.value, average_most_s=0.0)
