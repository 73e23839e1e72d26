"""Rule profile: cProfile dumps become frames, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.cli import run
from framewatt.files import write_atomically
from framewatt.profiling.api_names import read_rules, read_types
from framewatt.profiling.collection import read_names, read_profiles
from framewatt.profiling.dump import Trust, read_checksums
from framewatt.profiling.frame import calls_frame, functions_frame


def main() -> None:
    """Read, name, write."""
    given, output = snakemake.input, snakemake.output
    trust = Trust(read_checksums(Path(given.checksums)), every=snakemake.params.trust)
    runs, record = read_profiles(map(Path, given.dumps), read_names(Path(given.names)), trust)
    study, rules = snakemake.wildcards.study, read_rules(Path(given.api_names))
    functions = functions_frame(study, runs, rules, read_types(Path(given.types)))
    for frame, path in ((functions, output.functions), (calls_frame(study, runs), output.calls)):
        write_atomically(Path(path), lambda path, frame=frame: frame.to_parquet(path, index=False))
    for frame, path in ((functions, output.functions_csv), (record, output.record)):
        write_atomically(Path(path), lambda path, frame=frame: frame.to_csv(path, index=False, lineterminator="\n"))


run(main)
