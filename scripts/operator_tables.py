"""Rule operator_tables: joules by operator, by API, and how well timelines resolve them, as tables."""

from pathlib import Path

import pandas as pd

from framewatt.base.cli import run
from framewatt.base.spreadsheet import read_csv
from framewatt.profiling.evidence import weights_in_exports
from framewatt.tables.operators import operator_table
from framewatt.tables.table import write_table


def main() -> None:
    """Write the table in each format."""
    joules, about = (read_csv(path) for path in (snakemake.input.joules, snakemake.input.about))
    runs = pd.read_parquet(snakemake.input.runs)
    table = operator_table(snakemake.wildcards.table, joules, about, runs, weights_in_exports(snakemake.input.exports))
    for path in map(Path, snakemake.output):
        write_table(table, path)


run(main)
