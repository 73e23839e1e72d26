"""Which test samples each cell got right, as the statistics take it from the runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from records_factory import energy, run_record, window

from framewatt.base.errors import FramewattError
from framewatt.runs.predictions import NAME, as_bytes, predictions_entry
from framewatt.runs.records import read_run, write_run
from framewatt.statistics.accuracies import read_test_sets

RIGHT = np.array([True, False, True, True])


def run(folder: Path, repetition: int, right: np.ndarray | None, **change: object) -> Path:
    """A run's record, and beside it what it answered right."""
    domains = {"cpu:package-0": energy(100.0)}
    record = run_record(domains, windows={"process": window(domains), "steady": window(domains)})
    path = folder / str(repetition) / "run.json"
    told = {} if right is None else {"predictions": predictions_entry(right)}
    write_run(path, record | {"repetition": repetition} | told | change)
    if right is not None:
        path.with_name(NAME).write_bytes(as_bytes(right))
    return path


def read(paths: list[Path]) -> dict[Path, dict[str, Any]]:
    """Records by their paths."""
    return {path: read_run(path) for path in paths}


def test_the_first_run_that_counts_stands_for_its_cell(tmp_path: Path) -> None:
    paths = [run(tmp_path, 3, ~RIGHT), run(tmp_path, 2, RIGHT), run(tmp_path, 1, ~RIGHT, valid=False, reasons=["x"])]
    found = read_test_sets(read(paths), [])
    ((cell, right),) = found.right.items()
    assert list(right) == list(RIGHT)
    framework, workload = found.weights[cell], run_record({})["cell"]["workload"]
    assert framework in ("torch", "tensorflow", "mxnet")
    assert read_test_sets(read(paths), [workload]).weights[cell] == "own"


def test_a_cell_whose_runs_kept_nothing_is_unknown(tmp_path: Path) -> None:
    found = read_test_sets(read([run(tmp_path, 1, None)]), [])
    assert found.right == {}
    assert found.size("any") is None


def test_bits_that_are_not_the_records_are_refused(tmp_path: Path) -> None:
    path = run(tmp_path, 1, RIGHT)
    path.with_name(NAME).write_bytes(as_bytes(~RIGHT))
    with pytest.raises(FramewattError, match="was changed after its record was written"):
        read_test_sets(read([path]), [])
