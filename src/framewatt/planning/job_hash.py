"""The hash of a job, by which an artefact is known.

A run in the image of a framework needs it, where nothing is that only the workflow needs (see the imports).
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from framewatt.preflight import TOPICS

_NO_PART = ("attempt", "timeout_s")
"""What of a job leaves its result as it is: a run that ended in time is the same under any limit."""


def _found_as(topic: str) -> int:
    """Place of a topic among what preflight looks at."""
    return TOPICS.index(topic) if topic in TOPICS else len(TOPICS)


def _plain(value: Any) -> Any:
    """A value in the one form that stands for all that are equal to it: 10.0 is 10."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def job_sha256(job: Mapping[str, Any], **start: Any) -> str:
    """SHA-256 of a job and of what it starts from, as hexadecimal text.

    Args:
        job: see jobs.py; the number of the attempt, the time limit and the place of an own model's folder are no part.
        start: hashes of what the job starts from, and what else decides its result.
    """
    counted = {name: value for name, value in job.items() if name not in _NO_PART}
    if "own" in job:
        counted["own"] = {**job["own"], "folder": None}
    if "preflight" in job:
        # What is accepted is a set: in whichever order it is named, it counts in that in which it is found.
        counted["preflight"] = {**job["preflight"], "accept": sorted(job["preflight"]["accept"], key=_found_as)}
    canonical = json.dumps(
        _plain({"job": counted, "start": start}), sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def idle_domains_sha256(idle: Mapping[str, Any]) -> str:
    """SHA-256 of what of a calibration a run's numbers hold: idle power by domain, and what others did."""
    witness = {"witness": idle["witness"]} if idle.get("witness") else {}
    return job_sha256({"domains": idle.get("domains"), **witness})
