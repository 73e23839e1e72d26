"""Rule stopping: after how many blocks the study stopped, why, and what it saw after each."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import read_json, write_json, write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.planning.plan import planned_cells
from framewatt.planning.planned import planned_runs
from framewatt.stopping.path import path_of
from framewatt.stopping.record import frame_of, record_of


def main() -> None:
    """Write both."""
    plan = read_json(Path(snakemake.input.plan))
    records = planned_runs(snakemake.input.plan, snakemake.input.records).values()
    path = path_of(planned_cells(plan), plan["settings"], records)
    record = record_of(path)
    write_json(Path(snakemake.output.record), record)
    write_text(Path(snakemake.output.csv), to_csv(frame_of(path)))
    print(record["why"], flush=True)


run(main)
