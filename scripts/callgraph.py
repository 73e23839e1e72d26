"""Rule callgraph: who calls whom in one profiled run, as SVG."""

from pathlib import Path

import pandas as pd

from framewatt.profiling.callgraph import draw

wanted = snakemake.wildcards
run = {"workload": wanted.workload, "framework": wanted.framework, "phase": wanted.phase}
filters = [(field, "==", level) for field, level in run.items()]
functions, calls = (
    pd.read_parquet(path, filters=filters) for path in (snakemake.input.functions, snakemake.input.calls)
)
draw(functions, calls, ", ".join(run.values()), Path(snakemake.output.svg))
