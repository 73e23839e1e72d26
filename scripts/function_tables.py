"""Rule function_tables: the functions that take the most time, a table a framework and phase."""

from pathlib import Path

import pandas as pd

from framewatt import tables

frame = pd.read_parquet(snakemake.input.functions)
for path in map(Path, snakemake.output):
    _, framework, phase = path.stem.split("_")
    tables.write_table(tables.functions(frame, framework, phase, snakemake.params.threshold_percent), path)
