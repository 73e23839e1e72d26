"""Rule repeated: operators that were repeated alone, compared with their cost in the program by its timeline."""

from pathlib import Path

from framewatt.base.files import write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.profiling.repeated import frame_of
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Compare, and write."""
    timelines, repeated = (list(map(Path, folders)) for folders in (job.input.timelines, job.input.repeated))
    write_text(Path(job.output.csv), to_csv(frame_of(timelines, repeated)))


run_rule(main)
