"""Rule replication: a table that compares own runs with the paper that the study measures anew."""

from pathlib import Path

from framewatt.papers import PAPERS
from framewatt.papers.replication import read_measured
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Make the table and write it in each format."""
    make = PAPERS[job.params.paper].table_makers()[job.wildcards.replicated]
    table = make(read_measured(job.input))
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
