"""Boxes, outlines of masks and their words on an image: what panels of detections are made of."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from numpy.typing import NDArray

from framewatt.datasets.objects import decode_mask
from framewatt.figures.save import renderer_of, settle
from framewatt.figures.style import NOTE_COLOUR
from framewatt.prepare.examples import Thing

_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette without its yellow, which no white ground carries."""

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
_EMPTY = "#f2f2f2"
"""Canvas of an image without pixels."""

_LINE_PT, _FONT_PT, _GAP_PT = 1.3, 6.0, 1.2
_LONGEST = 18
"""Characters of a class's name that are written."""

OUTLINED = 20
"""Number of masks in a panel that get an outline: masks of a model that has learnt nothing are all edge."""

_MOST_NAMED = 21
"""Classes of a legend, as many as there are pens that differ."""

_HALO: list[patheffects.AbstractPathEffect] = [patheffects.withStroke(linewidth=2.6, foreground="white")]


class Mark(NamedTuple):
    """An object or a detection, with the word of its class."""

    thing: Thing
    word: str


Panel = tuple[Axes, Sequence[Mark]]
"""A panel and what is drawn on it, the first ones first to be named."""

_Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""


@dataclass(frozen=True)
class Pen:
    """Colour and dash of the classes' lines."""

    colour: str
    dash: Any


def pens(marks: Iterable[Mark]) -> dict[str, Pen]:
    """A pen for the word of each class that is drawn; where there are more of these than pens, some share one."""
    looks = itertools.cycle(Pen(colour, dash) for dash in _DASHES for colour in _COLOURS)
    words = dict.fromkeys(word for _, word in sorted({(mark.thing.kind, mark.word) for mark in marks}))
    return dict(zip(words, looks, strict=False))


def marked(things: Iterable[Thing], names: Sequence[str] | None) -> list[Mark]:
    """Things with the words of their classes.

    Args:
        things: objects or detections.
        names: words of the classes; None where there are none, and numbers stand for them.
    """
    return [Mark(thing, _word(thing.kind, names)) for thing in things]


def _word(kind: int, names: Sequence[str] | None) -> str:
    if names is None or kind >= len(names):
        return f"class {kind}"
    return "".join(sign if sign.isprintable() else "?" for sign in names[kind])


def _cut(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def canvas(axes: Axes, pixels: NDArray[np.uint8] | None, size: tuple[int, int]) -> None:
    """An image, or an empty ground of its size.

    Args:
        axes: the panel.
        pixels: shape (height, width, 1 or 3); None where they are not known.
        size: (height, width).
    """
    height, width = size
    axes.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[], aspect="equal", facecolor=_EMPTY)
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
    if pixels is not None:
        # As they are, whatever the format: formats of lines alone would resample them otherwise.
        shown = np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
        axes.imshow(shown, extent=(0, width, height, 0), interpolation="none")


def draw_marks(axes: Axes, marks: Sequence[Mark], size: tuple[int, int], looks: Mapping[str, Pen]) -> None:
    """The boxes of objects or detections, and outlines of masks, of the first ones; these lie on top.

    Args:
        axes: the panel.
        marks: what is drawn.
        size: (height, width) of the image.
        looks: a pen for each of their words.
    """
    for number, (thing, word) in reversed(list(enumerate(marks))):
        pen, (left, top, right, bottom) = looks[word], thing.box
        box = Rectangle((left, top), right - left, bottom - top, fill=False, lw=_LINE_PT, ec=pen.colour, ls=pen.dash)
        box.set_path_effects(_HALO)
        axes.add_patch(box)
        if thing.runs is not None and number < OUTLINED:
            _outline(axes, decode_mask(thing.runs, size), pen)


def _outline(axes: Axes, mask: NDArray[np.uint8], pen: Pen) -> None:
    """The edge of a mask, closed where it meets the image's."""
    if not mask.any():
        return
    down, across = (np.arange(-1, side + 1) + 0.5 for side in mask.shape)
    lines = axes.contour(across, down, np.pad(mask, 1), levels=[0.5], colors=[pen.colour], linewidths=0.9)
    lines.set_path_effects([patheffects.withStroke(linewidth=1.8, foreground="white")])


def say(axes: Axes, words: str) -> None:
    """Say in the middle of a panel what is not drawn on it."""
    ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 3}
    axes.text(0.5, 0.5, words, ha="center", va="center", transform=axes.transAxes, color=NOTE_COLOUR, bbox=ground)


def legend(figure: Figure, looks: Mapping[str, Pen], columns: int) -> None:
    """Which pen is which class, below the panels; of many classes the first ones.

    Args:
        figure: with its panels.
        looks: from `pens`.
        columns: how many stand side by side.
    """
    shown = list(looks.items())[:_MOST_NAMED]
    words = [_cut(word) for word, _ in shown]
    handles = [Line2D([], [], color=pen.colour, ls=pen.dash, lw=1.6) for _, pen in shown]
    if len(looks) > len(shown):
        words.append(f"and {len(looks) - len(shown)} more")
        handles.append(Line2D([], [], ls=""))
    if not handles:
        return
    legend = figure.legend(handles, ["class"] * len(handles), loc="outside lower center", ncols=columns)
    for text, word in zip(legend.get_texts(), words, strict=True):
        # Not as labels: of those some signs mean something else.
        text.set(text=word, parse_math=False)


def write_words(figure: Figure, panels: Iterable[Panel], looks: Mapping[str, Pen]) -> None:
    """Write class and score next to each box where there is room. Call it when the figure is complete.

    Args:
        figure: finished.
        panels: with what is drawn on them.
        looks: from `pens`.
    """
    settle(figure)
    renderer = renderer_of(figure)
    for axes, marks in panels:
        axes.apply_aspect()
        _write(axes, marks, looks, figure.dpi / 72, renderer)


def _write(axes: Axes, marks: Sequence[Mark], looks: Mapping[str, Pen], dots: float, renderer: RendererAgg) -> None:
    """Place one word after the other, in points of 1/72 inch, rounded so that no last bit decides."""
    left, low, right, high = (round(float(edge) / dots, 2) for edge in axes.get_window_extent().extents)
    taken: list[_Box] = []
    for mark in marks:
        text = _written(axes, mark, looks[mark.word].colour)
        # Formats differ a little in how wide they draw letters.
        size = Text.get_window_extent(text, renderer).size
        wide, tall = (round(float(side) / dots * 1.03 + 2 * _GAP_PT, 1) for side in size)
        corners = axes.transData.transform(np.array(mark.thing.box).reshape(2, 2)) / dots
        (begin, above), (end, below) = np.round(corners, 2).tolist()
        places = [(begin, above), (begin, above - tall), (end - wide, above), (begin, below - tall), (begin, below)]
        boxes = [(x, y, x + wide, y + tall) for x, y in ((min(max(x, left), right - wide), y) for x, y in places)]
        free = (box for box in boxes if low <= box[1] and box[3] <= high and not any(_overlap(box, o) for o in taken))
        if (best := next(free, None)) is None:
            text.remove()
            continue
        taken.append(best)
        text.set_position(((best[0] + _GAP_PT - left) / (right - left), (best[1] + _GAP_PT - low) / (high - low)))


def _written(axes: Axes, mark: Mark, colour: str) -> Text:
    score = mark.thing.score
    words = _cut(mark.word) + (", crowd" if mark.thing.crowd else "") + ("" if score is None else f" {score:.2f}")
    look: dict[str, Any] = {"ha": "left", "va": "bottom", "fontsize": _FONT_PT, "zorder": 7, "parse_math": False}
    ground = {"facecolor": (1, 1, 1, 0.8), "edgecolor": colour, "linewidth": 0.5, "pad": _GAP_PT / 2}
    text = axes.text(0, 0, words, transform=axes.transAxes, bbox=ground, **look)
    text.set_in_layout(False)
    return text


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
