"""The report of each study for one GPU is made of what was carried away: of all of it, or of an interrupted slice."""

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT, Checkout, environment

from framewatt.gpu import STUDIES
from framewatt.gpu.carried import report_words
from framewatt.planning.jobs import environments_of, exported_models_of, timeline_cells_of, trained_models_of
from framewatt.study.study import MeasuredStudy
from framewatt.workflow.setup import load_setup


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    checkout = Checkout(tmp_path / "home")
    monkeypatch.chdir(checkout.root)
    return checkout


def lay_out(name: str, *, whole: bool) -> None:
    """Put empty files where `make gpu-collect` puts those of a study: of all runs, or of every second one."""
    study = load_setup({"study": name, "environment": "host", "absent": {}, "device": "cuda"}, ROOT).study
    assert isinstance(study, MeasuredStudy)
    results = Path("results", name)
    cells = study.cells if whole else study.cells[::2]
    part = MeasuredStudy(**{**vars(study), "cells": cells}) if not whole else study
    paths = [results / "plan/plan.json", results / "calibrate/idle.json", results / "calibrate/instruments.json"]
    for run in part.runs():
        folder = results / "measure" / run.cell.id / str(run.repetition)
        paths += [folder / file for file in ("run.json", "power.parquet", "events.parquet")]
    paths += [results / "train" / model / "train.json" for model in trained_models_of(part)]
    paths += [results / "export" / model / "check/check.json" for model in exported_models_of(part)]
    paths += [Path("resources/environments/host", name, "environment.json") for name in environments_of(part)]
    if whole:
        paths.append(results / "calibrate/idle_after.json")
        paths += [results / "timelines" / cell / "timeline.json" for cell in timeline_cells_of(study)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", STUDIES)
def test_a_report_needs_nothing_that_is_not_carried(home: Checkout, name: str, whole: bool) -> None:
    lay_out(name, whole=whole)
    words = report_words(name, {"device": "cuda", "absent": {}}, whole=whole)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", *words],
        cwd=home.root,
        env={**environment(), "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "write_report" in done.stdout + done.stderr
