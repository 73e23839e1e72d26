"""Rule profile: what cProfile dumps hold, checked, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import write_atomically
from framewatt.profiling.collection import read_names, read_profiles, summary
from framewatt.profiling.dump import Trust, read_checksums
from framewatt.profiling.frame import calls_frame, profiled_frame


def main() -> None:
    """Read, check, write."""
    given, output, study = snakemake.input, snakemake.output, snakemake.wildcards.study
    trust = Trust(read_checksums(Path(given.checksums)), every=snakemake.params.trust)
    runs, record = read_profiles(map(Path, given.dumps), read_names(Path(given.names)), trust)
    for frame, path in ((profiled_frame(study, runs), output.functions), (calls_frame(study, runs), output.calls)):
        write_atomically(Path(path), lambda path, frame=frame: frame.to_parquet(path, index=False))
    write_atomically(Path(output.record), lambda path: record.to_csv(path, index=False, lineterminator="\n"))
    for line in summary(record):
        print(f"{study}: {line}")


run(main)
