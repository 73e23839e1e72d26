"""Jobs: what a script is told to do, as one argument of its shell line."""

import json

from framewatt.stage import attempt_of


def as_argument(job):
    """A job as one argument of a shell line; keys are sorted so that the same job is the same parameter."""
    return json.dumps(job, sort_keys=True)


def attempt(wildcards, record):
    """Number of the attempt that is due for what leaves this record."""
    return attempt_of(Path(record.format(**dict(wildcards.items()))))


def train_job(wildcards):
    """Job of rule train."""
    number = attempt(wildcards, "results/{study}/train/{model}/train.json")
    return as_argument(jobs.train_job(STUDY, MODELS[wildcards.model], number))


def export_job(wildcards):
    """Job of rule export."""
    number = attempt(wildcards, "results/{study}/export/{model}/onnx/export.json")
    return as_argument(jobs.export_job(STUDY, MODELS[wildcards.model], number))


def check_job(wildcards):
    """Job of rule check_export."""
    number = attempt(wildcards, "results/{study}/export/{model}/check/check.json")
    return as_argument(jobs.check_job(STUDY, MODELS[wildcards.model], number))


def quantise_job(wildcards):
    """Job of rule quantise."""
    number = attempt(
        wildcards, "results/{study}/export/{model}/{precision}/onnx/export.json"
    )
    return as_argument(
        jobs.quantise_job(STUDY, MODELS[wildcards.model], wildcards.precision, number)
    )


def check_quantised_job(wildcards):
    """Job of rule check_quantised."""
    number = attempt(
        wildcards, "results/{study}/export/{model}/{precision}/check/check.json"
    )
    return as_argument(
        jobs.check_quantised_job(
            STUDY, MODELS[wildcards.model], wildcards.precision, number
        )
    )


def planned_order(wildcards):
    """Priority of a run, falling with its place in the order; ready jobs start by priority."""
    return 1 + len(RUNS) - POSITIONS[wildcards.cell, wildcards.repetition]


def measure_job(wildcards):
    """Job of rule measure."""
    number = attempt(wildcards, "results/{study}/measure/{cell}/{repetition}/run.json")
    return as_argument(
        jobs.measure_job(
            STUDY, CELLS[wildcards.cell], int(wildcards.repetition), number
        )
    )
