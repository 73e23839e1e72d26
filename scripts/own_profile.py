"""Rule own_profile: what a study's own dumps hold, checked, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.profiling.collection import write_profiles
from framewatt.profiling.own import read_own


def main() -> None:
    """Read, check, write."""
    write_profiles(snakemake.wildcards.study, *read_own(map(Path, snakemake.input.runs)), snakemake.output)


run(main)
