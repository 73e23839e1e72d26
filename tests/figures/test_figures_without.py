"""A study that lacks what a figure shows: the figure says so in one sentence, or there is no such figure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from frames_factory import cell, epochs_frame, runs_frame, study_frame, training_study
from matplotlib.figure import Figure
from stopping_factory import CELLS, path
from study_factory import loaded
from test_figures import TRAINED, cells_of, traced, words
from test_figures_legible import SETTINGS

from framewatt.figures import (
    beside_paper,
    deploy,
    detections,
    energy_accuracy,
    energy_time,
    epochs,
    load,
    machines,
    operators,
    power_traces,
    runtime_batch,
    stopping,
    training,
    training_series,
)
from framewatt.figures.names import FIGURES, figures_of
from framewatt.figures.power_traces import TracedRun
from framewatt.figures.save import save
from framewatt.profiling.operators import COLUMNS
from framewatt.statistics.deploy import judge_choices
from framewatt.statistics.machines import typed_rows
from framewatt.stopping.record import frame_of

FAILED = runs_frame({cell("torch"): [None, None], TRAINED[0]: [None, None]})
NO_CELLS = cells_of(study_frame(2)).iloc[:0]
NEVER_TOGETHER = {(one.id, block): None for one in CELLS for block in range(1, 9)}


def powerless(phase: str) -> TracedRun:
    """A run whose trace holds no power."""
    run = traced(phase, estimated=False)
    return TracedRun(run.record, run.power[run.power["quantity"] == "utilization_percent"])


def failed_training(figure: str) -> Figure:
    return training.draw_study(figure, epochs_frame(TRAINED[:1]), FAILED, SETTINGS)


def without_gpu() -> Figure:
    return training.draw_study("training_utilisation", *training_study(), SETTINGS)


def without_quality() -> Figure:
    return training.draw_study("training_accuracy", *training_study(accuracies=(None, None)), SETTINGS)


def no_deployment(runs: pd.DataFrame) -> Figure:
    return deploy.draw(runs, judge_choices(runs, SETTINGS))


NO_POINTS = pd.DataFrame(columns=["source", "phase", "model", "framework", "repetition", "energy_j", "run_time_s"])
LOST = {"model": "ssd_small-synthetic-shapes-torch", "status": "failed", "reason": "no memory", "shown": None}
LACKING: dict[str, list[Callable[[], Figure]]] = {
    "energy_time": [lambda: energy_time.draw(FAILED, NO_CELLS)],
    "energy_runtime_batch": [lambda: runtime_batch.draw_energy(FAILED, NO_CELLS)],
    "time_runtime_batch": [lambda: runtime_batch.draw_time(FAILED, NO_CELLS)],
    "energy_accuracy": [
        lambda: energy_accuracy.draw(FAILED, NO_CELLS),
        lambda: energy_accuracy.draw(runs_frame({cell("torch"): [1.0]}).assign(accuracy=None), NO_CELLS),
    ],
    "deploy": [lambda: no_deployment(FAILED), lambda: no_deployment(runs_frame({TRAINED[0]: [1.0, 1.0]}))],
    "machines": [lambda: machines.draw(typed_rows([]), {})],
    "load": [lambda: load.draw(FAILED, {}), lambda: load.draw(runs_frame({cell("torch"): [1.0]}), {})],
    "power_traces": [
        lambda: power_traces.draw([], FAILED),
        lambda: power_traces.draw([powerless("infer")], FAILED),
    ],
    "stopping": [lambda: stopping.draw(frame_of(path(8, change=NEVER_TOGETHER)), {}, None, estimated=False)],
    "epochs": [lambda: epochs.draw(epochs_frame([]), FAILED), lambda: epochs.draw(epochs_frame(TRAINED), FAILED)],
    "detections": [
        lambda: detections.draw([]),
        lambda: detections.draw([LOST]),
    ],
    "operators": [lambda: operators.draw(pd.DataFrame(columns=list(COLUMNS)))],
    "beside_paper": [lambda: beside_paper.draw(NO_POINTS, {"settings": {"replicates": "a2020"}})],
    "training_series": [
        lambda: training_series.draw({}, ""),
        lambda: training_series.draw({"torch": [powerless("train")]}, ""),
    ],
    "training_energy": [lambda: failed_training("training_energy")],
    "training_power": [lambda: failed_training("training_power")],
    "training_utilisation": [lambda: failed_training("training_utilisation"), without_gpu],
    "training_accuracy": [lambda: failed_training("training_accuracy"), without_quality],
}
"""Each figure of studies that lack what it shows."""


def test_every_figure_is_asked() -> None:
    assert LACKING.keys() == FIGURES.keys()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_that_has_nothing_to_show_says_why_in_one_sentence(name: str, tmp_path: Path) -> None:
    for draw in LACKING[name]:
        figure = draw()
        (axes,) = figure.axes
        assert not axes.axison
        assert not axes.lines
        assert not axes.collections
        (sentence,) = axes.texts
        assert sentence.get_text().startswith("No ")
        assert sentence.get_text().count(".") == 1
        assert sentence.get_text().endswith(".")
        assert "stimated" not in words(figure)
        save(figure, [tmp_path / f"{name}.svg"])


def test_the_sentence_is_true_of_the_study() -> None:
    assert "No GPU was metered" in words(without_gpu())
    assert "No accuracy is known of any training run." in words(without_quality())
    for name in ("energy", "power", "utilisation", "accuracy"):
        assert "No training run counts." in words(failed_training(f"training_{name}"))


def test_a_panel_that_has_nothing_to_show_says_so_beside_one_that_has() -> None:
    known = epochs_frame(TRAINED[:1])
    runs = runs_frame({TRAINED[0]: [1.0, 1.0]})
    for column, empty in (("accuracy", 0), ("energy_gross_j", 1)):
        figure = epochs.draw(known.assign(**{column: None}), runs)
        said = [[text.get_text() for text in axes.texts] for axes in figure.axes]
        assert said[empty] == ["unknown of every epoch"]
        assert said[1 - empty] == []


def test_a_run_without_power_is_told_beside_those_that_are_drawn() -> None:
    figure = power_traces.draw([traced("train", estimated=False), powerless("infer")], study_frame(2))
    assert len(figure.axes) == 1
    assert "Not drawn: 1 without a power trace" in words(figure)


def test_widths_that_no_block_gave_are_told() -> None:
    found = frame_of(path(8, noise=0.005, until={"interval": 0.05}))
    levels = {one.id: one.to_dict() for one in CELLS}
    drawn = stopping.draw(found, levels, 0.05, estimated=False)
    assert "no interval yet" not in words(drawn)
    drawn = stopping.draw(found.assign(ratio_low=None, ratio_high=None), levels, 0.05, estimated=False)
    assert words(drawn).count("no interval yet") == 2


def factors(*phases: str, batches: tuple[int, ...] = (1,)) -> dict[str, Any]:
    one = {"workload": ["resnet50"], "runtime": ["torch"], "dataset": ["digits"], "precision": ["fp32"]}
    crossed = [{**one, "phase": [phase], "batch_size": list(batches)} for phase in phases]
    return {"study": "trial", "title": "A trial", "repetitions": 2, "threads": 2, "factors": crossed}


def test_what_a_study_file_alone_excludes_is_no_figure(tmp_path: Path) -> None:
    inference, trainings, both = (
        set(figures_of(loaded(tmp_path, factors(*phases)), ())) for phases in (["infer"], ["train"], ["train", "infer"])
    )
    assert {"epochs", "deploy"} <= both
    assert both - inference == {"epochs"}
    assert both - trainings == {"deploy"}
    more = set(figures_of(loaded(tmp_path, factors("infer", batches=(1, 2))), ()))
    assert not any(name.startswith("training") for name in more)


def test_only_figures_of_energy_or_power_are_of_an_estimate() -> None:
    measured = {name for name, figure in FIGURES.items() if not figure.of_energy({})}
    assert measured == {"time_runtime_batch", "detections", "training_utilisation", "training_accuracy", "stopping"}
    rule = {"at_least": 4, "at_most": 8}
    of_energy = FIGURES["stopping"].of_energy
    assert of_energy({"repetitions": {**rule, "until": {"best": "energy"}}})
    assert not of_energy({"repetitions": {**rule, "until": {"best": "time"}}})
