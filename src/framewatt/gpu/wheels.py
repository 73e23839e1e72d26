"""A folder of wheels with which the workflow runs on a machine without a network.

Every wheel comes from a lock, by its hash; what has no wheel is built here from its source, by its hash, too. The
folder is divided into parts of a given size, and a wheel that is larger than a part is cut. `scripts/from_wheels.py`
puts them together and installs them.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.markers import Marker

from framewatt.base.cli import say
from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of, write_text
from framewatt.environments.framework import LOCK
from framewatt.environments.uv import BUILD_LOCK, UV_ENVIRONMENT, uv_program

SUMS = "SHA256SUMS"
"""Name of the file in every part that lists all wheels by their hash, as sha256sum does."""

NEEDED = "NEEDED"
"""Name of the file in every part that lists the packages without which the workflow does not run, a name a line."""

ORCHESTRATOR = Path("envs/orchestrator") / LOCK
_GLIBC = (5, 12, 17, 24, 26, 27, 28, 31, 34)
"""Minor versions of glibc for which a Linux of today runs wheels."""

_FIRST = tuple(Path("envs", name) for name in ("torch", "onnxruntime/cuda", "tensorflow/cuda"))
"""Environments that give the version of a further package before all others."""

_NOT_ON_A_NODE = ("uv", "snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep")
"""Packages of the workflow that do nothing where environments are not built."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def size_of(text: str) -> int:
    """Return the bytes of a size such as `60MB`.

    Raises:
        FramewattError: it is none.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", text.strip(), re.IGNORECASE)
    if not match or not float(match[1]):
        raise FramewattError(f"SIZE: {text!r} is not a size. Use 60MB or 1GB.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def locked(path: Path, python: str) -> dict[str, str]:
    """Return the requirements of a lock that hold for a version of Python on Linux, each with its hashes, by name.

    Args:
        path: requirements.txt.
        python: such as `3.12`.
    """
    # Each requirement in one line: the lock has its hashes on lines of their own.
    text = re.sub(r"\\\n\s+", "", path.read_text(encoding="utf-8"))
    there = {"python_version": python, "python_full_version": f"{python}.0"}
    chosen = {}
    for line in text.splitlines():
        match = re.match(r"([A-Za-z0-9][^ ;]*?)(?:\[.*\])?(==[^ ;]+)(?: ; (.*?))? (--hash=.*)", line)
        if match and (match[3] is None or Marker(match[3]).evaluate(there)):
            chosen[_plain(match[1])] = f"{match[1]}{match[2]} {match[4]}"
    return chosen


def requirements(root: Path, python: str, extra: Iterable[str] = ()) -> dict[str, str]:
    """Return what the workflow needs on a machine without a network, and further packages, by name.

    Args:
        root: the project's folder.
        python: see locked.
        extra: names of further packages, of any of the project's locks.

    Raises:
        FramewattError: no lock has a further package.
    """
    own = locked(root / ORCHESTRATOR, python)
    chosen = {name: line for name, line in own.items() if name not in _NOT_ON_A_NODE}
    for name in map(_plain, extra):
        paths = sorted(
            root.glob(f"envs/**/{LOCK}"), key=lambda path: (path.parent.relative_to(root) not in _FIRST, path)
        )
        locks = (locked(path, python) for path in paths)
        line = next((lock[name] for lock in locks if name in lock), None)
        if line is None:
            raise FramewattError(
                f"EXTRA: no lock in envs/ has {name!r}. Name a package of one, such as onnxruntime-gpu."
            )
        chosen[name] = line
    return chosen


def download(wanted: Mapping[str, str], python: str, folder: Path) -> None:
    """Put a wheel of every package into a folder.

    Args:
        wanted: see requirements.
        python: version of the interpreter that will use them, such as `3.12`.
        folder: an empty folder.

    Raises:
        FramewattError: some package can neither be downloaded nor built for that version.
    """
    tag = f"cp{python.replace('.', '')}"
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in _GLIBC]
    platforms += ["manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64", "any"]
    target = ["--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    target += [word for abi in (tag, "abi3", "none") for word in ("--abi", abi)]
    target += [word for platform in platforms for word in ("--platform", platform)]
    left, built = dict(wanted), {}
    while left:
        done = _pip(sys.executable, "download", left, folder, target)
        if not done.returncode:
            break
        match = re.search(r"No matching distribution found for ([A-Za-z0-9._-]+)==", done.stderr)
        if not match or _plain(match[1]) not in left:
            raise FramewattError(
                f"wheels: pip download failed: {_last(done.stderr)}. See whether the package index can be reached."
            )
        name = _plain(match[1])
        built[name] = left.pop(name)
    builder = _builder(folder.parent / "builder") if built else Path()
    for name, line in built.items():
        done = _pip(builder, "wheel", {name: line}, folder, ["--no-build-isolation"])
        if done.returncode:
            raise FramewattError(
                f"wheels: {name} has no wheel for Python {python} and cannot be built ({_last(done.stderr)}). Install "
                "what its build needs, or pin a version that has a wheel."
            )
    compiled = [
        path.name for path in folder.glob("*.whl") if built.keys() & {_package(path)} and "-none-any" not in path.name
    ]
    if compiled:
        raise FramewattError(
            f"wheels: {', '.join(compiled)} was compiled for this machine. Leave it out with WITHOUT=…"
        )


def divide(folder: Path, target: Path, size_b: int, parts: int, needed: str = "") -> list[Path]:
    """Divide the wheels of a folder into parts, each below a size.

    Args:
        folder: of wheels.
        target: an empty folder; takes `part-1`, `part-2` and so on.
        size_b: of a part at most, bytes.
        parts: how many there may be.
        needed: text of the list of needed packages, which each part has.

    Returns:
        the folders of the parts.

    Raises:
        FramewattError: they do not fit; nothing is written then.
    """
    wheels = sorted(folder.glob("*.whl"), key=lambda path: (-path.stat().st_size, path.name))
    sums = "".join(f"{sha256_of(path)}  {path.name}\n" for path in sorted(wheels))
    room_b = size_b - len(sums) - len(needed)
    if room_b <= 0:
        raise FramewattError(
            f"SIZE: {size_b} bytes do not hold the list of {len(wheels)} wheels. Use SIZE=1MB or more."
        )
    pieces = [piece for wheel in wheels for piece in _pieces(wheel, room_b)]
    filled: list[list[tuple[Path, int, int, str]]] = []
    for piece in sorted(pieces, key=lambda one: one[1] - one[2]):
        length_b = piece[2] - piece[1]
        fits = (part for part in filled if sum(end - start for _, start, end, _ in part) + length_b <= room_b)
        part = next(fits, None)
        if part is None:
            filled.append(part := [])
        part.append(piece)
    if len(filled) > parts:
        total_b = sum(wheel.stat().st_size for wheel in wheels)
        raise FramewattError(
            f"wheels: {total_b / 1e6:.0f} MB need {len(filled)} parts of {size_b / 1e6:g} MB. Use PARTS={len(filled)}, "
            "a larger SIZE, or leave out what the interpreter has: WITHOUT=…"
        )
    folders = []
    for number, part in enumerate(filled, 1):
        place = target / f"part-{number}"
        place.mkdir(parents=True)
        write_text(place / SUMS, sums)
        write_text(place / NEEDED, needed)
        for wheel, start, end, name in part:
            with wheel.open("rb") as source, (place / name).open("wb") as sink:
                source.seek(start)
                sink.write(source.read(end - start))
        folders.append(place)
    return folders


def fill(
    target: Path, wanted: Mapping[str, str], without: Iterable[str], python: str, size_b: int, parts: int
) -> list[Path]:
    """Download and divide, so that the folder is whole or not there.

    Args:
        target: the folder, which does not exist yet.
        wanted: see requirements.
        without: names of packages that the interpreter has.
        python: see locked.
        size_b: see divide.
        parts: see divide.

    Returns:
        the folders of the parts; each lists all names of `wanted`, too.

    Raises:
        FramewattError: the folder exists, or nothing wanted has such a name; see download and divide.
    """
    if target.exists():
        raise FramewattError(f"WHEELS: {target} exists. Name a folder that does not, or delete it.")
    left_out = {_plain(name) for name in without}
    if unknown := left_out - wanted.keys():
        say(f"not needed anyway: {', '.join(sorted(unknown))}")
    with scratch_folder() as scratch:
        (scratch / "wheels").mkdir()
        download({name: line for name, line in wanted.items() if name not in left_out}, python, scratch / "wheels")
        needed = "".join(f"{name}\n" for name in sorted(wanted))
        folders = divide(scratch / "wheels", scratch / "parts", size_b, parts, needed)
        shutil.copytree(scratch / "parts", target)
    return [target / folder.name for folder in folders]


def _pieces(wheel: Path, most_b: int) -> list[tuple[Path, int, int, str]]:
    """Return a wheel as (file, first byte, end, name of the piece): whole, or in as many pieces as it takes."""
    size_b = wheel.stat().st_size
    if size_b <= most_b:
        return [(wheel, 0, size_b, wheel.name)]
    starts = range(0, size_b, most_b)
    return [
        (wheel, start, min(start + most_b, size_b), f"{wheel.name}.{number:03}of{len(starts):03}")
        for number, start in enumerate(starts, 1)
    ]


def _builder(folder: Path) -> Path:
    """Return an interpreter with the locked tools that build packages, in a new environment."""
    steps: list[list[str | Path]] = [
        ["venv", folder],
        ["pip", "sync", "--require-hashes", "--python", folder, BUILD_LOCK],
    ]
    for step in steps:
        done = subprocess.run(
            [uv_program(), *step, "--quiet"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **UV_ENVIRONMENT},
        )
        if done.returncode:
            raise FramewattError(
                f"wheels: uv {step[0]} failed: {_last(done.stderr)}. See whether the package index can be reached."
            )
    return folder / "bin" / "python"


def _pip(
    python: str | Path, verb: str, wanted: Mapping[str, str], folder: Path, words: list[str]
) -> "subprocess.CompletedProcess[str]":
    lock = folder.parent / "requirements.txt"
    lock.write_text("".join(f"{line}\n" for line in wanted.values()))
    target = "--dest" if verb == "download" else "--wheel-dir"
    command = [str(python), "-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-deps"]
    return subprocess.run(
        [*command, "--require-hashes", *words, target, str(folder), "--requirement", str(lock)],
        capture_output=True,
        text=True,
        check=False,
    )


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.startswith("ERROR")] or text.strip().splitlines()
    return lines[-1] if lines else "no output"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _package(wheel: Path) -> str:
    return _plain(wheel.name.partition("-")[0])
