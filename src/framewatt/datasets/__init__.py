"""Data sets by name: one file each, with a function `make(**options) -> Arrays`."""

import importlib
from collections.abc import Mapping
from typing import Any

from framewatt.datasets.contract import Arrays

__all__ = ["make_arrays"]


def make_arrays(definition: Mapping[str, Any]) -> Arrays:
    """Make a data set.

    Args:
        definition: an entry of config/datasets.yaml: `module` and the options of its `make`.
    """
    options = {name: value for name, value in definition.items() if name != "module"}
    module = importlib.import_module(f"framewatt.datasets.{definition['module']}")
    arrays = module.make(**options)
    assert isinstance(arrays, Arrays)
    return arrays
