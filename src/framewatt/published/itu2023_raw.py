"""itu2023's raw results, as the workflow imported them, with the levels as the authors write them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.figures.power_traces import TracedRun
from framewatt.runs.records import read_run


def read_runs(paths: Iterable[Path]) -> list[TracedRun]:
    """The runs that could be imported, with their traces.

    Args:
        paths: run records, each beside its power.parquet.
    """
    records = [(read_run(path), path) for path in paths]
    return [
        TracedRun({**record, "cell": authors_levels(record["cell"])}, pd.read_parquet(path.with_name("power.parquet")))
        for record, path in records
        if record["status"] == "ok"
    ]


def authors_levels(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The levels of a cell as in the names of the authors' files: `resnet50`, `pytorch`, 32."""
    return {
        "batch_size": int(cell["batch_size"]),
        "framework": str(cell["framework"]).lower(),
        "dataset": str(cell["dataset"]),
        "model": str(cell["workload"]).lower().replace("-", ""),
    }
