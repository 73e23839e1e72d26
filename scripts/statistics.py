"""Statistics of a study's runs: answers, cells, comparisons, drift, trends, accuracy's cost, what to deploy."""

from pathlib import Path

import pandas as pd

from framewatt.base.files import read_json, write_text
from framewatt.base.spreadsheet import to_csv
from framewatt.planning.plan import planned_cells
from framewatt.planning.planned import planned_runs
from framewatt.statistics.accuracies import read_test_sets
from framewatt.statistics.answers import answer
from framewatt.statistics.assumptions import drift
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.deploy import judge_choices
from framewatt.statistics.hypothesis_tests import omnibus
from framewatt.statistics.machines import answer_by_machine
from framewatt.statistics.to_accuracy import to_accuracy
from framewatt.statistics.trends import correlate, fit_trends
from framewatt.stopping.record import looks_of
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Make every frame of statistics, and write each as CSV."""
    runs, epochs = pd.read_parquet(job.input.runs), pd.read_parquet(job.input.epochs)
    plan = read_json(Path(job.input.plan))
    planned, looks = planned_cells(plan), looks_of(plan["settings"])
    settings = job.params.settings
    records = planned_runs(job.input.plan, job.input.records)
    tested = read_test_sets(records, plan["settings"].get("models") or ())
    frames = {
        "cells": summarise_cells(runs, settings),
        "answers": answer(runs, settings, planned, looks),
        "machines": answer_by_machine(runs, settings, planned, looks),
        "comparisons": compare_cells(runs, settings),
        "correlations": correlate(runs, settings),
        "drift": drift(runs, settings),
        "omnibus": omnibus(runs, settings, planned),
        "trends": fit_trends(epochs, runs, settings),
        "to_accuracy": to_accuracy(epochs, runs, settings),
        "deploy": judge_choices(runs, settings, tested, looks),
    }
    for name, frame in frames.items():
        # Twelve digits: beyond them lies what this machine's mathematical library makes of a function, which another's,
        # in a container or where a package is rebuilt, does not.
        text = to_csv(frame, float_format="%.12g")
        write_text(Path(job.output[name]), text)


run_rule(main)
