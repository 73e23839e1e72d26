"""Rule source: the original files of data sets, downloaded by checksum."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.datasets.sources import fetch_source


def main() -> None:
    """Download, check, unpack."""
    fetch_source(snakemake.wildcards.source, snakemake.params.definition, Path(snakemake.output.folder))


run(main)
