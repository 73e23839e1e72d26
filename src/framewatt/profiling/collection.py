"""The profiles of a study: which there are, by the names of dumps or by its cells, and the status of reading each."""

import contextlib
import csv
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_atomically
from framewatt.profiling.dump import (
    FIELDS,
    ProfiledRun,
    Trust,
    UnknownDumpError,
    calls_frame,
    cell_of,
    file_name,
    profiled_frame,
    read_profile,
)
from framewatt.runs.profiling import DUMP
from framewatt.runs.profiling import RECORD as RUN_RECORD
from framewatt.study.cell import Cell, profiled_cells

_FILE_NAME = re.compile(
    r"(?P<workload>.+)_(?P<framework>[^_]+)_(?P<phase>[^_\d][^_]*?)(?:_(?P<repetition>[1-9]\d*))?\.prof"
)
_ALLOWED = "<workload>_<framework>_<phase>.prof, or …_<phase>_<repetition>.prof"

OK, REFUSED, FAILED = "ok", "refused", "failed"
"""Status of a dump: `refused` may not be opened, `failed` cannot be read."""

PROFILES_COLUMNS = [
    *("file", "profile", "cell", *FIELDS, "repetition"),
    *("status", "reason", "sha256", "written_by", "functions", "total_time_s"),
]
"""Columns of the record of a collection: one row per file.

`cell` and `repetition` identify the profiled run, `profile` is its name in names of files; `status` is ok, refused or
failed, with the reason; `written_by` is the Python that wrote the dump, `total_time_s` the run's length.
"""


@dataclass(frozen=True)
class Names:
    """Meaning of the words in a file's name.

    Attributes:
        levels: field -> word in a file's name -> level.
        titles: field -> level -> how tables write it.
    """

    levels: Mapping[str, Mapping[str, str]]
    titles: Mapping[str, Mapping[str, str]]

    def all(self, field: str) -> list[str]:
        """Return all levels of a field, in the order of the table."""
        return list(self.titles[field])


@dataclass(frozen=True)
class DumpedRun:
    """The profiled run that a dump is of.

    Attributes:
        levels: field -> level.
        repetition: its number in its cell, from 1.
    """

    levels: Mapping[str, str]
    repetition: int

    @property
    def cell(self) -> str:
        """Name of its cell."""
        return cell_of(self.levels)

    @property
    def name(self) -> str:
        """Its name in names of files; the first repetition has that of its levels alone."""
        words = file_name(*self.levels.values())
        return words if self.repetition == 1 else f"{words}_{self.repetition}"


def read_names(path: Path) -> Names:
    """Read a table with the columns field, in_file_name, level, in_tables.

    Raises:
        FramewattError: a field that file names do not have.
    """
    levels: dict[str, dict[str, str]] = {field: {} for field in FIELDS}
    titles: dict[str, dict[str, str]] = {field: {} for field in FIELDS}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            field = row["field"]
            if field not in FIELDS:
                raise FramewattError(
                    f"{path}: line {reader.line_num}: field: {field!r} is not a field. Use {', '.join(FIELDS)}."
                )
            levels[field][row["in_file_name"]] = row["level"]
            titles[field].setdefault(row["level"], row["in_tables"])
    return Names(levels, titles)


def read_profiles(files: Iterable[Path], names: Names, trust: Trust) -> tuple[list[ProfiledRun], pd.DataFrame]:
    """Read the dumps, and record the status of every file.

    Args:
        files: dumps named `<workload>_<framework>_<phase>.prof`, or `…_<repetition>.prof`.
        names: what the words of those names mean.
        trust: which dumps may be opened.

    Returns:
        The runs and the record (PROFILES_COLUMNS), both in the order of `names`.
    """
    files = sorted(files)
    runs, rows = [], []
    for file in files:
        row: dict[str, Any] = {"file": file.name, "status": FAILED}
        try:
            run = run_of(file, names)
            row |= {**run.levels, "cell": run.cell, "repetition": run.repetition, "profile": run.name}
            _refuse_second(file, files, names)
            profile = read_profile(file, trust)
        except FramewattError as error:
            if isinstance(error, UnknownDumpError):
                row |= {"status": REFUSED, "sha256": error.sha256}
            # The record is published, so it must not hold the file's path on this machine.
            rows.append(row | {"reason": str(error).replace(str(file), file.name)})
            continue
        runs.append(ProfiledRun(**run.levels, profile=profile, repetition=run.repetition))
        row |= {"status": OK, "sha256": profile.sha256, "written_by": profile.python and f"Python {profile.python}"}
        rows.append(row | {"functions": len(profile.functions), "total_time_s": profile.total_time_s})
    runs.sort(key=lambda run: (_place(names, run.workload, run.framework, run.phase), run.repetition))
    rows.sort(key=lambda row: (_place(names, *(row.get(field) for field in FIELDS)), row.get("repetition", 0)))
    whole = dict.fromkeys(("repetition", "functions"), "Int64")
    return runs, pd.DataFrame(rows, columns=PROFILES_COLUMNS).astype(whole)


def write_profiles(study: str, runs: Sequence[ProfiledRun], record: pd.DataFrame, files: Any) -> None:
    """Write what dumps hold as frames, and the record of reading them.

    Args:
        study: its name.
        runs: what was read.
        record: PROFILES_COLUMNS.
        files: paths `functions`, `calls` and `record`.
    """
    functions, calls = profiled_frame(study, runs), calls_frame(study, runs)
    write_atomically(Path(files.functions), lambda path: functions.to_parquet(path, index=False))
    write_atomically(Path(files.calls), lambda path: calls.to_parquet(path, index=False))
    write_atomically(Path(files.record), lambda path: record.to_csv(path, index=False, lineterminator="\n"))


def summary(record: pd.DataFrame) -> list[str]:
    """Return a line for the dumps that were refused, and one for those that could not be read, if there are any.

    Args:
        record: PROFILES_COLUMNS.
    """
    what = {
        REFUSED: "not opened, since their checksums are unknown; if you know who wrote them: --config "
        "trust_profiles=True",
        FAILED: "that cannot be read; for the reasons, see profile/profiles.csv",
    }
    return [
        f"{len(files)} of {len(record)} dumps {words}: {', '.join(files)}"
        for status, words in what.items()
        if (files := record.loc[record["status"] == status, "file"].tolist())
    ]


def run_of(file: Path, names: Names) -> DumpedRun:
    """Return what ran, by the name of its dump.

    Raises:
        FramewattError: it is no name of a dump, or has a word that the names do not know.
    """
    match = _FILE_NAME.fullmatch(file.name)
    if not match:
        raise FramewattError(f"{file} is not a name of a dump. Rename the file: {_ALLOWED}.")
    words = {field: match[field] for field in FIELDS}
    for field, word in words.items():
        if word not in names.levels[field]:
            allowed = ", ".join(names.levels[field])
            raise FramewattError(
                f"{file}: {field}: {word!r} is not known. Use {allowed}, or add it to the table of names."
            )
    return DumpedRun({field: names.levels[field][word] for field, word in words.items()}, int(match["repetition"] or 1))


def names_of_profiles(files: Iterable[Path], names: Names) -> list[str]:
    """Return the names of the runs of some dumps, each once. Files that are not dumps are left out."""
    runs = []
    for file in files:
        with contextlib.suppress(FramewattError):
            runs.append(run_of(file, names).name)
    return sorted(set(runs))


def _refuse_second(file: Path, files: Iterable[Path], names: Names) -> None:
    """Refuse two dumps of one run, since a program cannot decide which one counts."""
    name = run_of(file, names).name
    others = [other.name for other in files if other != file and names_of_profiles([other], names) == [name]]
    if others:
        raise FramewattError(f"{file}: {', '.join(others)} is a dump of the same run. Keep one.")


def _place(names: Names, *levels: str | None) -> tuple[int, ...]:
    """Return the place of a run in the order of the table of names; a missing level comes last."""
    known = [names.all(field) for field in FIELDS]
    places = [known[i].index(level) if level in known[i] else len(known[i]) for i, level in enumerate(levels)]
    phase_framework_workload: tuple[int, ...] = tuple(reversed(places))
    return phase_framework_workload


def records_of(folders: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Return records of profiled runs, each with the `name` of its cell.

    Args:
        folders: of profiled runs.
    """
    return [{**read_json(Path(folder) / RUN_RECORD), "name": Path(folder).name} for folder in folders]


def failed_profiles(folders: Iterable[str | Path], accepted: Container[str]) -> list[str]:
    """Return a line for each cell with a failed profiled run: the cell and the reason.

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
    """The profiled runs of a study that is given their dumps.

    Attributes:
        folder: of the dumps; None where it is not available, as for an unpacked package.
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
        """The dumps. Where there are none, a single missing file, with a path that shows where dumps should be."""
        dumps = sorted(map(str, self.folder.glob("*.prof"))) if self.folder else []
        return dumps or [f"{self.folder or self.wanted}/*.prof"]

    @property
    def profiles(self) -> list[str]:
        """Names of the profiled runs, by those of the dumps; without dumps, by the record of those that were read."""
        runs = names_of_profiles(map(Path, self.dumps), self._names)
        if not runs and self.record.is_file():
            with self.record.open(encoding="utf-8", newline="") as file:
                recorded = [row.get("profile") or "" for row in csv.DictReader(file)]
            runs = sorted({name for name in recorded if re.fullmatch("[a-z0-9_]+", name)})
        return runs

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
    """Return the profiles of a study; None where it has none.

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
                    f"{study.path}: profile: the call graphs of the cells {other} and {name} would be one file. Use "
                    "names that differ in letters or numbers."
                )
        return OwnProfiles(cells) if cells else None
    files = study.settings.get("files") or {}
    settings = files.get("profiles")
    if not settings:
        return None
    for key in ("names", "checksums"):
        if not Path(settings[key]).is_file():
            raise FramewattError(
                f"{study.path}: files.profiles.{key}: {settings[key]!r} is not a file. Name a table as in "
                "docs/profiles.md."
            )
    root = study.root / settings["folder"] if study.root else None
    wanted = f"--config {files['root_config']}=…/{settings['folder']}"
    return Profiles(root, wanted, Path(settings["names"]), Path(settings["checksums"]), results / RECORD)


def with_profiles(studies: Sequence[Any], results: Path) -> dict[str, Profiles | OwnProfiles]:
    """Return the profiles of each study that has some, by its name."""
    every = {study.name: profiles_of(study, results / study.name) for study in studies}
    return {name: profiles for name, profiles in every.items() if profiles}
