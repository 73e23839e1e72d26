"""The tables of a study: one file a table and format, each named `<table>.<csv|md|tex>`."""

from pathlib import Path

import pandas as pd

from framewatt import tables
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.planning.planned import planned_runs
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD

models = [{"model": Path(folder).name, **read_json(Path(folder) / TRAIN_RECORD)} for folder in snakemake.input.models]
exports = [read_json(Path(folder) / CHECK_RECORD) for folder in snakemake.input.exports]
runs = pd.read_parquet(snakemake.input.runs)
models += tables.models_of_runs(planned_runs(snakemake.input.plan, snakemake.input.records).values(), models)
made = [
    tables.energy_time(read_csv(snakemake.input.cells)),
    tables.accuracy(runs),
    tables.fairness(models, exports),
    tables.export_agreement(exports),
    tables.deploy(read_csv(snakemake.input.deploy), snakemake.params.costs),
    tables.comparisons(read_csv(snakemake.input.comparisons)),
    tables.epochs(pd.read_parquet(snakemake.input.epochs), runs),
    tables.trends(read_csv(snakemake.input.trends)),
    tables.to_accuracy(read_csv(snakemake.input.to_accuracy)),
    tables.failures(runs),
]
by_name = {table.name: table for table in made}
for path in map(Path, snakemake.output):
    if path.stem not in by_name:
        raise FramewattError(f"{path}: found table {path.stem!r}; allowed: {', '.join(by_name)}")
    tables.write_table(by_name[path.stem], path)
