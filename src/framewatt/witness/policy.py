"""What a study does with a disturbed run (pure)."""

from collections.abc import Mapping
from typing import Any

FLAG, REPEAT, SET_ASIDE, INVALID = "flag", "repeat", "set_aside", "invalid"
"""Values of a study's `disturbance`: keep the run with a flag; measure it again, and the second try counts; the same,
but set it aside where others disturbed the second try too much (runs.aside); mark it invalid."""

USUAL = SET_ASIDE
"""The default."""

REPEATING = (REPEAT, SET_ASIDE)
"""Those that measure a disturbed run again. The hash of a job is the same under either, so that runs stay valid."""


def disturbance_of(job: Mapping[str, Any]) -> str:
    """The policy for disturbed runs of a job or a study's settings; the default if the key is missing."""
    return str(job.get("disturbance", USUAL))
