"""Which profiles a study has, by the names of its dumps or by its own cells, and what its profiled runs left."""

import csv
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.profiling.collection import FAILED, OK, PROFILES_COLUMNS, Names, names_of_profiles, read_names
from framewatt.profiling.dump import Trust, read_profile
from framewatt.profiling.frame import ProfiledRun, file_name
from framewatt.runs.profiling import DUMP
from framewatt.runs.profiling import RECORD as RUN_RECORD
from framewatt.study.cell import Cell, profiled_cells


def records_of(folders: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Records of profiled runs, each with the `name` of its cell.

    Args:
        folders: of profiled runs.
    """
    return [{**read_json(Path(folder) / RUN_RECORD), "name": Path(folder).name} for folder in folders]


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
        record = read_json(folder / RUN_RECORD)
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


UNNAMED, COST = "functions_unnamed", "profiler_cost"
"""Further tables of a study that profiles its own cells."""

OPERATOR_TABLES = ("operators", "apis", "advice", "timelines")
"""Tables of a study that has timelines of its cells."""

RECORD = "profile/profiles.csv"
"""The record of a study's dumps, below its results."""


@dataclass(frozen=True)
class Profiles:
    """The profiled runs of a study whose dumps are given.

    Attributes:
        folder: of the dumps; None where it is not available, as beside an unpacked package.
        wanted: the folder in words, where it is not available.
        names: the table of names.
        checksums: the table of known dumps.
        record: of the dumps that were read, if they were.
    """

    folder: Path | None
    wanted: str
    names: Path
    checksums: Path
    record: Path

    @property
    def dumps(self) -> list[str]:
        """The dumps; where there are none, one file that is not there and says where they should be."""
        found = sorted(map(str, self.folder.glob("*.prof"))) if self.folder else []
        return found or [f"{self.folder or self.wanted}/*.prof"]

    @property
    def profiles(self) -> list[str]:
        """Names of the profiled runs, by those of the dumps; without dumps, by the record of those that were read."""
        found = names_of_profiles(map(Path, self.dumps), self._names)
        if not found and self.record.is_file():
            with self.record.open(encoding="utf-8", newline="") as file:
                told = [row.get("profile") or "" for row in csv.DictReader(file)]
            found = sorted({name for name in told if re.fullmatch("[a-z0-9_]+", name)})
        return found

    further: ClassVar[tuple[str, ...]] = ()

    @property
    def tables(self) -> dict[str, tuple[str, str]]:
        """The tables of functions, by name: one for every framework and phase."""
        names = self._names
        return _tables((framework, phase) for framework in names.all("framework") for phase in names.all("phase"))

    @property
    def _names(self) -> Names:
        return read_names(self.names)


@dataclass(frozen=True)
class OwnProfiles:
    """The profiled runs of a study that measures.

    Attributes:
        cells: that are profiled, by name.
    """

    cells: Mapping[str, Cell]
    further: ClassVar[tuple[str, ...]] = (UNNAMED, COST)

    @property
    def profiles(self) -> list[str]:
        """Names of the profiled runs, in names of files."""
        return [file_name(cell) for cell in self.cells]

    @property
    def tables(self) -> dict[str, tuple[str, str]]:
        """The tables of functions, by name: one for every engine and phase that is profiled."""
        return _tables(sorted({(cell.engine, cell.phase) for cell in self.cells.values()}))


def _tables(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {f"functions_{file_name(*pair)}": pair for pair in pairs}


def profiles_of(study: Any, results: Path) -> Profiles | OwnProfiles | None:
    """The profiles of a study; None where it has none.

    Args:
        study: any study.
        results: its results.

    Raises:
        FramewattError: a table that the study names is not there.
    """
    if study.measures:
        cells = profiled_cells(study.settings, study.measured_cells)
        by_file: dict[str, str] = {}
        for name in cells:
            if (other := by_file.setdefault(file_name(name), name)) != name:
                raise FramewattError(
                    f"{study.path}: profile: found the cells {other} and {name}, whose call graphs would be one file; "
                    "allowed: names that differ in letters or numbers"
                )
        return OwnProfiles(cells) if cells else None
    files = study.settings.get("files") or {}
    told = files.get("profiles")
    if not told:
        return None
    for key in ("names", "checksums"):
        if not Path(told[key]).is_file():
            raise FramewattError(
                f"{study.path}: files.profiles.{key}: found {told[key]!r}, which is no file; allowed: a table, see "
                "docs/profiles.md"
            )
    root = study.root / told["folder"] if study.root else None
    wanted = f"--config {files['root_config']}=…/{told['folder']}"
    return Profiles(root, wanted, Path(told["names"]), Path(told["checksums"]), results / RECORD)


def with_profiles(studies: Sequence[Any], results: Path) -> dict[str, Profiles | OwnProfiles]:
    """The profiles of each study that has some, by its name."""
    found = {study.name: profiles_of(study, results / study.name) for study in studies}
    return {name: profiles for name, profiles in found.items() if profiles}
