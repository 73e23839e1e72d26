"""Profiles of a study's cells, and joules by operator counted again from timelines and traces."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from framewatt.base.spreadsheet import read_csv
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.reading import some
from framewatt.planning import jobs
from framewatt.profiling.collection import OK, RECORD
from framewatt.profiling.operators import KEYS, frame_of
from framewatt.profiling.repeated import KEYS as REPEATED_KEYS
from framewatt.profiling.repeated import frame_of as repeated_frame
from framewatt.runs.profiling import PROFILED
from framewatt.runs.profiling import RECORD as RUN_RECORD
from framewatt.study.cell import PROGRAM, profiled_cells
from framewatt.study.study import MeasuredStudy

_CLOCKS = 1.02
"""How much longer than its pass a profile may be: cProfile has a clock of its own."""


def profile_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
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
            yield f"it states {record.get('status')}, and there is a profile"
        return
    if record["cell_id"] != cell:
        yield f"cell_id: it states {record['cell_id']}"
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


JOULES, ABOUT, REPEATED = (f"operators/{name}.csv" for name in ("joules", "timelines", "repeated"))

_ALIKE = 0.01
"""Largest relative difference of a number counted on another machine: a search for the likeliest spreads ends where it
is near enough, see framewatt.profiling.powers."""

_SMALL_J = 1e-6

_READS = "host_reads_per_step"
_UNTOLD = object()


def operator_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Joules that do not follow from the timelines, or are missing."""
    cells = jobs.timeline_cells_of(study)
    if not cells:
        return
    if not all((package.results / name).is_file() for name in (JOULES, ABOUT)):
        yield f"{JOULES}: not there, of a study that tells joules by operator"
        return
    frame, about = frame_of([package.results / "timelines" / cell for cell in cells])
    yield from _repeated_problems(package, study)
    told_about = read_csv(package.results / ABOUT).to_dict("records")
    told = {(row["cell"], row["status"]) for row in told_about}
    if told != (found := {(row["cell"], row["status"]) for row in about}):
        yield f"{ABOUT}: it states {sorted(told)}, timelines give {sorted(found)}"
    yield from _reads(told_about, about)
    says, gives = (
        {tuple(row[key] for key in KEYS): row for row in one.to_dict("records")}
        for one in (read_csv(package.results / JOULES), frame)
    )
    if says.keys() != gives.keys():
        yield f"{JOULES}: it has {len(says)} rows, timelines give {len(gives)}, or others"
        return
    for key, row in says.items():
        for name in ("seconds", "energy_j", "uncertainty_j", "calls"):
            if not _alike(row, gives[key], name):
                yield f"{JOULES}: {', '.join(map(str, key))}: {name} is {row[name]}, timelines give {gives[key][name]}"


def _repeated_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Comparisons with operators that were repeated alone which do not follow from traces, or are missing."""
    cells = jobs.repeated_cells_of(study)
    if not cells:
        return
    if not (package.results / REPEATED).is_file():
        yield f"{REPEATED}: not there, of a study that repeats operators alone"
        return
    folders = ([package.results / name / cell for cell in cells] for name in ("timelines", "repeated"))
    says, gives = (_by_key(one) for one in (read_csv(package.results / REPEATED), repeated_frame(*folders)))
    if says.keys() != gives.keys():
        yield f"{REPEATED}: it has {len(says)} rows, records and traces give {len(gives)}, or others"
        return
    for key, row in says.items():
        for name in _REPEATED:
            if not _both(row[name], gives[key][name]):
                where = ", ".join(str(one) for one in key if one)
                yield f"{REPEATED}: {where}: {name} is {row[name]}, records and traces give {gives[key][name]}"


_REPEATED = (
    *("calls", "covered_percent", "covered_s_percent", "joined_s", "joined_j", "joined_uncertainty_j"),
    *("repeated_s", "repeated_j", "repeated_uncertainty_j", "ratio", "ratio_low", "ratio_high"),
)


def _by_key(frame: pd.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    rows = frame.to_dict("records")
    return {tuple("" if pd.isna(row[key]) else str(row[key]) for key in REPEATED_KEYS): row for row in rows}


def _both(says: Any, gives: Any) -> bool:
    if pd.isna(says) or pd.isna(gives):
        return bool(pd.isna(says) and pd.isna(gives))
    # Uncertainties, and so the ends of intervals, come from the same search as joules.
    return math.isclose(says, gives, rel_tol=_ALIKE)


def _reads(told: Iterable[Mapping[str, Any]], found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Calls in which the host waits, which advice goes by, other than in the timelines; older packages tell none."""
    gives = {(row["cell"], row.get("domain")): row.get(_READS) for row in found}
    for row in told:
        says, given = row.get(_READS, _UNTOLD), gives.get((row["cell"], row.get("domain")))
        if says is not _UNTOLD and not _same(says, given):
            yield f"{ABOUT}: {row['cell']}: {_READS} is {says}, timelines give {given}"


def _same(says: Any, gives: float | None) -> bool:
    """Whether a number of a CSV file, NaN where the field is empty, is another one."""
    if gives is None or not isinstance(says, int | float):
        return gives is None and bool(pd.isna(says))
    return math.isclose(says, gives, rel_tol=_ALIKE)


def _alike(says: Mapping[str, Any], gives: Mapping[str, Any], name: str) -> bool:
    # What is a hundredth of the joules does not matter where it is their uncertainty.
    scale_j = _ALIKE * abs(gives["energy_j"]) if name == "uncertainty_j" else _SMALL_J
    return math.isclose(says[name], gives[name], rel_tol=_ALIKE, abs_tol=scale_j)
