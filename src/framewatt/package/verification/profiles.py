"""Profiles of a study's own cells: the frames, the record of reading them, and the records of the runs agree."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.profiling.collection import OK
from framewatt.profiling.planned import RECORD
from framewatt.runs.profiling import PROFILED
from framewatt.runs.profiling import RECORD as RUN_RECORD
from framewatt.study.profiled import profiled_cells
from framewatt.study.purpose import PROGRAM
from framewatt.study.study import Study

_CLOCKS = 1.02
"""How much longer than its pass a profile may be: cProfile has a clock of its own."""


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Profiles that are missing, of other runs than those told of, or longer than what they were taken in."""
    cells = profiled_cells(study.settings, study.measured_cells)
    path = package.results / RECORD
    if not cells or not path.is_file():
        if cells:
            yield f"{RECORD}: not there, of a study that profiles its cells"
        return
    rows = {row["cell"]: row for row in pd.read_csv(path).to_dict("records")}
    if set(rows) != set(cells):
        yield f"{RECORD}: profiles of other cells than the study's"
        return
    functions = pq.read_table(path.with_name("functions.parquet")).to_pandas()
    for cell in cells:
        record = mapping_in(package.results / "profiled" / cell / RUN_RECORD)
        own = functions.loc[functions["cell"] == cell, "own_time_s"].tolist()
        yield from some(_of_one(record, rows[cell], own, cell), f"profiled/{cell}/{RUN_RECORD}")


def _of_one(record: Mapping[str, Any], row: Mapping[str, Any], own_times_s: list[float], cell: str) -> Iterator[str]:
    """Where one profile is not that of its run."""
    if record.get("status") != OK:
        if row["status"] == OK or own_times_s:
            yield f"it says {record.get('status')}, and there is a profile"
        return
    if record["cell_id"] != cell:
        yield f"cell_id: it says {record['cell_id']}"
    if row["sha256"] != record["dump_sha256"]:
        yield f"dump_sha256: {RECORD} has {row['sha256']}"
    if row["status"] != OK:
        return
    total_s = math.fsum(own_times_s)
    if len(own_times_s) != row["functions"] or not math.isclose(total_s, row["total_time_s"], rel_tol=1e-9):
        yield f"{RECORD} has {row['functions']:g} functions of {row['total_time_s']:.6g} s, there are others"
    took_s = record["passes"][PROFILED]["process_s" if record["profile"] == PROGRAM else "windows_s"]
    if total_s > _CLOCKS * took_s:
        yield f"passes: the profiled one took {took_s:.6g} s, its functions {total_s:.6g} s"
