"""Profiles of a study's own cells: what its profiled runs left, and the status of reading each dump."""

from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.profiling.collection import FAILED, OK, PROFILES_COLUMNS
from framewatt.profiling.dump import Trust, read_profile
from framewatt.profiling.frame import ProfiledRun, file_name
from framewatt.runs.profiling import DUMP, RECORD


def records_of(folders: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Records of profiled runs, each with the `name` of its cell.

    Args:
        folders: of profiled runs.
    """
    return [{**read_json(Path(folder) / RECORD), "name": Path(folder).name} for folder in folders]


def failed_profiles(folders: Iterable[str | Path], accepted: Container[str]) -> list[str]:
    """Cells whose profiled run failed, each with its reason, in a line.

    Args:
        folders: of profiled runs.
        accepted: names of cells that the study may end without.
    """
    failed = [one for one in records_of(folders) if one["status"] != OK and one["name"] not in accepted]
    return [f"profile of {one['name']}: {one['reason']}" for one in failed]


def read_own(folders: Iterable[Path]) -> tuple[list[ProfiledRun], pd.DataFrame]:
    """Read the dumps of a study's own profiled runs.

    A dump is opened only if it is the one that its record names.

    Args:
        folders: of profiled runs, each with its record and, where it is ok, its dump.

    Returns:
        The runs and the record (PROFILES_COLUMNS), both in the order of the folders; `framework` is the engine.
    """
    runs, rows = [], []
    for folder in folders:
        record = read_json(folder / RECORD)
        cell = folder.name
        row: dict[str, Any] = {"file": f"{cell}/{DUMP}", "profile": file_name(cell), "cell": cell, "repetition": 1}
        if record["status"] != OK:
            rows.append({**row, "status": FAILED, "reason": record["reason"]})
            continue
        levels = {"workload": record["cell"]["workload"], "framework": record["engine"], "phase": record["phase"]}
        row |= levels
        try:
            profile = read_profile(folder / DUMP, Trust(frozenset({record["dump_sha256"]})))
        except FramewattError as error:
            # The record is published, so it must not hold the file's path on this machine.
            reason = str(error).replace(str(folder / DUMP), row["file"])
            rows.append({**row, "status": FAILED, "reason": reason, "sha256": record["dump_sha256"]})
            continue
        runs.append(ProfiledRun(**levels, profile=profile, cell=cell))
        read = {"status": OK, "sha256": profile.sha256, "written_by": profile.python and f"Python {profile.python}"}
        rows.append({**row, **read, "functions": len(profile.functions), "total_time_s": profile.total_time_s})
    whole = dict.fromkeys(("repetition", "functions"), "Int64")
    return runs, pd.DataFrame(rows, columns=PROFILES_COLUMNS).astype(whole)
