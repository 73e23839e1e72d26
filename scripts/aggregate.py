"""Rule aggregate: run records become frames."""

from pathlib import Path

from framewatt.files import write_atomically
from framewatt.frames import epochs_frame, runs_frame
from framewatt.records import read_run, record_paths

records = [read_run(path) for path in record_paths(snakemake.input.records)]
for frame, name in ((runs_frame(records), "runs"), (epochs_frame(records), "epochs")):
    write_atomically(Path(snakemake.output[name]), lambda path, frame=frame: frame.to_parquet(path, index=False))
    write_atomically(Path(snakemake.output[f"{name}_csv"]), lambda path, frame=frame: frame.to_csv(path, index=False))
