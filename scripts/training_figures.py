"""Rule training_figures: training over time, and a quantity of it by batch size, model, data set and framework."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from framewatt.figures import notes, training, training_levels, training_series
from framewatt.figures.power_traces import TracedRun
from framewatt.figures.save import save
from framewatt.frames.factor_words import label, phrase
from framewatt.planning.planned import planned_runs
from framewatt.study.factors import reading_order


def draw_series() -> Figure:
    """Every repetition of the combination in the middle of the study's levels."""
    found = planned_runs(snakemake.input.plan, snakemake.input.records)
    records = {path: record for path, record in found.items() if record["valid"] and record["epochs"]}
    levels = training.in_the_middle(list(records.values()), compared)
    traced: dict[str, list[TracedRun]] = {}
    for path, record in sorted(records.items(), key=lambda item: item[1]["repetition"]):
        if all(record["cell"][name] == level for name, level in levels.items()):
            power = pd.read_parquet(path.with_name("power.parquet"))
            traced.setdefault(label(record["cell"], compared), []).append(TracedRun(record, power))
    return training_series.draw(traced, phrase(levels, reading_order(levels)))


def draw_levels(name: str) -> Figure:
    """Every run, by batch size, model, data set and framework."""
    runs, epochs = pd.read_parquet(snakemake.input.runs), pd.read_parquet(snakemake.input.epochs)
    shown = training.values(epochs, runs, name, compared)
    return training_levels.draw(
        shown,
        training.intervals(shown, settings),
        training.described(name, epochs),
        estimate=training.estimate_words(name, epochs),
        left_out=notes.left_out(runs[runs["phase"] == "train"] if "phase" in runs else runs),
    )


settings = snakemake.params.settings
compared = settings["compare"]
name = snakemake.wildcards.training_figure
save(draw_series() if name == "series" else draw_levels(name), map(Path, snakemake.output))
