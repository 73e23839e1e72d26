"""From readings to the times at which a meter's source was updated.

A meter that is read more often than it is refreshed shows each value several times. One that is refreshed more often
shows a value from any time within its last update period. Energy or power is known only at updates: *knots*.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.energy.coverage import Values


@dataclass(frozen=True)
class Knots:
    """Values of a source at the times of its updates.

    Attributes:
        time_s: shape (k,), seconds, ascending.
        value: shape (k,), in the channel's unit.
        spread_s: shape (k,), seconds within which each update happened.
    """

    time_s: Values
    value: Values
    spread_s: Values


def knots_of(t_s: Values, value: Values, update_period_s: float, kept: NDArray[np.bool_]) -> Knots:
    """Knots of a trace.

    An update happened between the reading that first shows it and the one before, and, if the source is refreshed more
    often than it is read, within the last update period. The middle of that span is taken.

    Args:
        t_s: shape (n,), seconds of the good readings, ascending; at least one.
        value: shape (n,), their values.
        update_period_s: seconds between two updates of the source.
        kept: shape (n,), which readings show an update.
    """
    gap_s = np.concatenate(([np.inf], np.diff(t_s)))
    return knots_at(t_s[kept], value[kept], gap_s[kept], update_period_s)


def knots_at(t_s: Values, value: Values, gap_s: Values, update_period_s: float) -> Knots:
    """Knots of readings that show an update, see `knots_of`.

    Args:
        t_s: shape (k,), seconds of those readings.
        value: shape (k,), their values.
        gap_s: shape (k,), seconds since the reading before each; infinite for the first of a trace.
        update_period_s: seconds between two updates of the source.
    """
    spread_s = np.minimum(gap_s, update_period_s)
    return Knots(t_s - spread_s / 2, value, spread_s)


def changed(value: Values) -> NDArray[np.bool_]:
    """Which readings differ from the one before; the first one counts as different.

    Args:
        value: shape (n,), at least one.
    """
    return np.concatenate(([True], np.diff(value) != 0))


def fresh(t_s: Values, value: Values, update_period_s: float) -> NDArray[np.bool_]:
    """Which readings of a gauge show an update: changed values, and repeated ones not stale before a change.

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
