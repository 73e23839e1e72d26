"""Figures of the published studies: the same bytes every time, a mark for every run, words where nothing is given."""

import numpy as np
import pandas as pd
import pytest

from framewatt.figures import training, training_series
from framewatt.figures.power_traces import TracedRun
from framewatt.figures.save import save
from framewatt.papers.georgiou2022 import figures as georgiou2022_figures
from framewatt.papers.itu2023 import figures as itu2023_figures
from framewatt.papers.itu2023.epochs import FACTORS


def circles():
    rows = [
        (model, framework, run, 1000.0 * factor + run, 60.0 * factor)
        for model, factor in (("NCF", 1), ("SSD", 3))
        for framework in ("pytorch", "tensorflow")
        for run in range(1, 11)
    ]
    return pd.DataFrame(rows, columns=["model", "framework", "repetition", "energy_j", "run_time_s"])


def levels(part=""):
    rows = [
        ("CIFAR10", model, batch, framework, run, part, 100.0 + batch + run)
        for model in ("resnet50", "resnet101")
        for batch in (32, 64)
        for framework in ("pytorch", "tensorflow")
        for run in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["dataset", "workload", "batch_size", "label", "repetition", "part", "value"])


def draw_levels(values, figure):
    """A figure without intervals, as two runs a framework have none."""
    none = pd.DataFrame(columns=[*values.columns.drop(["repetition", "value"]), "low", "high"])
    return training.draw(values, none, itu2023_figures.FIGURES[figure])


def traced(framework, repetition):
    time_ns = np.arange(5) * 10**9
    quantities = [
        "power_w",
        "temperature_c",
        "memory_used_b",
        "utilization_percent",
        "memory_utilization_percent",
    ]
    power = pd.concat(
        pd.DataFrame({"monotonic_ns": time_ns, "domain": "gpu:0", "quantity": name, "value": np.arange(5.0)})
        for name in quantities
    )
    record = {
        "cell": {"framework": framework},
        "repetition": repetition,
        "epochs": [{"epoch": 1}],
        "primary_window": None,
    }
    window = {"end_monotonic_ns": 3 * 10**9, "domains": {"gpu:0": {"estimated": False}}}
    return TracedRun(record | {"windows": {"epoch-1": window}}, power)


FIGURES = {
    "circles": lambda: georgiou2022_figures.draw(circles(), "training"),
    **{
        name: lambda name=name: draw_levels(
            pd.concat([levels(), levels("epoch 1")]) if name.endswith("3") else levels(), name
        )
        for name in itu2023_figures.FIGURES
    },
    "traces": lambda: training_series.draw(
        {"pytorch": [traced("pytorch", 1)], "tensorflow": [traced("tensorflow", 1)]}, "CIFAR10, resnet50"
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_data_gives_the_same_bytes(name, tmp_path):
    for turn in ("first", "second"):
        save(FIGURES[name](), [tmp_path / f"{turn}.svg"])
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_figure_1_of_georgiou2022_has_a_dot_a_run_and_areas_that_go_with_run_time():
    (axes,) = georgiou2022_figures.draw(circles(), "training").axes
    sizes = [collection.get_sizes()[0] for collection in axes.collections if len(collection.get_offsets()) == 1]
    dots = [len(c.get_offsets()) for c in axes.collections if len(c.get_offsets()) > 1]
    assert dots == [10] * 4
    assert max(sizes) / min(sizes) == pytest.approx(3)


def test_figures_2_to_5_of_itu2023_have_a_mark_a_run():
    figure = draw_levels(levels(), "figure2")
    marks = sum(len(collection.get_offsets()) for axes in figure.axes for collection in axes.collections)
    assert marks == len(levels())


NO_EPOCHS = pd.DataFrame(columns=[*FACTORS, "repetition", "epoch_number", "energy_integrated"])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: georgiou2022_figures.draw(circles().iloc[:0], ""),
        lambda: itu2023_figures.draw_levels(NO_EPOCHS, "figure2"),
        lambda: itu2023_figures.draw_series([]),
    ],
)
def test_without_raw_results_a_figure_says_so(draw):
    texts = [text.get_text() for axes in draw().axes for text in axes.texts]
    assert "No raw results are given." in texts
