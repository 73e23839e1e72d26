"""Rule aggregate: the records of the planned runs become frames."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import read_json, write_atomically, write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.frames.totals import Scope
from framewatt.planning.merged_runs import with_own_drift
from framewatt.planning.planned import planned_runs
from framewatt.runs.records import list_text


def main() -> None:
    """Refuse what the plan did not ask for, then write both frames."""
    planned = planned_runs(snakemake.input.plan, snakemake.input.records)
    # The idle power of other machines is in their packages.
    records = (with_own_drift(planned) if snakemake.params.merged else planned).values()
    drifts = drifts_w(read_calibrations(snakemake.input.idle))
    scope = Scope.of(read_json(Path(snakemake.input.plan))["settings"])
    made = {"runs": runs_frame(records, drifts, scope), "epochs": epochs_frame(records, drifts, scope)}
    write_text(Path(snakemake.output.listed), list_text(planned))
    for name, frame in made.items():
        write_atomically(Path(snakemake.output[name]), lambda path, frame=frame: frame.to_parquet(path, index=False))
        write_text(Path(snakemake.output[f"{name}_csv"]), to_csv(frame))


run(main)
