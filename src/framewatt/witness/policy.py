"""What a study does with a disturbed run (pure)."""

from collections.abc import Mapping
from typing import Any

FLAG, REPEAT, INVALID = "flag", "repeat", "invalid"
"""Values of a study's `disturbance`: keep the run with a flag, measure it again, or mark it invalid."""

USUAL = REPEAT
"""The default."""


def disturbance_of(job: Mapping[str, Any]) -> str:
    """The policy for disturbed runs of a job or a study's settings; the default if the key is missing."""
    return str(job.get("disturbance", USUAL))
