"""The job of a run, and its worker as a supervised process: started, limited in time, its events read."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.host.lock import MachineLock
from framewatt.host.memory import heap_settings
from framewatt.host.supervision import Outcome, supervise, thread_settings
from framewatt.meters.gpus import GPU_ORDER
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.study.records import Event, RunJob

EVENTS, RESULT = "events.jsonl", "result.json"
"""Names of what the worker writes."""


def python_of(environment: Mapping[str, Any]) -> Path:
    """Return the interpreter of an environment; in a container its record has the name alone."""
    python = str(environment["python"])
    return Path(shutil.which(python) or python)


def work(
    job: Mapping[str, Any],
    environment: Mapping[str, Any],
    scratch: Path,
    log: Path,
    lock: MachineLock,
    module: str = "framewatt.runs.worker",
) -> Outcome:
    """Run a worker in the framework's environment.

    Args:
        job: what to run.
        environment: the environment's record.
        scratch: an empty folder, in which EVENTS and RESULT will be.
        log: takes what the worker prints.
        lock: the machine's, which the worker inherits.
        module: the worker's.
    """
    paths = {"events": str(scratch / EVENTS), "result": str(scratch / RESULT)}
    (scratch / "job.json").write_text(json.dumps({**job, **paths}))
    outcome = supervise(
        [environment["python"], "-m", module, scratch / "job.json"],
        log=log,
        timeout_s=job["timeout_s"],
        # The worker's temporary files are deleted with the scratch folder, also where the worker is killed.
        environment={
            **thread_settings(job["threads"]),
            **heap_settings(job),
            **GPU_ORDER,
            "TMPDIR": str(scratch),
        },
        keep=lock.files,
    )
    if outcome.reason is None and not (scratch / RESULT).exists():
        return Outcome("ended without a result", outcome.started_ns, outcome.ended_ns)
    return outcome


def events_of(scratch: Path, outcome: Outcome) -> list[Event]:
    """Return the worker's events between start and end of its process; a line cut short by a crash is left out.

    Args:
        scratch: the worker's folder.
        outcome: of the worker.
    """
    path = scratch / EVENTS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    inside = [json.loads(line) for line in lines if line.endswith("\n")]
    return [
        {"window": "process", "edge": "start", "monotonic_ns": outcome.started_ns},
        *inside,
        {"window": "process", "edge": "end", "monotonic_ns": outcome.ended_ns},
    ]


def starting_point(model: Path | None, check: Path | None) -> dict[str, Any]:
    """Return the trained weights or the export that a run starts from: its hash, or why there is none.

    Args:
        model: folder of the weights or of the export; None where a run starts from neither.
        check: folder of the export's check; None where it starts from weights.
    """
    if model is None:
        return {"artefact": None, "sha256": None, "missing": None, "repeat": True}
    record = read_json(check / CHECK_RECORD) if check else read_json(model / TRAIN_RECORD)
    usable = record["status"] in ("ok", "deviates")
    return {
        "artefact": str(model),
        "sha256": record.get("model_sha256" if check else "weights_sha256"),
        "missing": None if usable else f"{'export' if check else 'training'}: {record['reason']}",
        "repeat": record["status"] == "failed" and record.get("repeat", True),
    }


def run_job(planned: Mapping[str, Any], **known_here: Any) -> RunJob:
    """Return the planned job with what is known only here: `position`, `data`, `artefact`, ... .

    Raises:
        FramewattError: a field that every run needs is left out, or one is unknown.
    """
    job = {**planned, **known_here}
    if left_out := sorted(RunJob.__required_keys__ - job.keys()):
        raise FramewattError(f"job of a run: {', '.join(left_out)} is missing. Give every required field of RunJob.")
    if unknown := sorted(job.keys() - RunJob.__required_keys__ - RunJob.__optional_keys__):
        raise FramewattError(f"job of a run: {', '.join(unknown)} is unknown. Use the fields of study.records.RunJob.")
    return cast("RunJob", job)
