"""Rule callgraphs: which call graphs were drawn, and why the others were not."""

from pathlib import Path

import pandas as pd

from framewatt.base.files import write_text
from framewatt.profiling.callgraph import drawings
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Say of each graph whether it was drawn."""
    record = drawings(pd.read_csv(job.input.record), {Path(path).name for path in job.input.graphs})
    write_text(Path(job.output.record), record.to_csv(index=False, lineterminator="\n"))


run_rule(main)
