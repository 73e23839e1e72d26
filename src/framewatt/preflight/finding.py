"""What a check of the machine says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something that disturbs a measurement.

    Attributes:
        topic: what was looked at, one of TOPICS.
        found: what was found.
        meaning: what that does to a measurement.
        remedy: how to mend it.
    """

    topic: str
    found: str
    meaning: str
    remedy: str


HOT_C = 80
"""From here on hardware lowers its clock, or soon will."""
