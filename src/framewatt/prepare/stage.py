"""Preparation steps that run in a framework's environment: training the weights, exporting, checking the export.

Each step leaves a record, even if it fails, so that the rest of the study goes on.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import in_work, partial_suffix, read_json, write_json
from framewatt.host.memory import heap_settings
from framewatt.host.supervision import supervise, thread_settings
from framewatt.privacy.secrets import Secrets

REPRODUCIBLE_FILES = (
    "weights.pt",
    "weights.weights.h5",
    "weights.params",
    "model.onnx",
    "model.onnx.data",
    "reference.npy",
    "carried.npz",
)
"""Names of the large files that steps make and that can be made again: where results are carried away, they stay."""


def is_without_file(record: Path) -> bool:
    """Return whether a step succeeded by its record, and the file that it made is not next to it.

    Args:
        record: of weights or of an export.
    """
    try:
        succeeded = read_json(record)["status"] == "ok"
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return succeeded and not any((record.parent / name).is_file() for name in REPRODUCIBLE_FILES)


def attempt_of(record: Path, job_sha256: str | None = None) -> int:
    """Return the number of the next attempt.

    The record's number, or one more if the record has a failure worth a retry or invalid energy. For another job than
    the record's it is the first.

    Args:
        record: of the last attempt.
        job_sha256: hash of the job; None takes the record's own job.
    """
    try:
        content = read_json(record)
        if job_sha256 is not None and content.get("job_sha256") != job_sha256:
            return 1
        return int(content["attempt"]) + (1 if worth_repeating(content) else 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # The file cannot be a record of an attempt.
        return 1


def worth_repeating(content: Mapping[str, Any]) -> bool:
    """Return whether a record has a failure that is no result, or a run with invalid energy."""
    failed = content["status"] == "failed" and content.get("repeat", True)
    invalid = content["status"] == "ok" and not content.get("valid", True)
    return bool(failed or invalid)


def input_hashes(job: Mapping[str, Any]) -> dict[str, str | None]:
    """SHA-256 of a step's inputs on disk: its data, and the weights or the model, where there are any.

    Args:
        job: with the path `data`, next to which is the data record, and optionally the path `artefact`.
    """
    paths = {"data": Path(job["data"]).with_suffix(".json")}
    if job.get("artefact") and Path(job["artefact"]).is_dir():
        paths |= {"weights": Path(job["artefact"], "train.json"), "model": Path(job["artefact"], "export.json")}
    keys = {"data": "sha256", "weights": "weights_sha256", "model": "model_sha256"}
    return {name: read_json(path).get(keys[name]) for name, path in paths.items() if path.is_file()}


def run_stage(
    module: str,
    job: Mapping[str, Any],
    environment: Mapping[str, Any],
    folder: Path,
    record_name: str,
    *,
    log: Path,
    repeat_failures: bool,
) -> dict[str, Any]:
    """Run `python -m <module> <job.json>` in an environment and keep what it writes, or the record of its failure.

    The module writes its files and `record_name` (JSON) into `job["folder"]`.

    Args:
        module: the module to run.
        job: its job; `missing` is why it cannot run at all, or None; `attempt`, `job_sha256`, `threads`,
            `timeout_s` as named.
        environment: the environment's record.
        folder: where the files end up.
        record_name: name of the record in it.
        log: file for the module's output.
        repeat_failures: whether a failure of the module is worth a retry (else it is a result).

    Returns:
        the record.
    """

    def supervised(target: Path) -> str | None:
        job_path = target.parent / "job.json"
        job_path.write_text(json.dumps({**job, "folder": str(target)}))
        return supervise(
            [environment["python"], "-m", module, job_path],
            log=log,
            timeout_s=job["timeout_s"],
            environment={**thread_settings(job["threads"]), **heap_settings(job)},
        ).reason

    return store_result(supervised, job, environment, folder, record_name, repeat_failures=repeat_failures)


def store_result(
    make: Callable[[Path], str | None],
    job: Mapping[str, Any],
    environment: Mapping[str, Any],
    folder: Path,
    record_name: str,
    *,
    repeat_failures: bool,
) -> dict[str, Any]:
    """Store what a step makes, whole, or the record of its failure.

    Args:
        make: writes files and `record_name` into a folder; why it failed, or None.
        job: see run_stage.
        environment: see run_stage.
        folder: see run_stage.
        record_name: see run_stage.
        repeat_failures: see run_stage.

    Returns:
        the record.
    """
    missing = job["missing"]
    if missing is None and environment["status"] != "ok":
        missing = f"environment {environment['name']}: {environment['reason']}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix=f".{folder.name}-", suffix=partial_suffix(), dir=folder.parent) as scratch,
        in_work(Path(scratch)),
    ):
        partial = Path(scratch) / "made"
        partial.mkdir()
        reason, repeat = missing, True
        if missing is None:
            reason, repeat = make(partial), repeat_failures
            if reason is None and not (partial / record_name).exists():
                reason = "ended without a record"
        if reason is None:
            record = {"status": "ok", "reason": None, **read_json(partial / record_name)}
        else:
            shutil.rmtree(partial)
            partial.mkdir()
            record = {"status": "failed", "reason": reason, "repeat": repeat}
        attempt = {name: job[name] for name in ("attempt", "job_sha256")}
        record = {**record, **attempt, "made_of": input_hashes(job), "environment": environment["name"]}
        record = Secrets.from_this_machine().redact_reasons(record)
        write_json(partial / record_name, record)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    return record
