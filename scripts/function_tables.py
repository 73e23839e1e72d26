"""Rule function_tables: the functions that take the most time, one table per framework and phase."""

from pathlib import Path

import pandas as pd

from framewatt import tables
from framewatt.profiling.collection import read_names

frame, threshold = pd.read_parquet(snakemake.input.functions), snakemake.params.threshold_percent
names = read_names(Path(snakemake.input.names))
made = [
    tables.functions(frame, framework, phase, threshold)
    for framework in names.all("framework")
    for phase in names.all("phase")
]
by_name = {table.name: table for table in made}
for path in map(Path, snakemake.output):
    tables.write_table(by_name[path.stem], path)
