"""The tables of a study: one file a table and format, each named `<table>.<csv|md|tex>`."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from framewatt import tables
from framewatt.errors import FramewattError
from framewatt.files import read_json

if TYPE_CHECKING:
    # At run time Snakemake puts the object ahead of the script's first line.
    from snakemake.script import snakemake

runs = pd.read_parquet(snakemake.input.runs)
made = [
    tables.energy_time(pd.read_csv(snakemake.input.cells)),
    tables.accuracy(runs),
    tables.export_agreement(read_json(Path(path)) for path in snakemake.input.get("exports", [])),
    tables.comparisons(pd.read_csv(snakemake.input.comparisons)),
    tables.epochs(pd.read_parquet(snakemake.input.epochs), runs),
    tables.failures(runs),
]
by_name = {table.name: table for table in made}
for path in map(Path, snakemake.output):
    if path.stem not in by_name:
        raise FramewattError(f"{path}: found table {path.stem!r}; allowed: {', '.join(by_name)}")
    tables.write_table(by_name[path.stem], path)
