"""Statistics of a study's runs: cells, comparisons, correlations, omnibus tests."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from framewatt.files import write_text
from framewatt.statistics import compare_cells, correlate, omnibus, summarise_cells

if TYPE_CHECKING:
    # At run time Snakemake puts the object ahead of the script's first line.
    from snakemake.script import snakemake

runs = pd.read_parquet(snakemake.input.runs)
settings, seed = snakemake.params.settings, int(snakemake.params.seed)
frames = {
    "cells": summarise_cells(runs, settings, seed),
    "comparisons": compare_cells(runs, settings, seed),
    "correlations": correlate(runs, settings, seed),
    "omnibus": omnibus(runs, settings),
}
for name, frame in frames.items():
    write_text(Path(snakemake.output[name]), frame.to_csv(index=False, lineterminator="\n"))
