"""Rule profiler_cost: what the profiler costs, as a table."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.profiling.planned import records_of
from framewatt.tables.profiler_cost import profiler_cost
from framewatt.tables.table import write_table


def main() -> None:
    """Write the table in each format."""
    table = profiler_cost(records_of(snakemake.input.runs))
    for path in map(Path, snakemake.output):
        write_table(table, path)


run(main)
