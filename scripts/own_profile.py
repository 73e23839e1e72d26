"""Rule own_profile: what a study's own dumps hold, checked, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.profiling.collection import summary, write_profiles
from framewatt.profiling.planned import read_own


def main() -> None:
    """Read, check, write."""
    study = snakemake.wildcards.study
    runs, record = read_own(map(Path, snakemake.input.runs))
    write_profiles(study, runs, record, snakemake.output)
    for line in summary(record):
        print(f"{study}: {line}")


run(main)
