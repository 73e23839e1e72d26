"""Figures of large studies say what they leave out; names of points lie as if all places had been tried."""

import gc

import numpy as np
import pytest
from frames_factory import cell, runs_frame
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.text import Annotation, Text
from report_factory import STATISTICS

from framewatt.figures import energy_time, labels, notes, runtime_batch
from framewatt.statistics.cells import summarise_cells
from framewatt.witness.window import DISTURBED_BY

BATCHES = range(1, 32)


@pytest.fixture(scope="module")
def runs():
    """Two runtimes at 31 batch sizes, 33 runs each: 62 points in a panel, 2,046 runs."""
    return runs_frame(
        {cell(name, batch_size=size): [1.0 + size / 60] * 33 for name in ("torch", "mxnet") for size in BATCHES}
    )


def texts(figure) -> str:
    return " ".join(found.get_text() for found in figure.findobj(Text))


def test_a_panel_of_many_points_has_no_names_and_says_so_and_disturbed_runs_stay_rings(runs) -> None:
    disturbed = runs.assign(**{DISTURBED_BY: np.where(runs["position"] == 7, "steal", "")})
    figure = energy_time.draw(disturbed, summarise_cells(runs, STATISTICS))
    said = texts(figure)
    assert "Up to 62 points a panel: without names" in said
    assert "2,046 runs: not drawn one by one" in said
    assert "small: every run" not in said
    assert not [found for found in figure.findobj(Annotation) if found.get_text()]
    drawn = figure.axes[0].collections
    assert not [one for one in drawn if one.get_label() == "_repetitions"]
    # Every cell still is a point that a page finds.
    assert len([one for one in drawn if str(one.get_gid()).startswith("point-")]) == 62
    (rings,) = [one for one in drawn if one.get_label() == "_disturbed"]
    assert len(rings.get_offsets()) == 1
    assert max(figure.get_size_inches()) < 12


def test_of_many_groups_some_are_drawn_evenly_and_how_many_is_said(runs) -> None:
    figure = runtime_batch.draw_energy(runs, summarise_cells(runs, STATISTICS), ["runtime"])
    assert f"Drawn: {notes.MOST_PANELS} of 31 groups, evenly from the first to the last" in texts(figure)
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    titles = [title for title in titles if title]
    assert len(titles) == notes.MOST_PANELS
    assert "batch 1:" in titles[0]
    assert "batch 31:" in titles[-1]


def test_names_are_measured_on_one_canvas(runs) -> None:
    """Of 100 names each on a canvas of its own, a figure kept a gigabyte."""

    def canvases() -> int:
        gc.collect()
        return sum(isinstance(one, RendererAgg) for one in gc.get_objects())

    few = runs[runs["batch_size"] <= 20]
    before = canvases()
    figure = energy_time.draw(few, summarise_cells(few, STATISTICS))
    assert len([one for one in figure.findobj(Annotation) if one.get_text()]) == 40
    # One to lay the figure out, and one for all names.
    assert canvases() <= before + 2


def test_where_all_is_drawn_nothing_is_said() -> None:
    said = notes.panels_words(24, 24), notes.dots_words(notes.MOST_DOTS), notes.names_words(notes.MOST_NAMED)
    assert said == ("", "", "")


@pytest.mark.parametrize("count", [1, 2, 23, 24, 25, 200])
def test_things_are_chosen_evenly_each_once_with_the_first_and_the_last(count: int) -> None:
    found = notes.evenly(range(count), 24)
    assert len(found) == len(set(found)) == min(count, 24)
    assert (found[0], found[-1]) == (0, count - 1)
    assert found == sorted(found)


@pytest.mark.parametrize("seed", range(6))
def test_the_place_of_a_name_is_the_one_that_a_search_of_all_places_finds(seed: int) -> None:
    """Crowded and not: with few points most places are free, with many none is."""
    rng = np.random.default_rng(seed)
    count, frame = (3, 12, 40)[seed % 3], np.array([0.0, 0.0, 220.0, 160.0])
    places = rng.uniform(5, 150, (count, 2)).round(2)
    marks = np.hstack([places - 5.5, places + 5.5])
    size = np.array([45.0, 8.0])
    taken = np.full((count, 4), np.nan)
    for number in range(count):
        box, led = labels._best(places, size, frame, marks, taken, number)
        boxes = labels._boxes(places[number], size, frame)
        away = labels._nearest(boxes, marks[number : number + 1])
        contested = labels._nearest(boxes, np.delete(marks, number, axis=0)) <= away + labels._LED_PT
        cost = away + labels._ON_THE_LEFT * (boxes[:, 0] < places[number, 0]) + labels._BY_ANOTHER * contested
        cost += 0.02 * np.abs(boxes[:, [1, 3]].mean(axis=1) - places[number, 1])
        cost += labels._ON_A_MARK * labels._covered(boxes, marks)
        cost += labels._ON_A_NAME * labels._covered(boxes, np.delete(taken, number, axis=0))
        best = np.argmin(np.round(cost, 2))
        assert box.tolist() == boxes[best].tolist()
        assert led == bool(contested[best] or away[best] > labels._LED_PT)
        taken[number] = box
