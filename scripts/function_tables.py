"""Rule function_tables: the functions that take the most time, for one framework and phase, or those without a name."""

from pathlib import Path

import pandas as pd

from framewatt.base.cli import run
from framewatt.tables.functions import functions, functions_unnamed
from framewatt.tables.table import write_table


def main() -> None:
    """Write one table in each format."""
    frame, threshold = pd.read_parquet(snakemake.input.functions), snakemake.params.threshold_percent
    of = snakemake.params.of
    table = functions(frame, *of, threshold) if of else functions_unnamed(frame, threshold)
    for path in map(Path, snakemake.output):
        write_table(table, path)


run(main)
