"""Factors and their levels in words: headings, labels, titles."""

from collections.abc import Iterable, Mapping
from typing import Any

from framewatt.study.factors import NATIVE
from framewatt.study.options import OPTIONS

_TITLES = {
    "dataset": "Data set",
    "batch_size": "Batch size",
    "precision": "Number format",
    "compile": "Compilation",
    "layout": "Memory layout",
}


def title(factor: str) -> str:
    """A factor as the heading of a column."""
    return _TITLES.get(factor, factor.replace("_", " ").capitalize())


def label(levels: Mapping[str, Any], compared: Iterable[str]) -> str:
    """The levels that distinguish a cell in its group: `torch`, `torch2onnx/openvino`, `torch/threads 2`.

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
    """A level in words: `torch`, `batch 8`, `threads 2`; a number is preceded by what it counts."""
    if factor == "batch_size":
        return f"batch {level}"
    return OPTIONS[factor].text(level) if factor in OPTIONS else str(level)
