"""Rule callgraph: who calls whom in one profiled run, as SVG; of a profile that was not read, why it was not."""

from pathlib import Path

import pandas as pd

from framewatt.figures.notes import empty
from framewatt.figures.save import save
from framewatt.profiling.callgraph import draw
from framewatt.profiling.dump import FIELDS, keyed, rows_of_run
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Find the run and draw it."""
    name, path = job.wildcards.profile, Path(job.output.svg)
    profiles = keyed(pd.read_csv(job.input.record))
    named = profiles[profiles["profile"] == name]
    read = named[named["status"] == "ok"]
    if read.empty:
        save(empty(f"Calls of {name}", "no call graph: the profile was not read", named["reason"]), [path])
        return
    one = read.iloc[0]
    of_cell = [(field, "==", one[field]) for field in FIELDS]
    functions, calls = (
        rows_of_run(keyed(pd.read_parquet(frame, filters=of_cell)), one["cell"], one["repetition"])
        for frame in (job.input.functions, job.input.calls)
    )
    again = f", repetition {one['repetition']}" if one["repetition"] > 1 else ""
    draw(functions, calls, ", ".join(one[list(FIELDS)]) + again, path)


run_rule(main)
