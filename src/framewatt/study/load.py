"""How requests come: one after the other, or at a rate of their own."""

import re

CLOSED = "closed"
"""Load of a loop in which each batch follows the one before."""

PATTERN = "^(closed|[1-9][0-9]{0,5}/(s|min))$"
"""Levels of the option `load`."""

MOST_TOGETHER = 64
"""Largest batch under an open loop: batches of every size up to it are held ready."""

_RATE = re.compile(r"([1-9][0-9]{0,5})/(s|min)")
_SECONDS = {"s": 1, "min": 60}


def rate_of(load: object) -> float | None:
    """Requests a second of a level such as `20/s` or `30/min`; None for anything else.

    A study of files may have a factor of that name with levels of its own.
    """
    match = _RATE.fullmatch(load) if isinstance(load, str) else None
    return int(match[1]) / _SECONDS[match[2]] if match else None
