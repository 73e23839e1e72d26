"""Rule complete: fails, after the report is written, where a planned run or environment is missing or invalid."""

import sys
from pathlib import Path

from framewatt.files import read_json, write_text
from framewatt.records import read_run

print(f"report: {snakemake.input.report}", flush=True)
missing = []
for path in snakemake.input.environments:
    record = read_json(Path(path))
    if record["status"] != "ok":
        missing.append(f"environment {record['name']}: {record['reason']}")
runs = [read_run(Path(path)) for path in snakemake.input.records]
failed = [run for run in runs if run["status"] == "failed" or (run["status"] == "ok" and not run["valid"])]
missing += [f"{run['cell_id']}, repetition {run['repetition']}: {'; '.join(run['reasons'])}" for run in failed]
if missing:
    for line in missing:
        print(f"missing: {line}", file=sys.stderr)
    count = f"{len(failed)} of {len(runs)} runs failed or are invalid"
    sys.exit(f"framewatt: {count}; the report lists them, and the next snakemake repeats just them")
write_text(Path(snakemake.output.done), f"{len(runs)} runs, none failed or invalid\n")
