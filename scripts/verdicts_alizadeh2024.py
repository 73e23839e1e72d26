"""Rule verdicts_alizadeh2024: every number of the paper beside what its own tables give."""

from pathlib import Path

from framewatt.published import alizadeh2024
from framewatt.published.written import write_verdicts
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Recount the paper's numbers, and write the verdicts."""
    verdicts = alizadeh2024.recount(Path(job.input.claims).parent)
    write_verdicts(alizadeh2024.STUDY, verdicts, map(Path, job.output.verdicts))


run_rule(main)
