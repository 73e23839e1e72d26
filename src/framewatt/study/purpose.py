"""What a run is for. A profiled run is slowed by its profiler, so it is a run of its own and never a measurement."""

from collections.abc import Mapping
from typing import Any

MEASURE, PROFILE, TIMELINE, REPEAT = "measure", "profile", "timeline", "repeat"

WINDOWS, PROGRAM = "windows", "program"
"""What a profile is of: the primary windows alone, or everything from the first import on, as georgiou2022 has it."""


def is_measured(job: Mapping[str, Any]) -> bool:
    """Whether a job, or the record of a run, is of a measurement; those from before schema 4 are, and do not say so."""
    return bool(job.get("purpose", MEASURE) == MEASURE)
