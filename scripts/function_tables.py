"""Rule function_tables: the functions that take the most time, for one framework and phase, or those without a name."""

from pathlib import Path

import pandas as pd

from framewatt.tables.functions import functions, functions_unnamed
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Write one table in each format."""
    frame, threshold = pd.read_parquet(job.input.functions), job.params.threshold_percent
    if about := job.params.of:
        framework, phase = about
        table = functions(frame, framework, phase, threshold)
    else:
        table = functions_unnamed(frame, threshold)
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
