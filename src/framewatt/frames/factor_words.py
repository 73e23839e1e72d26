"""Factors as columns of a frame, and their levels in words: headings, labels, titles."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from framewatt.study.factors import FIRST_LEVELS, NATIVE, natural
from framewatt.study.options import OPTIONS

if TYPE_CHECKING:
    # Not imported at run time: figures' captions are read where pandas is not installed, and faster without it.
    import pandas as pd

_AFTER_FACTORS = ("device", "quantity", "target")
"""First column after the factors: in the frames of runs and epochs, in that of cells, and in that of targets."""


def factors_of(frame: "pd.DataFrame") -> list[str]:
    """Return the factors of a frame of runs, epochs or cells: its columns between `cell` and `device` or `quantity`."""
    columns = [str(column) for column in frame.columns]
    start = columns.index("cell") + 1
    return columns[start : min(columns.index(name, start) for name in _AFTER_FACTORS if name in columns[start:])]


def rank(factor: str, levels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Sort keys of the levels of a factor: training before inference, else numeric order, also of numbers in words."""
    first = FIRST_LEVELS.get(factor, [])
    place = {level: number for number, level in enumerate(first)}
    ordered = sorted(levels.unique(), key=lambda level: (place.get(level, len(first)), natural(level)))
    return levels.map({level: number for number, level in enumerate(ordered)})


def sorted_by(frame: "pd.DataFrame", factors: Sequence[str]) -> "pd.DataFrame":
    """Return the rows sorted by the levels of some columns, in readers' order."""
    if not factors:
        return frame.reset_index(drop=True)
    return frame.sort_values(
        list(factors), kind="stable", ignore_index=True, key=lambda column: rank(str(column.name), column)
    )


_TITLES = {
    "dataset": "Data set",
    "batch_size": "Batch size",
    "precision": "Number format",
    "compile": "Compilation",
    "layout": "Memory layout",
}


def title(factor: str) -> str:
    """Return a factor as the heading of a column."""
    return _TITLES.get(factor, factor.replace("_", " ").capitalize())


def label(levels: Mapping[str, Any], compared: Iterable[str]) -> str:
    """Return the levels that distinguish a cell in its group: `torch`, `torch2onnx/openvino`, `torch/threads 2`.

    Options at their default are left out, unless the label would be empty.

    Args:
        levels: a level of every factor, by name.
        compared: the compared factors.
    """
    given = {name: levels[name] for name in compared if name in levels and levels[name] != NATIVE}
    telling = {name: level for name, level in given.items() if name not in OPTIONS or level != OPTIONS[name].default}
    return "/".join(in_words(name, level) for name, level in (telling or given).items())


def named(factors: Iterable[str]) -> str:
    """Factors in the title of a figure, which has room for two: `runtime and provider`, or `configuration`."""
    words = [factor.replace("_", " ") for factor in factors]
    return " and ".join(words) if len(words) < 3 else "configuration"


def phrase(levels: Mapping[str, Any], factors: Iterable[str]) -> str:
    """Levels in words: `train resnet50 digits batch 16 fp32`.

    Args:
        levels: a level of every factor, by name.
        factors: those to name, in that order.
    """
    return " ".join(in_words(name, levels[name]) for name in factors)


def remarks(levels: Mapping[str, Any]) -> list[str]:
    """Levels in words, without phase and batch size, which titles begin with, and without fp32, the default.

    Options that the phase has none of are left out, too: inference is not by SGD.
    """
    silent = {("precision", OPTIONS["precision"].default)}
    return [
        in_words(name, level)
        for name, level in levels.items()
        if name not in ("phase", "batch_size")
        and (name, level) not in silent
        and (name not in OPTIONS or OPTIONS[name].is_of(levels.get("phase")))
    ]


def in_words(factor: str, level: Any) -> str:
    """Return a level in words: `torch`, `batch 8`, `threads 2`; a number is preceded by what it counts."""
    if factor == "batch_size":
        return f"batch {level}"
    return OPTIONS[factor].text(level) if factor in OPTIONS else str(level)
