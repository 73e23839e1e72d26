"""Rule profile: what cProfile dumps hold, checked, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.profiling.collection import read_names, read_profiles, summary, write_profiles
from framewatt.profiling.dump import Trust, read_checksums


def main() -> None:
    """Read, check, write."""
    given, output, study = snakemake.input, snakemake.output, snakemake.wildcards.study
    trust = Trust(read_checksums(Path(given.checksums)), every=snakemake.params.trust)
    runs, record = read_profiles(map(Path, given.dumps), read_names(Path(given.names)), trust)
    write_profiles(study, runs, record, output)
    for line in summary(record):
        print(f"{study}: {line}")


run(main)
