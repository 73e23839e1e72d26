"""Rule repeated: operators that were repeated alone, beside what they take in the program by its timeline."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.profiling.repeated import frame_of


def main() -> None:
    """Compare, and write."""
    timelines, repeated = (
        list(map(Path, folders)) for folders in (snakemake.input.timelines, snakemake.input.repeated)
    )
    write_text(Path(snakemake.output.csv), to_csv(frame_of(timelines, repeated)))


run(main)
