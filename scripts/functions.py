"""Rule functions: profiled functions get the names and types of their framework's API."""

from pathlib import Path

import pandas as pd

from framewatt.base.files import write_atomically
from framewatt.profiling.api_names import read_rules, read_types
from framewatt.profiling.dump import functions_frame, keyed
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Read, name, write."""
    given, output = job.input, job.output
    rules, types = read_rules(Path(given.api_names)), read_types(Path(given.types))
    profiled, calls = (keyed(pd.read_parquet(path)) for path in (given.profiled, given.calls))
    frame = functions_frame(profiled, calls, rules, types)
    write_atomically(Path(output.frame), lambda path: frame.to_parquet(path, index=False))
    write_atomically(Path(output.csv), lambda path: frame.to_csv(path, index=False, lineterminator="\n"))


run_rule(main)
