"""One figure of a study, as SVG, PDF and PNG."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from framewatt.figures import (
    deploy,
    energy_accuracy,
    energy_runtime_batch,
    energy_time,
    epochs,
    power_traces,
    time_runtime_batch,
)
from framewatt.figures.save import save
from framewatt.records import read_run, record_paths


def draw_power_traces() -> Figure:
    """One run of each runtime, with the trace that lies beside its record."""
    paths = record_paths(snakemake.input.records)
    measured = paths[0].parents[2]
    traced = [
        power_traces.TracedRun(
            record, pd.read_parquet(measured / record["cell_id"] / str(record["repetition"]) / "power.parquet")
        )
        for record in power_traces.choose(map(read_run, paths), compared)
    ]
    return power_traces.draw(traced, runs, compared)


runs = pd.read_parquet(snakemake.input.runs)
cells = pd.read_csv(snakemake.input.cells)
compared = snakemake.params.compared
draw: dict[str, Callable[[], Figure]] = {
    "energy_time": lambda: energy_time.draw(runs, cells, compared),
    "energy_runtime_batch": lambda: energy_runtime_batch.draw(runs, cells, compared),
    "time_runtime_batch": lambda: time_runtime_batch.draw(runs, cells, compared),
    "energy_accuracy": lambda: energy_accuracy.draw(runs, cells, compared),
    "deploy": lambda: deploy.draw(runs, pd.read_csv(snakemake.input.deploy), compared),
    "power_traces": draw_power_traces,
    "epochs": lambda: epochs.draw(pd.read_parquet(snakemake.input.epochs), runs, compared),
}
save(draw[snakemake.wildcards.figure](), map(Path, snakemake.output))
