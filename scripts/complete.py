"""Rule complete: fails, after the report is written, where a planned run or environment is missing or invalid."""

import sys
from pathlib import Path

from framewatt.files import read_json, write_text
from framewatt.records import read_run, record_paths

print(f"report: {snakemake.input.report}", flush=True)
missing = []
for path in snakemake.input.environments:
    record = read_json(Path(path))
    if record["status"] != "ok":
        missing.append(f"environment {record['name']}: {record['reason']}")
runs = [read_run(path) for path in record_paths(snakemake.input.records)]
failed = [run for run in runs if run["status"] == "failed" or (run["status"] == "ok" and not run["valid"])]
missing += [f"{run['cell_id']}, repetition {run['repetition']}: {'; '.join(run['reasons'])}" for run in failed]
for line in missing:
    print(f"missing: {line}", file=sys.stderr)
count = f"{len(failed)} of {len(runs)} runs failed or are invalid"
# What files lack, no further try would give.
if missing and not all(run.get("source") == "files" for run in runs):
    sys.exit(f"framewatt: {count}; the report lists them, and the next snakemake repeats just them")
write_text(
    Path(snakemake.output.done),
    "\n".join([f"{len(runs)} runs, {len(failed) or 'none'} failed or invalid", *missing, ""]),
)
