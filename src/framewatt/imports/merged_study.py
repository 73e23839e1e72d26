"""The file of a study of packages: one study that several machines measured, joined by `make merge`."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of
from framewatt.base.validation import validate
from framewatt.host.machine import machine_of
from framewatt.study.records import Plan, RunRecord
from framewatt.study.study import PACKAGES, MergedStudy, Source

FOLDER = "machines"
"""Folder of the results that holds the packages: `machines/<machine>/<bag>/`."""

_KEYS = ("study", "title", "description", "source", PACKAGES, "accept_unavailable", "archive")
"""Keys that such a study may have: what was measured and how, and its statistics, are its packages' own."""

_TOLD = ("title", "description", "study", "archive", "accept_unavailable")
"""Settings of a study that nothing measured depends on."""

_OF_ONE = {"replicates": None, "operators": False, "profile": None, "parity": False}
"""Settings that ask for what each package has by itself, and the whole has not: where time and joules go, say."""

_OF_THE_PLAN = ("source", "device", "seed", "cells", "sources")
"""Parts of a plan that the packages of one study have in common, beside its settings."""


def is_merged_study(content: Mapping[str, Any]) -> bool:
    """Whether the content of a study file says that its runs come from packages."""
    return content.get("source") == PACKAGES


def schema_of_packages(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the study schema that holds for studies of packages."""
    properties = {key: schema["properties"][key] for key in _KEYS}
    return {**schema, "required": ["study", "title", "source", PACKAGES], "properties": properties}


def load_merged_study(path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], results: Path) -> MergedStudy:
    """Check a study of packages and find them.

    Args:
        path: the study file.
        content: its content.
        schema: of all study files.
        results: the study's results, which hold its packages.

    Raises:
        FramewattError: one line that names file, key, found and allowed.
    """
    told = validate(content, schema_of_packages(schema), str(path))
    sources = tuple(
        _source(path, results / FOLDER / machine, machine, sha256) for machine, sha256 in sorted(told[PACKAGES].items())
    )
    there = sorted(folder.name for folder in (results / FOLDER).iterdir())
    if there != [source.machine for source in sources]:
        raise FramewattError(
            f"{path}: {PACKAGES}: found others in {results / FOLDER}: {', '.join(there)}; allowed: these"
        )
    first = sources[0]
    for source in sources[1:]:
        if difference := difference_of(first.plan, source.plan):
            raise FramewattError(f"{path}: {PACKAGES}.{source.machine}: {difference}")
    return MergedStudy(path, {**first.plan["settings"], **_OF_ONE, **told}, sources)


def _source(path: Path, folder: Path, machine: str, sha256: str) -> Source:
    """The package in a machine's folder, which is the one that the study file names."""
    bags = sorted(folder.iterdir()) if folder.is_dir() else []
    if len(bags) != 1:
        raise FramewattError(
            f"{path}: {PACKAGES}.{machine}: found {len(bags)} folders in {folder}; allowed: one package, which make "
            "merge puts there"
        )
    if (found := bag_sha256(bags[0])) != sha256:
        raise FramewattError(f"{path}: {PACKAGES}.{machine}: found the package {found} in {folder}; allowed: {sha256}")
    return source_in(bags[0], machine)


def bag_sha256(folder: Path) -> str | None:
    """Hash of a bag: of the manifest of its manifests, which holds all of its files; None where it has none."""
    manifest = folder / "tagmanifest-sha256.txt"
    return sha256_of(manifest) if manifest.is_file() else None


def source_in(folder: Path, machine: str) -> Source:
    """The package of a machine, unpacked.

    Args:
        folder: the bag.
        machine: whose it is said to be.

    Raises:
        FramewattError: it holds no plan of a measured study.
    """
    plans = sorted(folder.glob("data/results/*/plan/plan.json"))
    plan = read_json(plans[0]) if len(plans) == 1 else None
    if isinstance(plan, dict) and plan.get("source") == PACKAGES:
        raise FramewattError(
            f"{folder.name}: found a merged package; allowed: packages that machines measured; mend: merge those of "
            "all machines at once"
        )
    if not isinstance(plan, dict) or plan.get("source", "measure") != "measure":
        told = f"source: {plan['source']}" if isinstance(plan, dict) else f"{len(plans)} plans"
        raise FramewattError(f"{folder.name}: found {told}; allowed: the package of one study that a machine measured")
    stopped = plans[0].parents[1] / "stopping" / "stopping.json"
    blocks = int(read_json(stopped)["blocks"]) if stopped.is_file() else int(plan["repetitions"])
    return Source(machine, folder, cast("Plan", plan), blocks)


def machines_in(records: Iterable[RunRecord]) -> list[str]:
    """The machines that some records are of."""
    return sorted({str(machine_of(record["machine"] or {})) for record in records})


def study_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What packages of one study have in common, whichever machine measured it: settings, cells, order, locks, data."""
    settings = {name: value for name, value in plan["settings"].items() if name not in _TOLD}
    # The number of threads that a study leaves to the machine is told with every run.
    order = [(entry["cell"], entry["repetition"]) for entry in plan["order"]]
    return {**{name: plan.get(name) for name in _OF_THE_PLAN}, "settings": settings, "order": order}


def study_sha256(plan: Mapping[str, Any]) -> str:
    """Hash of a study, see study_of."""
    return hashlib.sha256(json.dumps(study_of(plan), sort_keys=True).encode()).hexdigest()


def difference_of(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Where two plans are of different studies, in words; None where they are of one."""
    if study_sha256(one) == study_sha256(other):
        return None
    key, first, second = next(_unequal("", study_of(one), study_of(other)))
    return (
        f"found another study ({study_sha256(other)[:12]} beside {study_sha256(one)[:12]}): {key} is {_short(second)} "
        f"beside {_short(first)}; allowed: one study, measured under the same settings, locks and data"
    )


def _unequal(key: str, one: Any, other: Any) -> Any:
    """Keys whose values differ, the innermost ones, with both values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            yield from _unequal(f"{key}.{name}" if key else str(name), one.get(name), other.get(name))
    elif one != other:
        yield key, one, other


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
