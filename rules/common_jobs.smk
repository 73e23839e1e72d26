"""Jobs: what a script is told to do, as one argument of its shell line, and the hash by which its result is known."""

import json

from framewatt.prepare.stage import attempt_of


def as_argument(job):
    """A job as one argument of a shell line."""
    return json.dumps(job, sort_keys=True)


def attempt(wildcards, record):
    """Number of the attempt that is due for what leaves this record."""
    return attempt_of(Path(record.format(**dict(wildcards.items()))))


def hashed_job(make, record, sha256):
    """A job with its hash, at the attempt that is due.

    Args:
        make: the job of an attempt.
        record: path of what an attempt leaves, from the study's results on.
        sha256: the hash of the job.
    """
    number = attempt_of(Path("results", STUDY.name, record), sha256)
    return as_argument({**make(number), "job_sha256": sha256})


def train_job(wildcards):
    """Job of rule train."""
    name = wildcards.model
    return hashed_job(
        lambda attempt: jobs.train_job(STUDY, MODELS[name], attempt),
        f"train/{name}/train.json",
        HASHES.weights[name],
    )


def export_job(wildcards):
    """Job of rule export."""
    name = wildcards.model
    return hashed_job(
        lambda attempt: jobs.export_job(STUDY, MODELS[name], attempt),
        f"export/{name}/onnx/export.json",
        HASHES.exports[name],
    )


def check_job(wildcards):
    """Job of rule check_export."""
    name = wildcards.model
    return hashed_job(
        lambda attempt: jobs.check_job(STUDY, MODELS[name], attempt),
        f"export/{name}/check/check.json",
        HASHES.checks[name],
    )


def quantise_job(wildcards):
    """Job of rule quantise."""
    name, cell = wildcards.quantised, QUANTISED[wildcards.quantised]
    return hashed_job(
        lambda attempt: jobs.quantise_job(STUDY, cell, cell.precision, attempt),
        f"export/{name}/onnx/export.json",
        HASHES.exports[name],
    )


def check_quantised_job(wildcards):
    """Job of rule check_quantised."""
    name, cell = wildcards.quantised, QUANTISED[wildcards.quantised]
    return hashed_job(
        lambda attempt: jobs.check_quantised_job(STUDY, cell, cell.precision, attempt),
        f"export/{name}/check/check.json",
        HASHES.checks[name],
    )


def instruments_job(wildcards):
    """Job of rule instruments."""
    return as_argument(
        {**jobs.instruments_job(STUDY), "job_sha256": HASHES.instruments}
    )


def idle_job(wildcards):
    """Job of rules calibrate and recalibrate."""
    return as_argument({**jobs.idle_job(STUDY), "job_sha256": HASHES.idle})


def planned_order(wildcards):
    """Priority of a run, falling with its place in the order; ready jobs start by priority."""
    return 1 + len(RUNS) - PLANNED[wildcards.run].position


def measure_job(wildcards):
    """Job of rule measure."""
    run = PLANNED[wildcards.run]
    return hashed_job(
        lambda attempt: jobs.measure_job(STUDY, run.cell, run.repetition, attempt),
        f"measure/{wildcards.run}/run.json",
        HASHES.run(run.cell, run.repetition),
    )
