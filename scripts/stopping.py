"""Rule stopping: after how many blocks the study stopped, why, and what it saw after each."""

from pathlib import Path

from framewatt.base.files import read_json, write_json, write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.planning.plan import planned_cells
from framewatt.planning.planned import planned_runs
from framewatt.stopping.path import path_of
from framewatt.stopping.record import frame_of, record_of
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Write both."""
    plan = read_json(Path(job.input.plan))
    records = planned_runs(job.input.plan, job.input.records).values()
    path = path_of(planned_cells(plan), plan["settings"], records)
    record = record_of(path)
    write_json(Path(job.output.record), record)
    write_text(Path(job.output.csv), to_csv(frame_of(path)))
    print(record["why"], flush=True)


run_rule(main)
