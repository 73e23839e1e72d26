"""Nothing of a figure is cut off: legends and titles lie on the canvas, and points in their panels."""

import warnings

import numpy as np
import pytest
from frames_factory import cell, runs_frame
from matplotlib.figure import Figure
from test_figures import traced
from test_figures_legible import draw

from framewatt.figures import power_traces

NAMES = ("energy_time", "energy_accuracy", "energy_runtime_batch", "time_runtime_batch", "deploy")
TORCH, MXNET = cell("torch"), cell("mxnet")
STEADY = [1.0, 1.02, 0.99, 1.01, 1.0, 1.03]
STUDIES = {
    "one run": runs_frame({TORCH: [1.0]}),
    "one cell": runs_frame({TORCH: STEADY}),
    "a run of 25 times": runs_frame({TORCH: [*STEADY[:5], 25.0], MXNET: STEADY}),
    "equal runs": runs_frame({TORCH: [1.0] * 5, MXNET: [1.0] * 5}),
    "thousandfold": runs_frame({TORCH: STEADY, MXNET: [1000 * one for one in STEADY]}),
}


def assert_whole(figure: Figure) -> None:
    """Fail where a legend, a text or a point lies beyond the canvas or its panel."""
    figure.draw_without_rendering()
    canvas = figure.bbox
    for part in [*figure.legends, *figure.texts, *(axes.title for axes in figure.axes)]:
        box = part.get_window_extent()
        assert canvas.x0 <= box.x0 + 1, part
        assert box.x1 <= canvas.x1 + 1, part
        assert canvas.y0 <= box.y0 + 1, part
        assert box.y1 <= canvas.y1 + 1, part
    for axes in figure.axes:
        for points in axes.collections:
            places = np.asarray(points.get_offsets()) if points.get_label() else np.empty((0, 2))
            if not len(places) or points.get_offset_transform() != axes.transData:
                continue
            radius = np.sqrt(points.get_sizes().max() / np.pi) * figure.dpi / 72
            shown = axes.transData.transform(places)
            panel = axes.bbox
            assert (shown[:, 0] - radius >= panel.x0 - 1).all(), points.get_label()
            assert (shown[:, 0] + radius <= panel.x1 + 1).all(), points.get_label()
            assert (shown[:, 1] - radius >= panel.y0 - 1).all(), points.get_label()
            assert (shown[:, 1] + radius <= panel.y1 + 1).all(), points.get_label()


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("name", NAMES)
def test_no_point_and_no_legend_is_cut_off_and_nothing_warns(name: str, study: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_whole(draw(name, STUDIES[study]))


@pytest.mark.parametrize("panels", [1, 2, 5])
def test_the_legend_of_traces_fits_the_figure_however_few_panels_it_has(panels: int) -> None:
    runs = [traced("train", estimated=estimated) for estimated in (False, True)] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_whole(power_traces.draw(runs[:panels], runs_frame({TORCH: STEADY}), ["runtime", "provider"]))
