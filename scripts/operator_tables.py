"""Rule operator_tables: joules by operator, by API, and how well timelines resolve them, as tables."""

from pathlib import Path

import pandas as pd

from framewatt.base.spreadsheet import read_csv
from framewatt.profiling.advice import weights_in_exports
from framewatt.tables.operators import operator_table
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Write the table in each format."""
    joules, about = (read_csv(path) for path in (job.input.joules, job.input.about))
    runs = pd.read_parquet(job.input.runs)
    table = operator_table(job.wildcards.table, joules, about, runs, weights_in_exports(job.input.exports))
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
