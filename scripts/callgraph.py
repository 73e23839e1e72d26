"""Rule callgraph: who calls whom in one profiled run, as SVG."""

from pathlib import Path

import pandas as pd

from framewatt.base.cli import run
from framewatt.base.errors import FramewattError
from framewatt.profiling.callgraph import draw
from framewatt.profiling.collection import FIELDS


def main() -> None:
    """Find the run and draw it."""
    name, profiles = snakemake.wildcards.profile, pd.read_csv(snakemake.input.record)
    readable = profiles[profiles["status"] == "ok"].set_index("profile")
    if name not in readable.index:
        known = ", ".join(readable.index) or "none"
        raise FramewattError(f"call graph: found no readable profile {name}; allowed: {known}")
    levels = readable.loc[name, list(FIELDS)]
    filters = [(field, "==", level) for field, level in levels.items()]
    functions, calls = (
        pd.read_parquet(path, filters=filters) for path in (snakemake.input.functions, snakemake.input.calls)
    )
    draw(functions, calls, ", ".join(levels), Path(snakemake.output.svg))


run(main)
