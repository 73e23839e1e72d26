"""The tables of a study: one file per table and format, each named `<table>.<csv|md|tex>`."""

from pathlib import Path

from framewatt.tables.names import TABLES
from framewatt.tables.results import Results
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Make every table, and write each in its formats."""
    results = Results(job.input, job.params)
    tables = {name: table.make(results) for name, table in TABLES.items()}
    for path in map(Path, job.output):
        write_table(tables[path.stem], path)


run_rule(main)
