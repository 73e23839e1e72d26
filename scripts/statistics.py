"""Statistics of a study's runs: cells, comparisons, correlations, omnibus, trends, accuracy's cost, what to deploy."""

from pathlib import Path

import pandas as pd

from framewatt.base.spreadsheet import to_csv
from framewatt.files import read_json, write_text
from framewatt.plan import planned_cells
from framewatt.statistics import (
    compare_cells,
    correlate,
    fit_trends,
    judge_choices,
    omnibus,
    summarise_cells,
    to_accuracy,
)

runs, epochs = pd.read_parquet(snakemake.input.runs), pd.read_parquet(snakemake.input.epochs)
settings, seed = snakemake.params.settings, int(snakemake.params.seed)
frames = {
    "cells": summarise_cells(runs, settings, seed),
    "comparisons": compare_cells(runs, settings, seed),
    "correlations": correlate(runs, settings),
    "omnibus": omnibus(runs, settings, planned_cells(read_json(Path(snakemake.input.plan)))),
    "trends": fit_trends(epochs, runs, settings),
    "to_accuracy": to_accuracy(epochs, runs, settings, seed),
    "deploy": judge_choices(runs, settings),
}
for name, frame in frames.items():
    # Twelve digits: beyond them lies what this machine's mathematical library makes of a function, which another's,
    # in a container or where a package is rebuilt, does not.
    text = to_csv(frame, float_format="%.12g")
    write_text(Path(snakemake.output[name]), text)
