"""The hash of a job, which identifies the artefact that the job makes.

It is also computed inside a framework's image, so this module imports nothing that only the workflow has.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from framewatt.preflight import TOPICS
from framewatt.study.cell import is_measured
from framewatt.witness.judgement import REPEATING

_NO_PART = ("attempt", "timeout_s")
"""Fields of a job that do not change its result: a run that ended in time is the same under any time limit."""


_AS_THEY_ARE = (str, int, bool, type(None))
"""Most values of a job: asking for these first makes the plan of 10,000 runs in half the time."""


def _position_of_topic(topic: str) -> int:
    """Position of a topic in preflight's order."""
    return TOPICS.index(topic) if topic in TOPICS else len(TOPICS)


def _plain(value: Any) -> Any:
    """The canonical form of a value, the same for equal values: 10.0 becomes 10."""
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def job_sha256(job: Mapping[str, Any], **start: Any) -> str:
    """SHA-256 of a job and of what it starts from, as hexadecimal text.

    Args:
        job: see jobs.py; number of the attempt, time limit and path of an own model's folder are left out of the hash.
        start: hashes of what the job starts from, and anything else that determines its result.
    """
    counted = {name: value for name, value in job.items() if name not in _NO_PART}
    if is_measured(job):
        # Measuring is what jobs were for before they had a purpose: it is no part of the hash, so finished runs stay.
        counted.pop("purpose", None)
    if job.get("disturbance") in REPEATING:
        # The runs that count are the same under either: it decides which run is measured again, and which is set aside.
        counted.pop("disturbance")
    if "own" in job:
        counted["own"] = {**job["own"], "folder": None}
    if "preflight" in job:
        # Accepted findings are a set: they are hashed in preflight's order, whatever order the study names them in.
        counted["preflight"] = {
            **job["preflight"],
            "accept": sorted(job["preflight"]["accept"], key=_position_of_topic),
        }
    canonical = json.dumps(
        _plain({"job": counted, "start": start}), sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def idle_domains_sha256(idle: Mapping[str, Any]) -> str:
    """SHA-256 of the parts of a calibration that a run's numbers depend on: idle power by domain, and the witness."""
    witness = {"witness": idle["witness"]} if idle.get("witness") else {}
    return job_sha256({"domains": idle.get("domains"), **witness})
