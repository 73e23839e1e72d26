"""Data sets by name: one file each, with a function `make(**options) -> Arrays`."""

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays

__all__ = ["make_arrays"]


def make_arrays(definition: Mapping[str, Any], folders: Mapping[str, Path] | None = None) -> Arrays:
    """Make a data set.

    Args:
        definition: an entry of config/datasets.yaml (`module`, `sources` and the options of its `make`), or that of a
            study's own model, with `files` instead of `sources`.
        folders: for each argument of `make` that `sources` lists, the folder with that source's original files; for
            each that `files` lists, that file.

    Raises:
        FramewattError: an option is missing or unknown, or `make` raises it.
    """
    options = {name: value for name, value in definition.items() if name not in ("module", "sources", "files")}
    make = importlib.import_module(f"framewatt.datasets.{definition['module']}").make
    signature = inspect.signature(make)
    try:
        bound = signature.bind(**options, **(folders or {}))
    except TypeError as error:
        allowed = ", ".join(signature.parameters)
        raise FramewattError(f"data set of module {definition['module']}: found {error}; allowed: {allowed}") from error
    arrays = make(**bound.arguments)
    assert isinstance(arrays, Arrays)
    return arrays
