"""Rule repeated_table: operators alone and in the program, as a table."""

from pathlib import Path

from framewatt.base.spreadsheet import read_csv
from framewatt.tables.operators import repeated_table
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Write the table in each format."""
    table = repeated_table(read_csv(job.input.repeated))
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
