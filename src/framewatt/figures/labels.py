"""Names of points: written next to them without overlap and inside the panel, and as their ids."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from framewatt.figures.notes import MOST_NAMED
from framewatt.figures.save import renderer_of, settle

Named = tuple[Axes, Sequence[tuple[float, float]], Sequence[str]]
"""A panel, its points and their names."""

_FONT_PT = 6.5
_MARK_PT = 5.5
"""Half the width of a point's marker."""

_LETTERS = 200
"""Letters of all names together that a panel of default size has room for, with the points themselves."""

_UNNAMED = 1.5
"""Factor on the default width and height of a panel that has too many points for names."""

_STEP_PT = 2.5
_LED_PT = 2.5
"""Distance between a marker and its name from which on a line joins them."""

_INSET_PT = 2.0
"""Distance between a name and the edge of its panel."""

_ON_THE_LEFT, _BY_ANOTHER, _ON_A_MARK, _ON_A_NAME = 2.0, 12.0, 1e4, 1e6
"""Cost of a place, in points of distance: left of its point, as near to another's marker, on a marker, on a name."""

_LOOKED_AT_FIRST = 256
_ROUNDED = 0.02
"""More than rounding changes a cost."""

_Place = NDArray[np.float64]
_Boxes = NDArray[np.float64]
"""Left, bottom, right and top edges; shape (n, 4)."""


_POINT = "point-"


def point_of(cell: str) -> str:
    """Return the id that the point of a cell's mean has in an SVG, by which a page finds it."""
    return f"{_POINT}{cell}"


def room(names: Iterable[str]) -> float:
    """Return the factor on the default width and height of a panel with these names; too many names are not written."""
    written = list(names)
    return max(1.0, math.sqrt(sum(map(len, written)) / _LETTERS)) if len(written) <= MOST_NAMED else _UNNAMED


def name_points(figure: Figure, panels: Iterable[Named]) -> None:
    """Write a name next to each point. Call it when the figure is complete: names take no part in its layout.

    Args:
        figure: finished, with the scales and limits of its axes.
        panels: each with its points and their names.
    """
    settle(figure)
    renderer = renderer_of(figure)
    for axes, points, names in panels:
        if len(names) <= MOST_NAMED:
            _name(axes, points, names, figure.dpi / 72, renderer)


def _name(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    pixels: float,
    renderer: RendererAgg,
) -> None:
    """Place one name after the other, in points of 1/72 inch, rounded so that no last bit decides."""
    frame = np.round(np.array(axes.get_window_extent().extents) / pixels, 2) + _INSET_PT * np.array([1, 1, -1, -1])
    places = np.round(axes.transData.transform(np.array(points, dtype=np.float64)) / pixels, 2)
    marks = np.hstack([places - _MARK_PT, places + _MARK_PT])
    texts = [_written(axes, point, name) for point, name in zip(points, names, strict=True)]
    # Formats differ a little in how wide they draw letters.
    sizes = [np.round(np.array(Text.get_window_extent(text, renderer).size) / pixels * 1.03, 1) + 0.5 for text in texts]
    taken = np.full((len(texts), 4), np.nan)
    led = [False] * len(texts)
    # The first names do not know of the later ones, so each is placed once more when all are there.
    for number in [*range(len(texts))] * 2:
        taken[number], led[number] = _best(places, sizes[number], frame, marks, taken, number)
    for text, point, place, box, far in zip(texts, points, places, taken, led, strict=True):
        text.set_position((box[0] - place[0], box[1] - place[1]))
        if far:
            _lead(axes, point, np.clip(place, box[:2], box[2:]) - place)


def _best(
    places: _Place, size: _Place, frame: NDArray[np.float64], marks: _Boxes, taken: _Boxes, number: int
) -> tuple[_Place, bool]:
    """Return the cheapest box for a name, the first of several, and whether a line joins it to its point.

    Args:
        places: of all points, shape (n, 2).
        size: width and height of the name.
        frame: edges of the panel.
        marks: of all points.
        taken: boxes of the other names; NaN where there is none yet.
        number: of the point.
    """
    boxes = _boxes(places[number], size, frame)
    away = _nearest(boxes, marks[number : number + 1])
    aside = _ON_THE_LEFT * (boxes[:, 0] < places[number, 0])
    off_level = 0.02 * np.abs(boxes[:, [1, 3]].mean(axis=1) - places[number, 1])
    others, names = np.delete(marks, number, axis=0), np.delete(taken, number, axis=0)

    def costs(some: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        contested = _nearest(boxes[some], others) <= away[some] + _LED_PT
        cost = away[some] + aside[some] + _BY_ANOTHER * contested
        cost += off_level[some]
        cost += _ON_A_MARK * _covered(boxes[some], marks) + _ON_A_NAME * _covered(boxes[some], names)
        return np.round(cost, 2), contested

    # Others only make a box dearer: one that by itself is dearer than a good one is not looked at.
    least = away + aside + off_level
    near = np.argsort(least, kind="stable")[:_LOOKED_AT_FIRST]
    some = np.flatnonzero(least <= costs(near)[0].min() + _ROUNDED)
    cost, contested = costs(some)
    best = int(np.argmin(cost))
    return boxes[some[best]], bool(contested[best] or away[some[best]] > _LED_PT)


def _written(axes: Axes, point: tuple[float, float], name: str) -> Annotation:
    text = axes.annotate(
        name, point, (0, 0), textcoords="offset points", fontsize=_FONT_PT, ha="left", va="bottom", zorder=7
    )
    text.set_in_layout(False)
    text.set_path_effects([patheffects.withStroke(linewidth=1.5, foreground="white")])
    return text


def _boxes(place: _Place, size: _Place, frame: NDArray[np.float64]) -> _Boxes:
    """Return every box for a name in the frame, in steps, including the boxes right next to its point."""
    lefts = _steps(place[0] + _MARK_PT + 1, frame[0], frame[2] - size[0])
    lows = _steps(place[1] - size[1] / 2, frame[1], frame[3] - size[1])
    left, low = (grid.ravel() for grid in np.meshgrid(lefts, lows))
    return np.stack([left, low, left + size[0], low + size[1]], axis=1)


def _steps(through: float, low: float, high: float) -> NDArray[np.float64]:
    """Return places in steps from `low` to `high`, one of them `through` if it is between; `low` if nothing is."""
    places = np.arange(through - _STEP_PT * math.floor((through - low) / _STEP_PT), high, _STEP_PT)
    return places if len(places) else np.array([low])


def _nearest(boxes: _Boxes, marks: _Boxes) -> NDArray[np.float64]:
    """Distance of each box from the nearest of the markers; infinite where there is none."""
    gaps = np.maximum(marks[None, :, :2] - boxes[:, None, 2:], boxes[:, None, :2] - marks[None, :, 2:])
    apart = np.hypot(*np.moveaxis(np.maximum(gaps, 0), 2, 0))
    least: NDArray[np.float64] = apart.min(axis=1, initial=np.inf)
    return least


def _covered(boxes: _Boxes, others: _Boxes) -> NDArray[np.int64]:
    """Return how many of the others each box overlaps."""
    gaps = np.maximum(others[None, :, :2] - boxes[:, None, 2:], boxes[:, None, :2] - others[None, :, 2:])
    covered: NDArray[np.int64] = (gaps < 0).all(axis=2).sum(axis=1)
    return covered


def _lead(axes: Axes, point: tuple[float, float], end: _Place) -> None:
    """Draw a line to a point from the nearest place of its name.

    Args:
        axes: the panel.
        point: in data coordinates.
        end: of the line, as its distance from the point.
    """
    line = axes.annotate(
        "",
        point,
        (float(end[0]), float(end[1])),
        textcoords="offset points",
        arrowprops={"arrowstyle": "-", "color": "#444444", "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
        zorder=3.5,
    )
    line.set_in_layout(False)
