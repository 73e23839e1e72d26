"""Imported runs, read again from the logs in the package."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from framewatt.imports.file_study import FileStudy
from framewatt.imports.importing import import_runs
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import open_trace
from framewatt.package.verification import earlier
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, RunFolder

_OF_THE_READER = ("identity", "framewatt_version", "schema_version")
"""What a record says of the program that read the logs, which may be another one now."""


def problems(package: Opened, study: FileStudy) -> Iterator[str]:
    """Where a record or a trace is not what its logs give; nothing where a study does not pack them."""
    if study.root is None or not study.root.is_dir():
        return
    again = {(one.record["cell_id"], one.record["repetition"]): one for one in import_runs(study, {})}
    for run, record in package.records:
        found = again[run.cell, run.repetition]
        names = [name for name in found.record if name not in _OF_THE_READER]
        gives = {name: found.record[name] for name in names}
        if record["schema_version"] < earlier.SINCE:
            gives |= {name: record.get(name) for name in ("valid", "reasons", "flags")}
            gives["windows"] = earlier.as_told_then(record["windows"], found.record["windows"])
        told = {name: record.get(name) for name in names}
        yield from some(differences(told, gives, why="its logs give"), run.where)
        yield from _of_trace(run, found.trace)


def _of_trace(run: RunFolder, found: Trace) -> Iterator[str]:
    """Says so where a run's trace is not that of its logs."""
    told = open_trace(run.path / "power.parquet")
    if told.channels != found.channels or not all(
        _alike(told.of(index), found.of(index)) for index in range(len(found.channels))
    ):
        yield f"{run.where}: power.parquet: not the readings of its logs"


def _alike(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether two channels have the same readings at the same times."""
    (told_ns, told), (found_ns, found) = one, other
    return np.array_equal(told_ns, found_ns) and np.allclose(told, found, rtol=1e-9, atol=0, equal_nan=True)
