"""The tables of a study: one file per table and format, each named `<table>.<csv|md|tex>`."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.tables.names import TABLES
from framewatt.tables.results import Results
from framewatt.tables.table import write_table


def main() -> None:
    """Make every table, and write each in its formats."""
    results = Results(snakemake.input, snakemake.params)
    made = {name: table.make(results) for name, table in TABLES.items()}
    for path in map(Path, snakemake.output):
        write_table(made[path.stem], path)


run(main)
