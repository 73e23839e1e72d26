"""Rule source: the original files of data sets, downloaded by checksum."""

from pathlib import Path

from framewatt.datasets.sources import fetch_source
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Download, check, unpack."""
    fetch_source(job.wildcards.source, job.params.definition, Path(job.output.folder))


run_rule(main)
