"""Read cProfile dumps as frames: the functions of a profiled run, and which function called which.

Dumps are marshal data, which is unsafe to load. A dump is opened only if its checksum is known or the user allows it,
and then by another process (unmarshal.py), which returns only checked numbers and names. Files have short names,
without private folders of the machine.
"""

import csv
import hashlib
import json
import math
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.frames.frames import PLACES
from framewatt.imports.collect import cell_named
from framewatt.profiling.api_names import Rule, api_names
from framewatt.profiling.unmarshal import CPU_S, LARGEST_BYTES
from framewatt.study.factors import in_order

_PACKAGES = re.compile(r".*/(?:site|dist)-packages/(?:[^/]+\.egg/)?|.*/lib/python\d(?:\.\d+)?/")
"""What comes before an installed package or a module of the standard library."""

_HOME = re.compile(r"^(?:[A-Za-z]:)?/(?:(?:home|Users)/[^/]+|root)/")
"""A home folder, which names its owner."""


def short_names(files: Iterable[str]) -> dict[str, str]:
    """Return a short name for every file, different ones for different files.

    A file of an installed package or of the standard library is named from the package on (`torch/nn/functional.py`),
    any other by as many of its last folders as make it unique (`train.py`, `models/resnet.py`). Names that are no files
    (`~` for built-in functions, `<string>`) are kept.

    Args:
        files: names as cProfile writes them.
    """
    names, own = {}, []
    for file in sorted(set(files)):
        path = file.replace("\\", "/")
        installed = _PACKAGES.match(path)
        if installed:
            names[file] = path[installed.end() :]
        elif path == "~" or path.startswith("<"):
            names[file] = path
        else:
            own.append(file)
    return _numbered(names | _shortest_ends(own))


def _shortest_ends(files: list[str]) -> dict[str, str]:
    """Return the shortest end of every path, counted in folders, that no other path shares."""
    parts = {file: _HOME.sub("", file.replace("\\", "/")).removeprefix("./").lstrip("/").split("/") for file in files}
    names: dict[str, str] = {}
    length = 1
    while parts:
        sharing = defaultdict(list)
        for file, path in parts.items():
            sharing["/".join(path[-length:])].append(file)
        for name, alike in sharing.items():
            for file in alike:
                if len(alike) == 1 or length >= len(parts[file]):
                    names[file] = name
        parts = {file: path for file, path in parts.items() if file not in names}
        length += 1
    return names


def _numbered(names: dict[str, str]) -> dict[str, str]:
    """Return the same names; duplicates are numbered from the second on."""
    seen: defaultdict[str, int] = defaultdict(int)
    numbered = {}
    for file, name in names.items():
        seen[name] += 1
        numbered[file] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return numbered


_TIMES = ["calls", "primitive_calls", "own_time_s", "cumulative_time_s"]
FUNCTION_COLUMNS = ["rank", "file", "line", "function", *_TIMES]
CALL_COLUMNS = ["caller_rank", "callee_rank", *_TIMES]
_UNMARSHAL = Path(__file__).with_name("unmarshal.py")
_PYTHON = re.compile(rb"/python(\d\.\d+)/")


@dataclass(frozen=True)
class Trust:
    """Which dumps may be opened.

    Attributes:
        checksums: SHA-256 of known dumps.
        every: open any dump: the user allowed it, or the dump is of an own run.
    """

    checksums: frozenset[str] = frozenset()
    every: bool = False


@dataclass(frozen=True)
class Profile:
    """One profiled run.

    Attributes:
        functions: FUNCTION_COLUMNS, the function with the most own time first, its rank 1; `calls` counts recursive
            calls and `primitive_calls` does not; own time is spent in the function itself, cumulative time also in
            what it calls. Built-in functions have the file `~` and line 0.
        calls: CALL_COLUMNS, one row per caller and callee, times as spent in the callee on behalf of the caller.
        sha256: of the dump.
        python: version of the Python that wrote the dump, from paths in it; None where unknown.
    """

    functions: pd.DataFrame
    calls: pd.DataFrame
    sha256: str
    python: str | None

    @property
    def total_time_s(self) -> float:
        """Seconds of the run: the own times of all functions, as pstats counts it."""
        return float(self.functions["own_time_s"].sum())


class UnknownDumpError(FramewattError):
    """A dump that may not be opened, since its checksum is unknown.

    Attributes:
        sha256: of the dump.
    """

    def __init__(self, message: str, sha256: str) -> None:
        super().__init__(message)
        self.sha256 = sha256


def read_checksums(path: Path) -> frozenset[str]:
    """Return the checksums of known dumps, from the column sha256 of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return frozenset(row["sha256"] for row in csv.DictReader(file))


def read_profile(path: Path, trust: Trust) -> Profile:
    """Read a dump.

    Raises:
        UnknownDumpError: the dump may not be opened.
        FramewattError: it is no dump, this Python cannot read it, or no time passed in it.
    """
    content = _content(path)
    sha256 = hashlib.sha256(content).hexdigest()
    if not trust.every and sha256 not in trust.checksums:
        raise UnknownDumpError(
            f"{path}: its checksum {sha256} is not known, and marshal data can harm whoever opens it. If you know "
            "who wrote it, use --config trust_profiles=True.",
            sha256,
        )
    python = _python(content)
    answer = _unmarshal(path, content, python)
    functions = pd.DataFrame(answer["functions"], columns=FUNCTION_COLUMNS[1:])
    total_s = sum(functions["own_time_s"].tolist())
    if not 0 < total_s < math.inf:
        raise FramewattError(f"{path}: its functions took {total_s:g} s together. Use a dump of a run that took time.")
    functions["file"] = functions["file"].map(short_names(functions["file"]))
    functions = functions.sort_values(["own_time_s", "file", "line", "function"], ascending=[False, True, True, True])
    functions.insert(0, "rank", range(1, len(functions) + 1))
    calls = pd.DataFrame(answer["calls"], columns=CALL_COLUMNS)
    for end in ("caller_rank", "callee_rank"):
        calls[end] = calls[end].map(functions["rank"])
    calls = calls.sort_values(["callee_rank", "caller_rank"], ignore_index=True)
    return Profile(functions.reset_index(drop=True), calls, sha256, python)


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise FramewattError(f"{path} has {size >> 20} MiB. Use a dump of up to {LARGEST_BYTES >> 20} MiB.")
        return path.read_bytes()
    except OSError as error:
        raise FramewattError(f"{path} cannot be read ({error.strerror}). Use a cProfile dump.") from error


def _python(content: bytes) -> str | None:
    versions = Counter(_PYTHON.findall(content)).most_common(1)
    return versions[0][0].decode() if versions else None


def _unmarshal(path: Path, content: bytes, python: str | None) -> dict[str, Any]:
    """Load a dump in the other process."""
    command = [sys.executable, "-I", "-S", str(_UNMARSHAL)]
    try:
        # The child limits its own CPU time; this timeout is for a child that hangs.
        done = subprocess.run(command, input=content, capture_output=True, check=False, timeout=10 * CPU_S)
        answer: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
        problem = answer.get("problem") or (f"data on which Python ends with {done.returncode}" if not answer else None)
    except subprocess.TimeoutExpired:
        answer, problem = {}, "data on which Python does not come to an end"
    if problem:
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        writer = f"Python {python}, the version in its paths" if python else "the Python that wrote it"
        raise FramewattError(
            f"{path}: it holds {problem}. It has to be a whole dump of cProfile that Python {here} reads: copy it "
            f"again, convert it with {writer}, or profile again with Python 3."
        )
    return answer


FIELDS = ("workload", "framework", "phase")
"""Factors of a profiled run."""

KEY = ["cell", "repetition"]
"""Columns that identify the profiled run of a row in its study."""

RUN_COLUMNS = ["study", "cell", *FIELDS, "repetition"]
"""Columns about the run of a row: its key, and the levels of its cell. Profiled runs are counted apart from measured
ones: repetition 1 of both is not the same run."""

PROFILED_COLUMNS = [*RUN_COLUMNS, *FUNCTION_COLUMNS, "share_percent"]
"""Columns of the profiled functions: what Profile.functions has, and the own time's share of the run's total time."""

FUNCTIONS_COLUMNS = [*RUN_COLUMNS, *PLACES, *PROFILED_COLUMNS[len(RUN_COLUMNS) :], "api_name", "type"]
"""Columns of the functions frame.

`machine` and `session` are those of the profiled run, missing where a dump is all that is known; `api_name` is the name
by which the framework's users know a profiled function, and `type` what makes it costly; both are missing where no
table has them.
"""

CALLS_COLUMNS = [*RUN_COLUMNS, *CALL_COLUMNS]
"""Columns of the calls frame; functions are named by their rank in the same run."""


@dataclass(frozen=True)
class ProfiledRun:
    """A profile and what ran.

    Attributes:
        workload: name of the model.
        framework: name of the framework, as the rules of API names call it.
        phase: `train` or `infer`.
        profile: what was read.
        repetition: number of the profiled run in its cell, from 1.
        cell: name of its cell; None where its levels are all that is known of it.
    """

    workload: str
    framework: str
    phase: str
    profile: Profile
    repetition: int = 1
    cell: str | None = None

    @property
    def columns(self) -> dict[str, str | int]:
        """RUN_COLUMNS without the study."""
        levels = {field: str(getattr(self, field)) for field in FIELDS}
        return {"cell": self.cell or cell_of(levels), **levels, "repetition": self.repetition}


def cell_of(levels: Mapping[str, str]) -> str:
    """Return the name of the cell of some levels, the same as that of runs that are read from files."""
    return cell_named(tuple((field, levels[field]) for field in in_order(FIELDS))).id


def keyed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its KEY; one that was written before profiles had keys has one profile a cell, repetition 1.

    Args:
        frame: of functions or calls, or the record of a collection, in which a file without levels has no cell.
    """
    if set(KEY) <= set(frame.columns):
        return frame
    levels = frame[list(FIELDS)]
    cells = {
        row: cell_of(dict(zip(FIELDS, row, strict=True))) for row in levels.dropna().itertuples(index=False, name=None)
    }
    named = [cells.get(row) for row in levels.itertuples(index=False, name=None)]
    return frame.assign(cell=pd.Series(named, frame.index, dtype="str"), repetition=1)


def file_name(*levels: str) -> str:
    """Levels as one name that is fit for a file: `ResNet-50`, `PyTorch` and `train` are `resnet_50_pytorch_train`."""
    return "_".join(re.sub(r"[^a-z0-9]+", "_", level.lower()).strip("_") for level in levels)


def profiled_frame(study: str, runs: Iterable[ProfiledRun]) -> pd.DataFrame:
    """Return the profiled functions: PROFILED_COLUMNS, runs in their order, functions by own time."""
    frames = []
    for run in runs:
        share = 100 * run.profile.functions["own_time_s"] / run.profile.total_time_s
        frames.append(_with_run(run.profile.functions, study, run).assign(share_percent=share))
    return _joined(frames, PROFILED_COLUMNS)


def calls_frame(study: str, runs: Iterable[ProfiledRun]) -> pd.DataFrame:
    """Return the calls frame: CALLS_COLUMNS, runs in their order."""
    return _joined([_with_run(run.profile.calls, study, run) for run in runs], CALLS_COLUMNS)


def functions_frame(
    profiled: pd.DataFrame, calls: pd.DataFrame, rules: Sequence[Rule], types: Mapping[str, str]
) -> pd.DataFrame:
    """Return the functions frame: FUNCTIONS_COLUMNS, rows as those of the profiled functions.

    Args:
        profiled: the profiled functions.
        calls: the calls frame, of the same runs.
        rules: of API names.
        types: API name -> type; a name that is not there has none.
    """
    names: list[str | None] = []
    for (cell, repetition), functions in profiled.groupby(KEY, sort=False):
        framework, phase = functions.iloc[0][["framework", "phase"]]
        names += api_names(functions, rows_of_run(calls, cell, repetition), framework, phase, rules)
    named = profiled.assign(
        api_name=pd.Series(names, profiled.index, dtype="str"),
        type=pd.Series([types.get(name or "") for name in names], profiled.index, dtype="str"),
        **{place: pd.Series(pd.NA, profiled.index, dtype="str") for place in PLACES},
    )
    return named[FUNCTIONS_COLUMNS]


def rows_of_run(frame: pd.DataFrame, cell: str, repetition: int = 1) -> pd.DataFrame:
    """Return the rows of a profiled run, from any frame with KEY."""
    return frame[(frame["cell"] == cell) & (frame["repetition"] == repetition)].reset_index(drop=True)


def profiled_as(functions: pd.DataFrame) -> pd.Series:
    """Return each function's name in the profile: the description of a built-in one, else its place in the code."""
    where = functions["file"] + ":" + functions["line"].astype("str") + " " + functions["function"]
    return functions["function"].where(functions["file"] == "~", where)


def _with_run(frame: pd.DataFrame, study: str, run: ProfiledRun) -> pd.DataFrame:
    return frame.assign(study=study, **run.columns)


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Return all rows; where there are none, the columns alone."""
    if not frames:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(frames, ignore_index=True)[list(columns)]
