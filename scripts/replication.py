"""A table of own runs beside that of the paper which they measure anew, as CSV, Markdown and LaTeX."""

from pathlib import Path

from framewatt.replication import makers
from framewatt.replication.contract import read_measured
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Make the table and write it in each format."""
    table = makers(job.params.paper)[job.wildcards.replicated](read_measured(job.input))
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
