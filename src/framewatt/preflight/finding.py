"""A finding of the checks of the machine."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something that disturbs a measurement.

    Attributes:
        topic: what was checked, one of TOPICS.
        found: what was found.
        meaning: what that does to a measurement.
        remedy: how to fix it.
    """

    topic: str
    found: str
    meaning: str
    remedy: str


HOT_C = 80
"""Temperature in °C from which hardware throttles, or soon will."""
