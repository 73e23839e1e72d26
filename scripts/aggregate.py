"""Rule aggregate: the records of the planned runs become frames."""

import functools
from pathlib import Path

from framewatt.base.files import read_json, write_atomically, write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.frames.totals import Scope
from framewatt.planning.planned import planned_runs, with_own_drift
from framewatt.runs.records import list_text
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Refuse records that are not planned, then write both frames."""
    planned = planned_runs(job.input.plan, job.input.records)
    # The idle power of other machines is in their packages.
    records = (with_own_drift(planned) if job.params.merged else planned).values()
    drifts = drifts_w(read_calibrations(job.input.idle))
    scope = Scope.from_settings(read_json(Path(job.input.plan))["settings"])
    frames = {"runs": runs_frame(records, drifts, scope), "epochs": epochs_frame(records, drifts, scope)}
    write_text(Path(job.output.listed), list_text(planned))
    for name, frame in frames.items():
        write_atomically(Path(job.output[name]), functools.partial(frame.to_parquet, index=False))
        write_text(Path(job.output[f"{name}_csv"]), to_csv(frame))


run_rule(main)
