"""Figures can be read: names beside points, one kind of scale, disturbed runs apart, looks that differ in grey."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame, study_frame, training_study
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from statistics_settings import settings
from test_figures import TRAINED, cells_of, labelled, traced, words

from framewatt.figures import (
    deploy,
    energy_accuracy,
    energy_time,
    epochs,
    power_traces,
    runtime_batch,
    style,
    training,
    training_series,
)
from framewatt.figures.power_traces import TracedRun
from framewatt.statistics.deploy import judge_choices
from framewatt.witness.window import DISTURBED_BY, WITNESSED

RUNTIMES = ("torch", "tensorflow", "mxnet", "torch2onnx", "tf2onnx", "mx2onnx")
SETTINGS = settings(test="t", accuracy_margin=0.01)


def draw(name: str, runs: pd.DataFrame, epochs_of: pd.DataFrame | None = None) -> Figure:
    """A figure that shows single runs, by its name."""
    of_cells = {
        "energy_time": energy_time.draw,
        "energy_accuracy": energy_accuracy.draw,
        "energy_runtime_batch": runtime_batch.draw_energy,
        "time_runtime_batch": runtime_batch.draw_time,
    }
    if name in of_cells:
        return of_cells[name](runs, cells_of(runs))
    if name == "deploy":
        return deploy.draw(runs, judge_choices(runs, SETTINGS))
    assert epochs_of is not None, "a figure of training"
    return epochs.draw(epochs_of, runs) if name == "epochs" else training.draw_study(name, epochs_of, runs, SETTINGS)


def close(count: int) -> pd.DataFrame:
    """So many cells of one workload, whose energy, time and accuracy differ by a few hundredths at most."""
    batches = (1, 2, 4, 8, 16)
    chosen = [cell(runtime, batch_size=batch) for batch in batches for runtime in RUNTIMES][:count]
    rng = np.random.default_rng(3)
    near = [rng.normal(1, 0.02) * rng.normal(1, 0.01, 3) for _ in range(2 * count)]
    return runs_frame(
        {one: (2e-5 * near[i]).tolist() for i, one in enumerate(chosen)},
        {one: (3e-6 * near[count + i] / one.batch_size).tolist() for i, one in enumerate(chosen)},
        {one: [0.95 + rng.normal(0, 0.002)] * 3 for one in chosen},
    )


def names_of(figure: Figure) -> list[Annotation]:
    return [text for text in figure.findobj(Annotation) if text.get_text()]


@pytest.mark.parametrize("name", ["energy_time", "energy_accuracy", "deploy"])
@pytest.mark.parametrize("count", [12, 30])
def test_names_of_close_points_lie_on_no_other_and_in_their_panel(name: str, count: int) -> None:
    figure = draw(name, close(count))
    figure.draw_without_rendering()
    named = names_of(figure)
    assert len(named) == count
    boxes = {text: Text.get_window_extent(text) for text in named}
    for text, box in boxes.items():
        assert text.axes is not None
        panel = text.axes.get_window_extent()
        assert panel.x0 <= box.x0 <= box.x1 <= panel.x1, text.get_text()
        assert panel.y0 <= box.y0 <= box.y1 <= panel.y1, text.get_text()
    for (one, a), (other, b) in itertools.combinations(boxes.items(), 2):
        assert not a.overlaps(b), (one.get_text(), other.get_text())


@pytest.mark.parametrize("name", ["energy_time", "energy_accuracy", "deploy"])
def test_a_name_far_from_its_point_is_joined_to_it(name: str) -> None:
    figure = draw(name, runs_frame({cell(runtime): [1.0, 1.0, 1.0] for runtime in RUNTIMES}))
    figure.draw_without_rendering()
    lines = [line for line in figure.findobj(Annotation) if not line.get_text()]
    # All six lie on one another, so at most one name can do without.
    assert len(lines) >= len(names_of(figure)) - 1 == 5
    ends, points = ({tuple(np.round(one.xy, 6)) for one in some} for some in (lines, names_of(figure)))
    assert ends == points


def test_a_name_holds_the_levels_and_the_batch_size() -> None:
    runs = runs_frame({cell("torch", batch_size=size): [1.0 * size] * 2 for size in (1, 64)})
    for name in ("energy_time", "deploy"):
        assert sorted(text.get_text() for text in names_of(draw(name, runs))) == ["torch, 1", "torch, 64"]
    assert [text.get_text() for text in names_of(draw("energy_accuracy", runs))] == ["torch", "torch"]


def wide_and_narrow() -> pd.DataFrame:
    """Two panels: joules from 1.0 to 1.3, and from 0.001 to 0.1."""
    levels = {1: {"torch": [1.0, 1.1], "mxnet": [1.2, 1.3]}, 64: {"torch": [0.001, 0.0011], "mxnet": [0.1, 0.11]}}
    return runs_frame({cell(r, batch_size=b): e for b, of in levels.items() for r, e in of.items()})


TRAINING = ("training_energy", "training_power", "epochs")


def two_data_sets(factor: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Epochs and runs of training; on the second data set one runtime takes so many times the other's energy."""
    parts = [training_study(scatter=0.1), training_study(dataset="cifar10", level_j={"torch": factor}, scatter=0.1)]
    return tuple(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))


def energy_axes(figure: Figure) -> list[Any]:
    axes = [axis for panel in figure.axes if panel.axison for axis in (panel.xaxis, panel.yaxis)]
    return [a for a in axes if any(word in a.get_label_text() for word in ("energy", "power"))]


@pytest.mark.parametrize("name", ["energy_time", "energy_accuracy", "deploy", "energy_runtime_batch", *TRAINING])
@pytest.mark.parametrize("wide", [True, False])
def test_panels_of_a_figure_share_a_kind_of_scale_that_their_axes_tell(name: str, wide: bool) -> None:
    if name in TRAINING:
        epochs_of, runs = two_data_sets(300 if wide else 1)
        kept = epochs_of["epoch"] > 1  # The first epoch is five times as dear.
        figure = draw(name, runs, epochs_of[kept & epochs_of["workload"].eq("resnet50")])
    else:
        one = runs_frame({cell(r, batch_size=b): [1.0, 1.1] for r in RUNTIMES for b in (1, 64)})
        figure = draw(name, wide_and_narrow() if wide else one)
    told = energy_axes(figure)
    assert told
    assert {axis.get_scale() for axis in told} == {"log" if wide else "linear"}
    assert {"(logarithmic)" in axis.get_label_text() for axis in told} == {wide}


def test_a_narrow_panel_on_a_logarithmic_scale_has_labels_and_they_do_not_touch() -> None:
    for runs in (wide_and_narrow(), study_frame(3)):
        for name in ("energy_time", "deploy", "energy_runtime_batch", "energy_accuracy"):
            figure = draw(name, runs)
            figure.draw_without_rendering()
            for axes in (axes for axes in figure.axes if axes.axison and axes.get_xlabel()):
                low, high = axes.get_xlim()
                shown = [
                    label.get_window_extent()
                    for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                    if low <= place <= high and label.get_text()
                ]
                assert len(shown) >= 2 or name == "energy_accuracy"
                assert all(a.x1 < b.x0 for a, b in itertools.pairwise(shown)), name


RUN_FIGURES = [
    *("energy_time", "energy_accuracy", "deploy", "energy_runtime_batch", "time_runtime_batch"),
    *("epochs", "training_energy", "training_power", "training_accuracy", "training_utilisation"),
]


@pytest.mark.parametrize("name", [*RUN_FIGURES, "power_traces"])
def test_titles_of_panels_lie_on_no_other_and_on_the_canvas(name: str) -> None:
    more = {"dataset": "a_data_set_of_a_long_name", "precision": "int8_static"}
    models = ("resnet50", "efficientnet_v2_small", "mobilenet_v3_large")
    if name == "power_traces":
        run = traced("infer", estimated=False)
        run.record["cell"].update(more, workload=models[1], runtime="torch2onnx", provider="openvino")
        figure = power_traces.draw([run] * 3, runs_frame({cell("torch"): [1.0]}))
    elif name.startswith(("epochs", "training")):
        epochs_of, runs = training_study(gpu=True, dataset=more["dataset"])
        figure = draw(name, runs, epochs_of.replace({"workload": {"resnet101": models[1]}}))
    else:
        sizes = range(1, 5)
        cells = [cell(r, batch_size=b, workload=m, **more) for m in models for b in sizes for r in ("torch", "mxnet")]
        figure = draw(name, runs_frame({one: [1.0, 1.1] for one in cells}))
    figure.draw_without_rendering()
    titles = [axes._left_title for axes in figure.axes if axes.get_title(loc="left")]
    assert len(titles) >= 2
    boxes = [title.get_window_extent() for title in titles]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


def disturbed(runs: pd.DataFrame) -> pd.DataFrame:
    """The second repetition of every cell was disturbed."""
    return runs.assign(**{DISTURBED_BY: runs["repetition"].eq(2).map({True: "other work", False: ""})})


def in_the_legend(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize("name", RUN_FIGURES)
def test_disturbed_runs_are_rings_in_the_figure_its_legend_and_its_notes(name: str) -> None:
    if name.startswith(("epochs", "training")):
        found = training_study(gpu=True)
        epochs_of, runs, count = found[0], disturbed(found[1]), 18
    else:
        epochs_of, count = None, 4
        one = {cell(r, batch_size=b): [1.0, 1.5, 2.0] for r in ("torch", "mxnet") for b in (1, 64)}
        runs = disturbed(runs_frame(one))
    figure = draw(name, runs, epochs_of)
    assert f"Disturbed by others: {count} of {3 * count} runs" in words(figure)
    assert "disturbed run" in in_the_legend(figure)
    if name == "epochs":
        rings = [line for line in labelled(figure, "_repetition") if line.get_markerfacecolor() == "none"]
        assert len(rings) == 2 * count
    else:
        rings = [place for part in labelled(figure, "_disturbed") for place in part.get_offsets()]
        assert len(rings) == count * (2 if name == "training_power" else 1)
    quiet = draw(name, runs.assign(**{DISTURBED_BY: ""}), epochs_of)
    assert "isturbed" not in words(quiet)


def test_a_figure_of_inference_counts_no_disturbed_training() -> None:
    runs = runs_frame({cell("torch"): [1.0, 2.0, 3.0], TRAINED[0]: [1.0, 2.0, None]})
    runs[DISTURBED_BY] = runs["phase"].eq("train").map({True: "other work", False: ""})
    figure = draw("deploy", runs)
    assert "Disturbed" not in words(figure)
    assert "failed" not in words(figure)


def with_witness(run: TracedRun, by: list[str]) -> TracedRun:
    """A traced run in which a witness looked for what others did."""
    witness = dict.fromkeys(WITNESSED) | {"disturbed": by}
    for window in run.record["windows"].values():
        window["witness"] = witness
        window["end_monotonic_ns"] = window["spans_monotonic_ns"][-1][1]
        window["domains"]["gpu:0"] = {"estimated": False}
    more = {"primary_window": "steady", "epochs": [{"epoch": 1}, {"epoch": 2}], "repetition": 1}
    return TracedRun({**run.record, **more}, run.power)


@pytest.mark.parametrize("by", [[], ["other work took 12 % of the processors"]])
def test_traces_of_disturbed_runs_say_so(by: list[str]) -> None:
    run = with_witness(traced("train", estimated=False), by)
    power = words(power_traces.draw([run], runs_frame({TRAINED[0]: [1.0]})))
    assert ("(disturbed)" in power) == bool(by)
    series = training_series.draw({"torch": [run, run]}, "resnet50")
    assert ("Disturbed by others: 2 of 2 runs" in words(series)) == bool(by)
    assert ("disturbed run" in in_the_legend(series)) == bool(by)


def test_labels_differ_in_their_markers_so_also_in_grey() -> None:
    known = [f"{head}/{provider}" for head in RUNTIMES[3:] for provider in ("cpu", "openvino", "cuda")]
    for labels in ([*RUNTIMES[:3], *known], ["jax", "onednn", "tvm"], ["torch", "jax"]):
        looks = style.looks(labels)
        assert len({look.marker for look in looks.values()}) == len(labels)


def test_lines_and_windows_of_traces_differ_in_grey() -> None:
    figure = power_traces.draw([traced("infer", estimated=False)], runs_frame({cell("torch"): [1.0]}))
    (legend,) = figure.legends
    lines = [line.get_linestyle() for line in legend.get_lines()]
    assert len(set(lines)) == len(lines) == 2
    greys = [(round(float(np.mean(to_rgb(p.get_facecolor()))), 1), p.get_hatch()) for p in legend.get_patches()]
    for one, other in itertools.pairwise(greys):
        assert one != other
