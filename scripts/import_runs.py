"""Rule import_runs: the runs of a study from the files that other tools left, as records and traces."""

from pathlib import Path

from framewatt.base.identity import ROOT, code_identity
from framewatt.imports.importing import import_runs
from framewatt.meters.trace_file import write_trace
from framewatt.runs.records import write_events, write_run
from framewatt.study.study import FileStudy
from framewatt.workflow.setup import load_setup
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Read every run, write it, and print how many could not be read."""
    study = load_setup(job.config, ROOT).studies[job.wildcards.study]
    assert isinstance(study, FileStudy)
    runs = import_runs(study, code_identity())
    for imported in runs:
        record = imported.record
        folder = Path(job.output.records) / record["cell_id"] / str(record["repetition"])
        write_trace(folder / "power.parquet", imported.trace)
        write_events(folder / "events.parquet", imported.events, imported.clock)
        write_run(folder / "run.json", record)
        if record["status"] != "ok":
            print(f"{record['cell_id']}, repetition {record['repetition']}: {'; '.join(record['reasons'])}")
    failed = sum(imported.record["status"] != "ok" for imported in runs)
    print(f"{study.name}: {len(runs)} runs from {study.root}, {failed} could not be read")


run_rule(main)
