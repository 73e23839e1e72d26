"""What a study does with a run that others disturbed (pure)."""

from collections.abc import Mapping
from typing import Any

FLAG, REPEAT, INVALID = "flag", "repeat", "invalid"
"""It keeps it with a flag, measures it once more, or does not count it: its `disturbance`."""

USUAL = REPEAT
"""What it does where it says nothing."""


def disturbance_of(job: Mapping[str, Any]) -> str:
    """What a job, or the settings of a study, say of disturbed runs; a job that does the usual says nothing."""
    return str(job.get("disturbance", USUAL))
