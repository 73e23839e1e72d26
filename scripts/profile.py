"""Rule profile: cProfile dumps become frames, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.files import write_atomically
from framewatt.profiling.api_names import read_rules, read_types
from framewatt.profiling.collection import read_names, read_profiles
from framewatt.profiling.dump import Trust, read_checksums
from framewatt.profiling.frame import calls_frame, functions_frame

study, output = snakemake.wildcards.study, snakemake.output
trust = Trust(read_checksums(Path(snakemake.input.checksums)), every=snakemake.params.trust)
names = read_names(Path(snakemake.input.names))
runs, record = read_profiles(map(Path, snakemake.input.dumps), names, trust)
rules, types = read_rules(Path(snakemake.input.api_names)), read_types(Path(snakemake.input.types))
functions = functions_frame(study, runs, rules, types)
for frame, path in ((functions, output.functions), (calls_frame(study, runs), output.calls)):
    write_atomically(Path(path), lambda path, frame=frame: frame.to_parquet(path, index=False))
for frame, path in ((functions, output.functions_csv), (record, output.record)):
    write_atomically(Path(path), lambda path, frame=frame: frame.to_csv(path, index=False, lineterminator="\n"))
