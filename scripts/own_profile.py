"""Rule own_profile: what a study's own dumps hold, checked, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.profiling.collection import read_own, summary, write_profiles
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Read, check, write."""
    study = job.wildcards.study
    runs, record = read_own(map(Path, job.input.runs))
    write_profiles(study, runs, record, job.output)
    for line in summary(record):
        print(f"{study}: {line}")


run_rule(main)
