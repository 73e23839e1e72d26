"""Runs that were set aside are pale rings: they move no axis and no mean, and those beyond the axes are counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report_factory import STATISTICS

from framewatt.figures import deploy, energy_accuracy, energy_time, runtime_batch
from framewatt.runs.aside import ASIDE
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.deploy import judge_choices

TORCH, MXNET = cell("torch"), cell("mxnet")


def frame(aside: list[tuple[int, float]]) -> pd.DataFrame:
    """Eight runs of two cells; those of `aside`, of MXNet, took so many times as much and were set aside."""
    rng = np.random.default_rng(1)
    energies = {TORCH: [1.0 + 0.02 * one for one in rng.standard_normal(8)]}
    energies[MXNET] = [1.2 + 0.02 * one for one in rng.standard_normal(8)]
    for repetition, factor in aside:
        energies[MXNET][repetition] *= factor
    runs = runs_frame(energies)
    gone = runs["cell"].eq(MXNET.id) & runs["repetition"].isin([repetition + 1 for repetition, _ in aside])
    runs.loc[gone, "valid"] = False
    return runs.assign(reasons=np.where(gone, f"{ASIDE}other work took 50 % of the processors", ""))


def drawn(draw: Callable[[pd.DataFrame, pd.DataFrame], Figure], runs: pd.DataFrame) -> tuple[Axes, list, str]:
    """The panel, the places of its pale rings, and all words of the figure."""
    figure = draw(runs, summarise_cells(runs, STATISTICS))
    axes = figure.axes[0]
    rings = [one for one in axes.collections if one.get_label() == "_aside"]
    places = [place for one in rings for place in one.get_offsets()]
    entries = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return axes, places, " ".join([*(text.get_text().replace("\n", " ") for text in figure.texts), *entries])


DRAWN: dict[str, Any] = {
    "energy_time": energy_time.draw,
    "energy_accuracy": energy_accuracy.draw,
    "energy_runtime_batch": runtime_batch.draw_energy,
    "deploy": lambda runs, _: deploy.draw(runs, judge_choices(runs, STATISTICS)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_run_that_was_set_aside_is_a_pale_ring_and_moves_no_axis(name: str) -> None:
    without, places, words = drawn(DRAWN[name], frame([(2, 25.0)]))
    assert places == []
    assert "Not drawn: 1 set aside run of 16" in words
    assert "set aside, in no mean" not in words
    axes, places, words = drawn(DRAWN[name], frame([(2, 1.01), (5, 25.0)]))
    assert len(places) == 1
    assert "Set aside, and in no mean: 1 run, drawn as pale rings." in words
    assert "Not drawn: 1 set aside run of 16 (beyond the axes)" in words
    assert "set aside, in no mean" in words
    assert axes.get_ylim()[1] < 5
    assert without.get_ylim()[1] < 5


@pytest.mark.parametrize("name", DRAWN)
def test_where_nothing_was_set_aside_nothing_is_said_of_it(name: str) -> None:
    _, places, words = drawn(DRAWN[name], frame([]))
    assert places == []
    assert "aside" not in words
