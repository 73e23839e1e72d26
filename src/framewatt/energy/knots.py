"""From readings to the instants at which a meter's source changed.

A meter that is read more often than it is refreshed shows each value several times; one that is refreshed more often
shows a value of some instant since its last update. What is known of energy or power is known at updates: *knots*.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.energy.coverage import Values


@dataclass(frozen=True)
class Knots:
    """What a source showed, at the instants of its updates.

    Attributes:
        time_s: shape (k,), seconds, ascending.
        value: shape (k,), in the channel's unit.
        spread_s: shape (k,), width of the span in which each update was, in seconds.
    """

    time_s: Values
    value: Values
    spread_s: Values


def knots_of(t_s: Values, value: Values, update_period_s: float, kept: NDArray[np.bool_]) -> Knots:
    """Knots of a trace.

    An update was somewhere between the reading that shows it and the one before, and within the last update period of
    a source that is refreshed more often than it is read; its middle is taken.

    Args:
        t_s: shape (n,), seconds of the good readings, ascending; at least one.
        value: shape (n,), what they showed.
        update_period_s: seconds between two updates of the source.
        kept: shape (n,), which readings show an update.
    """
    gap_s = np.concatenate(([np.inf], np.diff(t_s)))
    spread_s = np.minimum(gap_s, update_period_s)[kept]
    return Knots(t_s[kept] - spread_s / 2, value[kept], spread_s)


def changed(value: Values) -> NDArray[np.bool_]:
    """Which readings show another value than the one before; the first one counts.

    Args:
        value: shape (n,), at least one.
    """
    return np.concatenate(([True], np.diff(value) != 0))


def fresh(t_s: Values, value: Values, update_period_s: float) -> NDArray[np.bool_]:
    """Which readings of a gauge show an update: those that changed, and those that are no old value before a change.

    Args:
        t_s: shape (n,), seconds, ascending.
        value: shape (n,).
        update_period_s: seconds between two updates of the source.
    """
    changes = changed(value)
    at = np.flatnonzero(changes)
    following = np.searchsorted(at, np.arange(len(value)), side="right")
    next_s = np.append(t_s[at], np.inf)[following]
    return changes | (t_s <= next_s - update_period_s)
