"""Rule compare_profiles: the functions that a paper prints next to what its authors' profiles give."""

from pathlib import Path

import pandas as pd

from framewatt.papers import PAPERS
from framewatt.profiling.collection import read_names
from framewatt.profiling.dump import keyed
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Compare the functions and write the table in each format."""
    functions = pd.read_parquet(job.input.functions)
    profiles = keyed(pd.read_csv(job.input.record))
    resources = Path(job.input.published[0]).parent
    names = read_names(Path(job.input.names))
    table = PAPERS[job.params.paper].profile_table(functions, profiles, resources, names)
    for path in map(Path, job.output):
        write_table(table, path)


run_rule(main)
