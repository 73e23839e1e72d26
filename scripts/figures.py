"""One figure of a study, as SVG, PDF and PNG."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from framewatt.base.spreadsheet import read_csv
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
from framewatt.planning.planned import planned_runs


def draw_power_traces() -> Figure:
    """One run of each runtime, with the trace that lies beside its record."""
    found = planned_runs(snakemake.input.plan, snakemake.input.records)
    trace_of = {id(record): path.with_name("power.parquet") for path, record in found.items()}
    traced = [
        power_traces.TracedRun(record, pd.read_parquet(trace_of[id(record)]))
        for record in power_traces.choose(found.values(), compared)
    ]
    return power_traces.draw(traced, runs, compared)


runs = pd.read_parquet(snakemake.input.runs)
cells = read_csv(snakemake.input.cells)
compared = snakemake.params.compared
draw: dict[str, Callable[[], Figure]] = {
    "energy_time": lambda: energy_time.draw(runs, cells, compared),
    "energy_runtime_batch": lambda: energy_runtime_batch.draw(runs, cells, compared),
    "time_runtime_batch": lambda: time_runtime_batch.draw(runs, cells, compared),
    "energy_accuracy": lambda: energy_accuracy.draw(runs, cells, compared),
    "deploy": lambda: deploy.draw(runs, read_csv(snakemake.input.deploy), compared),
    "power_traces": draw_power_traces,
    "epochs": lambda: epochs.draw(pd.read_parquet(snakemake.input.epochs), runs, compared),
}
save(draw[snakemake.wildcards.figure](), map(Path, snakemake.output))
