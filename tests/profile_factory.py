"""Profiles for tests: dumps as cProfile writes them, and frames of them."""

import cProfile
import marshal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from checkout import ROOT

from framewatt.profiling.api_names import read_rules
from framewatt.profiling.dump import (
    Profile,
    ProfiledRun,
    Trust,
    calls_frame,
    functions_frame,
    profiled_frame,
    read_profile,
)

Key = tuple[str, int, str]


def builtin(name: str) -> Key:
    """What cProfile calls a built-in function."""
    return "~", 0, name


def statistics(own_times: Mapping[Key, float], called_by: Mapping[Key, Key] | None = None) -> dict[Key, Any]:
    """Statistics of functions that are called once each, none recursively.

    Args:
        own_times: function -> seconds.
        called_by: function -> its one caller.
    """
    called_by = called_by or {}
    return {
        key: (1, 1, own, own, {called_by[key]: (1, 1, own, own)} if key in called_by else {})
        for key, own in own_times.items()
    }


def write_dump(path: Path, content: Any) -> Path:
    """Write anything as marshal data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(marshal.dumps(content))
    return path


def profile(path: Path, own_times: Mapping[Key, float], called_by: Mapping[Key, Key] | None = None) -> Profile:
    """A profile by way of a dump at `path`."""
    return read_profile(write_dump(path, statistics(own_times, called_by)), Trust(every=True))


def functions_of(runs: Sequence[ProfiledRun], types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The functions frame of some runs, with framewatt's own rules of API names."""
    rules = read_rules(ROOT / "config" / "api_names.csv")
    return functions_frame(profiled_frame("mine", runs), calls_frame("mine", runs), rules, types or {})


def dump_of(path: Path, function: Callable[[], object]) -> Path:
    """What cProfile itself writes of a call."""
    profiler = cProfile.Profile()
    profiler.runcall(function)
    profiler.dump_stats(path)
    return path
