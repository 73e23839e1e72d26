"""One figure of a study, as SVG, PDF and PNG."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from framewatt.figures import energy_runtime_batch, energy_time, epochs, power_traces
from framewatt.figures.save import save
from framewatt.records import read_run

if TYPE_CHECKING:
    # At run time Snakemake puts the object ahead of the script's first line.
    from snakemake.script import snakemake


def draw_power_traces() -> Figure:
    """One run of each runtime, with the trace that lies beside its record."""
    paths = map(Path, snakemake.input.records)
    folders = {(record["cell_id"], record["repetition"]): (record, path.parent) for path in paths for record in [read_run(path)]}
    chosen = power_traces.choose(record for record, _ in folders.values())
    traced = []
    for record in chosen:
        folder = folders[record["cell_id"], record["repetition"]][1]
        traced.append(power_traces.TracedRun(record, pd.read_parquet(folder / "power.parquet")))
    return power_traces.draw(traced, runs)


runs = pd.read_parquet(snakemake.input.runs)
cells = pd.read_csv(snakemake.input.cells)
draw: dict[str, Callable[[], Figure]] = {
    "energy_time": lambda: energy_time.draw(runs, cells),
    "energy_runtime_batch": lambda: energy_runtime_batch.draw(runs, cells),
    "power_traces": draw_power_traces,
    "epochs": lambda: epochs.draw(pd.read_parquet(snakemake.input.epochs), runs),
}
save(draw[snakemake.wildcards.figure](), map(Path, snakemake.output))
