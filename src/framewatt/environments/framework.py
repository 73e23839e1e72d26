"""Framework environments: built from lock files, or the host's own interpreter."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of, sha256_of_files
from framewatt.environments.images import image_sha256, packages_of
from framewatt.environments.node_packages import install_node_packages, node_lock
from framewatt.environments.uv import BUILD_LOCK, PYTHON_VERSION, UV_ENVIRONMENT, uv_program
from framewatt.host.supervision import supervise

LOCK = "requirements.txt"
_BUILD_TIMEOUT_S = 3600
_DESCRIBE = """
import importlib.metadata as m, json, platform
names, versions = set(), {}
for d in m.distributions():
    name = d.metadata["Name"]
    if name:
        names.add((name, d.version))
        for file in d.files or ():
            if file.hash:
                versions.setdefault(str(file), {})[name] = file.hash.value
fought = [[file, sorted(held)] for file, held in sorted(versions.items()) if len(set(held.values())) > 1]
facts = {"python_version": platform.python_version(), "packages": dict(sorted(names)), "fought_over": fought}
print(json.dumps(facts))
"""
_NOT_IMPORTED = {"docs", "examples", "test", "tests"}
"""Top-level folders that careless wheels share and nothing imports."""


def build_locked(name: str, lock: Path, folder: Path, log: Path) -> dict[str, Any]:
    """Build a virtual environment from a lock, every package checked against its hash.

    Args:
        name: the environment's name.
        lock: requirements.txt with hashes.
        folder: where the environment goes; an existing one is replaced.
        log: file for uv's output.

    Returns:
        the environment's record: `name`, `mode`, `status`, `reason`, `python`, `lock_sha256`, `python_version`,
        `packages`. A build that fails is a record with the reason, not an exception.
    """
    record: dict[str, Any] = {"name": name, "mode": "locked", "lock_sha256": lock_sha256(lock)}
    shutil.rmtree(folder, ignore_errors=True)
    try:
        uv = uv_program()
    except FramewattError as error:
        return _failed(record, str(error))
    sync: list[str | Path] = [uv, "pip", "sync", "--quiet", "--require-hashes", "--build-constraints", BUILD_LOCK]
    steps: list[list[str | Path]] = [
        [uv, "venv", "--quiet", "--python", PYTHON_VERSION, folder],
        [*sync, "--compile-bytecode", "--python", folder, lock],
    ]
    for step in steps:
        # uv must not take this process's own environment for the one to build.
        outcome = supervise(step, log=log, timeout_s=_BUILD_TIMEOUT_S, environment=UV_ENVIRONMENT)
        if outcome.reason:
            return _failed(record, f"uv {step[1]}: {outcome.reason}")
    if node_lock(lock.parent):
        reason = install_node_packages(lock.parent, folder / "bin", folder, log)
        if reason:
            return _failed(record, f"npm ci: {reason}")
    return _described(record, folder / "bin" / "python")


def describe_host(name: str, python: str) -> dict[str, Any]:
    """Return the host's interpreter as an environment.

    Args:
        name: the environment that it stands in for.
        python: path or name of the interpreter; empty is this process's own.
    """
    program = shutil.which(python or sys.executable)
    record: dict[str, Any] = {"name": name, "mode": "host", "lock_sha256": None}
    return (
        _described(record, Path(program)) if program else _failed(record, f"no interpreter {python!r} on this machine")
    )


def packages_sha256(environment: Mapping[str, Any]) -> str | None:
    """Hash of the version of Python and of every package of an environment, by its record; None where it has none."""
    if environment.get("status") != "ok":
        return None
    versions = {"python": environment["python_version"], "packages": environment["packages"]}
    return hashlib.sha256(json.dumps(versions, sort_keys=True).encode()).hexdigest()


def describe_image(name: str, image: Path, lock: Path) -> dict[str, Any]:
    """Return a container image as an environment; its rules run inside it, where the interpreter is `python`.

    Args:
        name: the environment's name.
        image: the .sif.
        lock: the requirements.txt that it was built from.
    """
    record = {"name": name, "mode": "container", "lock_sha256": lock_sha256(lock), "image_sha256": image_sha256(image)}
    try:
        packages = packages_of(image, _DESCRIBE)
    except FramewattError as error:
        return _failed(record, str(error))
    return _with_facts(record, "python", packages)


def lock_sha256(lock: Path) -> str:
    """Return the hash of a lock, together with the Node.js lock if there is one next to it."""
    node = node_lock(lock.parent)
    return sha256_of_files([lock, node], lock.parent) if node else sha256_of(lock)


def _failed(record: dict[str, Any], reason: str) -> dict[str, Any]:
    return {**record, "status": "failed", "reason": reason, "python": None, "python_version": None, "packages": {}}


def _described(record: dict[str, Any], python: Path) -> dict[str, Any]:
    answer = subprocess.run([python, "-c", _DESCRIBE], capture_output=True, text=True, check=False)
    if answer.returncode:
        return _failed(record, f"its interpreter does not run: {answer.stderr.strip().splitlines()[-1:]}")
    return _with_facts(record, str(python), json.loads(answer.stdout))


def _with_facts(record: dict[str, Any], python: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the record of an environment that runs, or that it failed, where packages overwrote each other's files.

    Installers write packages side by side and let the last file stay, so such an environment is another one each time
    it is built. A host's interpreter is taken as its owner has it.
    """
    fought = [entry for entry in facts.pop("fought_over", []) if entry[0].split("/")[0] not in _NOT_IMPORTED]
    if fought and record["mode"] != "host":
        file, names = fought[0]
        return _failed(
            record,
            f"{' and '.join(names)} each bring their own {file} (such files: {len(fought)}); keep one of them in "
            "the environment's pyproject.toml and run make lock",
        )
    return {**record, "status": "ok", "reason": None, "python": python, **facts}
