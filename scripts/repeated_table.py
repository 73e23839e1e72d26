"""Rule repeated_table: operators alone beside those in the program, as a table."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.spreadsheet import read_csv
from framewatt.tables.repeated import repeated_table
from framewatt.tables.table import write_table


def main() -> None:
    """Write the table in each format."""
    table = repeated_table(read_csv(snakemake.input.repeated))
    for path in map(Path, snakemake.output):
        write_table(table, path)


run(main)
