"""Rule function_tables: the functions that take the most time, for one framework and phase."""

from pathlib import Path

import pandas as pd

from framewatt.base.cli import run
from framewatt.profiling.collection import read_names
from framewatt.profiling.frame import file_name
from framewatt.tables.functions import functions
from framewatt.tables.table import write_table


def main() -> None:
    """Write the table of one framework and phase in each format."""
    frame, threshold = pd.read_parquet(snakemake.input.functions), snakemake.params.threshold_percent
    names = read_names(Path(snakemake.input.names))
    levels = {
        f"functions_{file_name(framework, phase)}": (framework, phase)
        for framework in names.all("framework")
        for phase in names.all("phase")
    }
    table = functions(frame, *levels[snakemake.wildcards.table], threshold)
    for path in map(Path, snakemake.output):
        write_table(table, path)


run(main)
