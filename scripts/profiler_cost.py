"""Rule profiler_cost: what the profiler costs, as a table."""

from pathlib import Path

from framewatt.profiling.collection import records_of
from framewatt.tables.functions import profiler_cost
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Write the table in each format."""
    table = profiler_cost(records_of(job.input.runs))
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
