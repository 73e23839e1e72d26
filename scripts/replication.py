"""A table of own runs beside that of the paper which they measure anew, as CSV, Markdown and LaTeX."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.replication import makers
from framewatt.replication.contract import read_measured
from framewatt.tables.table import write_table


def main() -> None:
    """Make the table and write it in each format."""
    table = makers(snakemake.params.paper)[snakemake.wildcards.replicated](read_measured(snakemake.input))
    for path in map(Path, snakemake.output):
        write_table(table, path)


run(main)
