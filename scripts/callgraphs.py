"""Rule callgraphs: which call graphs were drawn, and why the others were not."""

from pathlib import Path

import pandas as pd

from framewatt.base.cli import run
from framewatt.base.files import write_text
from framewatt.profiling.callgraph import drawings


def main() -> None:
    """Say of each graph whether it was drawn."""
    record = drawings(pd.read_csv(snakemake.input.record), {Path(path).name for path in snakemake.input.graphs})
    write_text(Path(snakemake.output.record), record.to_csv(index=False, lineterminator="\n"))


run(main)
