"""Jobs: what a script is told to do, as one argument of its shell line (src/framewatt/workflow/study_jobs.py)."""

from framewatt.workflow.study_jobs import StudyJobs
from framewatt.prepare.stage import attempt_of

JOBS = (
    {
        STUDY.name: StudyJobs(
            MEASURED[STUDY.name], HASHES, Path("results", STUDY.name), DUE.runs
        )
    }
    if HASHES
    else {}
)
"""By study; rules that measure or prepare have jobs of no other."""


def job(kind, wildcard=None):
    """A job of a kind, as a parameter.

    Args:
        kind: the method of StudyJobs.
        wildcard: names what the job is about: a model, or a run.
    """

    def found(wildcards):
        about = [getattr(wildcards, wildcard)] if wildcard else []
        return getattr(JOBS[wildcards.study], kind)(*about)

    return found


def planned_order(wildcards):
    """Priority of a run, falling with its place in the order."""
    return MEASURED[wildcards.study].priority(wildcards.run)
