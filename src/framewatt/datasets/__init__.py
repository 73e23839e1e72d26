"""Data sets by name: one file each, with a function `make(**options) -> Arrays`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.options import check_options, maker, options_of

__all__ = ["make_arrays"]


def make_arrays(
    definition: Mapping[str, Any], folders: Mapping[str, Path] | None = None, name: str | None = None
) -> Arrays:
    """Make a data set.

    Args:
        definition: an entry of config/datasets.yaml (`module`, `sources` and the options of its `make`), or that of a
            study's own model, with `files` instead of `sources`.
        folders: for each argument of `make` that `sources` lists, the folder with that source's original files; for
            each that `files` lists, that file.
        name: the data set's, for messages; None names its module instead.

    Raises:
        FramewattError: an option is missing, unknown or wrong, `make` raises it, or memory does not suffice.
    """
    what = f"data set of module {definition['module']}" if name is None else f"data set {name}"
    given = folders or {}
    check_options(what, definition, given)
    try:
        arrays = maker(what, definition["module"])(**options_of(definition), **given)
    except FramewattError as error:
        raise FramewattError(f"{what}: {str(error).removeprefix('data set: ')}") from error
    except MemoryError as error:
        raise FramewattError(f"{what}: memory is too small: {error}. Use fewer or smaller samples.") from error
    assert isinstance(arrays, Arrays)
    return arrays
