"""What runs name as their environment: the one whose record and lock are in the package."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.cell import Cell
from framewatt.environments import LOCK, lock_sha256
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.study import Study

_IDENTITY = ("name", "mode", "lock_sha256", "image_sha256", "python_version")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;]+)", re.MULTILINE)


def problems(package: Opened) -> Iterator[str]:
    """Where a record names another environment or other versions than the package has records and locks of."""
    study = package.study
    if not isinstance(study, Study):
        return
    environments = {str(one.get("name")): one for one in _records(package)}
    for name, environment in sorted(environments.items()):
        yield from some(_of_lock(package, name, environment), f"environment {name}")
    for run, record in package.records:
        yield from some(_of_run(study, study.cell(run.cell), environments, record), run.where)


def _records(package: Opened) -> Iterator[Mapping[str, Any]]:
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
    pinned = {_plain(one): version for one, version in _PIN.findall(lock.read_text(encoding="utf-8"))}
    packages = environment.get("packages")
    told = {_plain(one): version for one, version in packages.items()} if isinstance(packages, dict) else {}
    both = [one for one in told if one in pinned]
    yield from differences({one: told[one] for one in both}, {one: pinned[one] for one in both}, why="its lock has")


def _of_run(study: Study, cell: Cell, environments: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Where a run was not made in its cell's environment, or with other versions of what computed."""
    name = cell.environment(study.device)
    if name not in environments:
        yield f"the record of the environment {name} is not there"
        return
    told = record["identity"].get("environment") or {}
    found = {key: environments[name].get(key) for key in _IDENTITY}
    yield from differences({key: told.get(key) for key in _IDENTITY}, found, "environment", why="its record has")
    packages = {_plain(one): version for one, version in dict(environments[name].get("packages") or {}).items()}
    for library, version in dict((record["workload"] or {}).get("libraries", {})).items():
        installed = packages.get(_plain(library))
        if installed and str(installed).partition("+")[0] != str(version).partition("+")[0]:
            yield f"workload.libraries: the record says {library} {version}, its environment has {installed}"


def _plain(name: str) -> str:
    """A package's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", str(name)).lower()
