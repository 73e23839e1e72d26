"""How figures look: one set of rcParams, colours and markers that are the same wherever a label comes up."""

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import matplotlib.style
from matplotlib.axis import Axis
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from framewatt.study.factors import NATIVE
from framewatt.study.runtimes import PROVIDERS, RUNTIMES

P = ParamSpec("P")
R = TypeVar("R")

RC: dict[str, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "figure.facecolor": "white",
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
    "font.family": ["DejaVu Sans"],  # the font that matplotlib brings: the same outlines on every machine
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    # Ids in an SVG and fonts in it come out the same in every process; no text depends on installed fonts.
    "svg.hashsalt": "framewatt",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}

ESTIMATE_COLOUR = "#b3261e"
"""Colour of the note that energy is estimated."""

NOTE_COLOUR = "#555555"

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"

_LOG_RATIO = 2.5
_LOG_RATIO_FROM_ZERO = 30
_SUBS = ((0.8, (1, 2, 3, 5)), (1.4, (1, 2, 5)), (2.2, (1, 3)))
"""Digits that a logarithmic scale of up to so many decades labels, such that their labels do not touch."""

_PREFIXES = ((1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "\N{MICRO SIGN}"), (1e-9, "n"))

_COLOURS = {name: runtime.colour for name, runtime in RUNTIMES.items() if runtime.colour}
"""Okabe and Ito's palette, distinguished by colour-blind readers."""

_MARKERS = {
    name if provider == NATIVE else f"{name}/{provider}": runtime.markers[provider]
    for provider in (NATIVE, *PROVIDERS)
    for name, runtime in RUNTIMES.items()
    if provider in runtime.markers
}

_ALSO = {"pytorch": "torch"}
"""Aliases of labels with a fixed colour."""


@dataclass(frozen=True)
class Look:
    """Colour and marker of what a label names."""

    colour: str
    marker: str


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function under framewatt's rcParams and no others, whatever is in the reader's matplotlibrc."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.style.context(RC, after_reset=True):
            return function(*args, **kwargs)

    return wrapper


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """A look for every label, in reading order: runtimes have fixed looks, other labels get the rest, by name."""
    ordered = sorted(set(labels), key=_label_order)
    names = {label: _name(label) for label in ordered}
    heads = {label: name.split("/")[0] for label, name in names.items()}
    strangers = sorted({head for head in heads.values() if head not in _COLOURS})
    free = [colour for head, colour in _COLOURS.items() if head not in heads.values()] or list(_COLOURS.values())
    colours = _COLOURS | dict(zip(strangers, itertools.cycle(free)))
    unmarked = sorted(name for name in names.values() if name not in _MARKERS)
    spare = [marker for name, marker in _MARKERS.items() if name not in names.values()] or ["v"]
    markers = _MARKERS | dict(zip(unmarked, itertools.cycle(spare)))
    return {label: Look(colours[heads[label]], markers[names[label]]) for label in ordered}


def _name(label: str) -> str:
    head, slash, rest = label.lower().partition("/")
    return _ALSO.get(head, head) + slash + rest


def _label_order(label: str) -> tuple[int, str]:
    """Frameworks first, then their exports, then by name."""
    known, head = list(_COLOURS), _name(label).split("/")[0]
    return known.index(head) if head in known else len(known), label


def is_wide(panels: Iterable[Iterable[float]], *, from_zero: bool = False) -> bool:
    """Return whether what some panel shows spans so wide a range that all panels of the figure get a logarithmic scale.

    Args:
        panels: what each panel shows along the axis.
        from_zero: whether a linear scale would start at 0.
    """
    return any(_ratio(panel) > (_LOG_RATIO_FROM_ZERO if from_zero else _LOG_RATIO) for panel in panels)


def scale(
    axis: Axis,
    values: Iterable[float],
    unit: str,
    *,
    logarithmic: bool = False,
    from_zero: bool = False,
    ticks: int = 5,
) -> None:
    """Give an axis its scale and ticks with SI prefixes; the label of a logarithmic axis states that.

    Args:
        axis: of the panel, with its label.
        values: what is drawn along it, in `unit`.
        unit: SI unit without prefix.
        logarithmic: from `is_wide`, the same for all panels of the figure that show the quantity.
        from_zero: on a linear scale, start at 0, so that lengths compare as ratios.
        ticks: for how many intervals between labels there is room.
    """
    positive = [value for value in values if value > 0]
    along_x = axis is axis.axes.xaxis
    if logarithmic:
        (axis.axes.set_xscale if along_x else axis.axes.set_yscale)("log")
        axis.set_minor_formatter(NullFormatter())
        say_logarithmic(axis)
    elif from_zero:
        (axis.axes.set_xlim if along_x else axis.axes.set_ylim)(0, max(positive, default=1) * 1.08)
    if logarithmic and _ratio(positive) > _LOG_RATIO:
        decades = math.log10(_ratio(positive))
        subs = next((subs for most, subs in _SUBS if decades < most), (1,))
        # Labels along x stand side by side, so there is room for fewer.
        axis.set_major_locator(LogLocator(subs=subs, numticks=6 if along_x else 12))
        axis.set_major_formatter(EngFormatter(unit=unit, sep=NO_BREAK_SPACE))
        return
    size, prefix = _prefix(max(positive, default=1))
    axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / size:g}{NO_BREAK_SPACE}{prefix}{unit}"))


def say_logarithmic(axis: Axis) -> None:
    """Add to an axis's label, where it has one, that its scale is logarithmic: along y in a line of its own."""
    between = " " if axis is axis.axes.xaxis else "\n"
    if label := axis.get_label_text():
        axis.set_label_text(f"{label}{between}(logarithmic)")


def _ratio(values: Iterable[float]) -> float:
    """Return the largest positive value over the smallest; 1 where there is none."""
    positive = [value for value in values if value > 0]
    return max(positive) / min(positive) if positive else 1.0


def _prefix(largest: float) -> tuple[float, str]:
    """Return the SI prefix under which the largest value of an axis is at least 1."""
    return next(((size, name) for size, name in _PREFIXES if largest >= size), _PREFIXES[-1])
