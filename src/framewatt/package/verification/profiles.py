"""Check the profiles of a study's cells, and recount joules by operator from timelines and traces."""

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
"""How much longer than its pass a profile may be, as a factor: cProfile has a clock of its own."""


def profile_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the profiles that are missing, of other runs than recorded, or longer than their pass."""
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
        yield from some(_problems_of_profile(record, rows[cell], own, cell), f"profiled/{cell}/{RUN_RECORD}")


def _problems_of_profile(
    record: Mapping[str, Any], row: Mapping[str, Any], own_times_s: list[float], cell: str
) -> Iterator[str]:
    """Yield how a profile differs from the record of its run."""
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
_ABSENT = object()


def operator_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the joules that are missing or do not follow from the timelines."""
    cells = jobs.timeline_cells_of(study)
    if not cells:
        return
    if not all((package.results / name).is_file() for name in (JOULES, ABOUT)):
        yield f"{JOULES}: not there, of a study with joules by operator"
        return
    frame, about = frame_of([package.results / "timelines" / cell for cell in cells])
    yield from _repeated_problems(package, study)
    stored_about = read_csv(package.results / ABOUT).to_dict("records")
    stored = {(row["cell"], row["status"]) for row in stored_about}
    if stored != (derived := {(row["cell"], row["status"]) for row in about}):
        yield f"{ABOUT}: it states {sorted(stored)}, timelines give {sorted(derived)}"
    yield from _read_problems(stored_about, about)
    stored_rows, derived_rows = (
        {tuple(row[key] for key in KEYS): row for row in one.to_dict("records")}
        for one in (read_csv(package.results / JOULES), frame)
    )
    if stored_rows.keys() != derived_rows.keys():
        yield f"{JOULES}: it has {len(stored_rows)} rows, timelines give {len(derived_rows)}, or others"
        return
    for key, row in stored_rows.items():
        for name in ("seconds", "energy_j", "uncertainty_j", "calls"):
            if not _alike(row, derived_rows[key], name):
                where = f"{JOULES}: {', '.join(map(str, key))}"
                yield f"{where}: {name} is {row[name]}, timelines give {derived_rows[key][name]}"


def _repeated_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the comparisons with repeated operators that are missing or do not follow from traces."""
    cells = jobs.repeated_cells_of(study)
    if not cells:
        return
    if not (package.results / REPEATED).is_file():
        yield f"{REPEATED}: not there, of a study that repeats operators alone"
        return
    folders = ([package.results / name / cell for cell in cells] for name in ("timelines", "repeated"))
    stored, derived = (_by_key(one) for one in (read_csv(package.results / REPEATED), repeated_frame(*folders)))
    if stored.keys() != derived.keys():
        yield f"{REPEATED}: it has {len(stored)} rows, records and traces give {len(derived)}, or others"
        return
    for key, row in stored.items():
        for name in _REPEATED:
            if not _both(row[name], derived[key][name]):
                where = ", ".join(str(one) for one in key if one)
                yield f"{REPEATED}: {where}: {name} is {row[name]}, records and traces give {derived[key][name]}"


_REPEATED = (
    *("calls", "covered_percent", "covered_s_percent", "joined_s", "joined_j", "joined_uncertainty_j"),
    *("repeated_s", "repeated_j", "repeated_uncertainty_j", "ratio", "ratio_low", "ratio_high"),
)


def _by_key(frame: pd.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    rows = frame.to_dict("records")
    return {tuple("" if pd.isna(row[key]) else str(row[key]) for key in REPEATED_KEYS): row for row in rows}


def _both(stored: Any, derived: Any) -> bool:
    if pd.isna(stored) or pd.isna(derived):
        return bool(pd.isna(stored) and pd.isna(derived))
    # Uncertainties, and so the ends of intervals, come from the same search as joules.
    return math.isclose(stored, derived, rel_tol=_ALIKE)


def _read_problems(
    stored_rows: Iterable[Mapping[str, Any]], derived_rows: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the counts of calls with a waiting host that differ from the timelines; older packages have none."""
    derived = {(row["cell"], row.get("domain")): row.get(_READS) for row in derived_rows}
    for row in stored_rows:
        stored, value = row.get(_READS, _ABSENT), derived.get((row["cell"], row.get("domain")))
        if stored is not _ABSENT and not _same(stored, value):
            yield f"{ABOUT}: {row['cell']}: {_READS} is {stored}, timelines give {value}"


def _same(stored: Any, derived: float | None) -> bool:
    """Return whether a number of a CSV file, NaN if the field is empty, equals a derived one."""
    if derived is None or not isinstance(stored, int | float):
        return derived is None and bool(pd.isna(stored))
    return math.isclose(stored, derived, rel_tol=_ALIKE)


def _alike(stored: Mapping[str, Any], derived: Mapping[str, Any], name: str) -> bool:
    # An uncertainty may differ by a hundredth of the joules.
    scale_j = _ALIKE * abs(derived["energy_j"]) if name == "uncertainty_j" else _SMALL_J
    return math.isclose(stored[name], derived[name], rel_tol=_ALIKE, abs_tol=scale_j)
