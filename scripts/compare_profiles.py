"""Rule compare_profiles: georgiou2022's Tables 5 to 8 beside what the profiles give."""

from pathlib import Path

import pandas as pd

from framewatt.profiling.collection import read_names
from framewatt.profiling.frame import keyed
from framewatt.published.georgiou2022_profiles import compare
from framewatt.tables.functions import functions_published
from framewatt.tables.table import write_table
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Put the paper's functions beside the measured ones, and write the table in each format."""
    functions = pd.read_parquet(job.input.functions)
    profiles = keyed(pd.read_csv(job.input.record))
    resources = Path(job.input.published[0]).parent
    comparison = compare(functions, profiles, resources, read_names(Path(job.input.names)))
    for path in map(Path, job.output):
        write_table(functions_published(comparison), path)


run_rule(main)
