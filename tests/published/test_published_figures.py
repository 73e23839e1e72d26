"""Figures of the published studies: the same bytes every time, a mark for every run, words where nothing is given."""

import numpy as np
import pandas as pd
import pytest

from framewatt.figures.power_traces import TracedRun
from framewatt.figures.published import georgiou2022_figure1, itu2023_figure1, itu2023_levels
from framewatt.figures.save import save


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
    return pd.DataFrame(rows, columns=["dataset", "model", "batch_size", "framework", "repetition", "part", "value"])


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
        pd.DataFrame({"monotonic_ns": time_ns, "quantity": name, "value": np.arange(5.0)}) for name in quantities
    )
    record = {"cell": {"framework": framework}, "repetition": repetition, "epochs": [{"epoch": 1}]}
    return TracedRun(record | {"windows": {"epoch-1": {"end_monotonic_ns": 3 * 10**9}}}, power)


FIGURES = {
    "circles": lambda: georgiou2022_figure1.draw(circles(), "training"),
    **{
        name: lambda name=name: itu2023_levels.draw(
            pd.concat([levels(), levels("epoch 1")]) if name.endswith("3") else levels(), itu2023_levels.FIGURES[name]
        )
        for name in itu2023_levels.FIGURES
    },
    "traces": lambda: itu2023_figure1.draw([traced("pytorch", 1), traced("tensorflow", 1)], "CIFAR10, resnet50"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_data_gives_the_same_bytes(name, tmp_path):
    for turn in ("first", "second"):
        save(FIGURES[name](), [tmp_path / f"{turn}.svg"])
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_figure_1_of_georgiou2022_has_a_dot_a_run_and_areas_that_go_with_run_time():
    (axes,) = georgiou2022_figure1.draw(circles(), "training").axes
    sizes = [collection.get_sizes()[0] for collection in axes.collections if len(collection.get_offsets()) == 1]
    dots = [len(c.get_offsets()) for c in axes.collections if len(c.get_offsets()) > 1]
    assert dots == [10] * 4
    assert max(sizes) / min(sizes) == pytest.approx(3)


def test_figures_2_to_5_of_itu2023_have_a_mark_a_run():
    figure = itu2023_levels.draw(levels(), itu2023_levels.FIGURES["itu2023_figure2"])
    marks = sum(len(collection.get_offsets()) for axes in figure.axes for collection in axes.collections)
    assert marks == len(levels())


@pytest.mark.parametrize(
    "draw",
    [
        lambda: georgiou2022_figure1.draw(circles().iloc[:0], ""),
        lambda: itu2023_levels.draw(levels().iloc[:0], itu2023_levels.FIGURES["itu2023_figure2"]),
        lambda: itu2023_figure1.draw([], ""),
    ],
)
def test_without_raw_results_a_figure_says_so(draw):
    texts = [text.get_text() for axes in draw().axes for text in axes.texts]
    assert "No raw results are given." in texts
