"""A cProfile dump as two frames: the functions of a profiled run, and who called whom.

Dumps are marshal data, which is unsafe to load. A dump is opened only if its checksum is known or the user allows it,
and then by another process (unmarshal.py), which returns only checked numbers and names.

Files have short names, without private folders of the machine.
"""

import csv
import hashlib
import json
import math
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.profiling.unmarshal import CPU_S, LARGEST_BYTES

_PACKAGES = re.compile(r".*/(?:site|dist)-packages/(?:[^/]+\.egg/)?|.*/lib/python\d(?:\.\d+)?/")
"""What comes before an installed package or a module of the standard library."""

_HOME = re.compile(r"^(?:[A-Za-z]:)?/(?:(?:home|Users)/[^/]+|root)/")
"""A home folder, which names its owner."""


def short_names(files: Iterable[str]) -> dict[str, str]:
    """A short name for every file, different ones for different files.

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
    """The shortest end of every path, counted in folders, that no other path shares."""
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
    """The same names; duplicates are numbered from the second on."""
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
    """The checksums of known dumps, from the column sha256 of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return frozenset(row["sha256"] for row in csv.DictReader(file))


def read_profile(path: Path, trust: Trust) -> Profile:
    """Read a dump.

    Raises:
        UnknownDumpError: the dump may not be opened.
        FramewattError: it is no dump, comes from a Python whose dumps this one cannot read, or no time passed in it.
    """
    content = _content(path)
    sha256 = hashlib.sha256(content).hexdigest()
    if not trust.every and sha256 not in trust.checksums:
        raise UnknownDumpError(
            f"{path}: found a dump with the unknown checksum {sha256}; allowed: dumps of a known checksum, because "
            "marshal data can harm whoever opens them; if you know who wrote it: --config trust_profiles=True",
            sha256,
        )
    python = _python(content)
    answer = _unmarshal(path, content, python)
    functions = pd.DataFrame(answer["functions"], columns=FUNCTION_COLUMNS[1:])
    total_s = sum(functions["own_time_s"].tolist())
    if not 0 < total_s < math.inf:
        raise FramewattError(f"{path}: found functions that took {total_s:g} s together; allowed: a run that took time")
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
            raise FramewattError(f"{path}: found {size >> 20} MiB; allowed: dumps up to {LARGEST_BYTES >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise FramewattError(f"{path}: found no readable file ({error.strerror}); allowed: a cProfile dump") from error


def _python(content: bytes) -> str | None:
    found = Counter(_PYTHON.findall(content)).most_common(1)
    return found[0][0].decode() if found else None


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
        writer = f"Python {python}, which its paths name" if python else "the Python that wrote it"
        raise FramewattError(
            f"{path}: found {problem}; allowed: a whole dump of cProfile that Python {here} reads; to mend it, copy it "
            f"again, or convert it with {writer}, or profile again with Python 3"
        )
    return answer
