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
"""Keys that such a study may have. Its packages state what was measured, how, and the statistics."""

_DESCRIPTIONS = ("title", "description", "study", "archive", "accept_unavailable")
"""Settings of a study that do not influence what is measured."""

_OF_ONE = {"replicates": None, "operators": False, "profile": None, "parity": False}
"""Settings for results that each package has by itself and the merged study does not have, such as operators."""

_OF_THE_PLAN = ("source", "device", "seed", "cells", "sources")
"""Parts of a plan that the packages of one study have in common, in addition to its settings."""


def is_merged_study(content: Mapping[str, Any]) -> bool:
    """Return whether the content of a study file states that its runs come from packages."""
    return content.get("source") == PACKAGES


def schema_of_packages(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the study schema that applies to studies of packages."""
    properties = {key: schema["properties"][key] for key in _KEYS}
    return {**schema, "required": ["study", "title", "source", PACKAGES], "properties": properties}


def load_merged_study(path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], results: Path) -> MergedStudy:
    """Return a study of packages, checked, with its packages.

    Args:
        path: the study file.
        content: its content.
        schema: of all study files.
        results: the study's results, which hold its packages.

    Raises:
        FramewattError: one line that names the file, the key, its value and what is allowed.
    """
    settings = validate(content, schema_of_packages(schema), str(path))
    sources = tuple(
        _source(path, results / FOLDER / machine, machine, sha256)
        for machine, sha256 in sorted(settings[PACKAGES].items())
    )
    there = sorted(folder.name for folder in (results / FOLDER).iterdir())
    if there != [source.machine for source in sources]:
        raise FramewattError(
            f"{path}: {PACKAGES}: {results / FOLDER} holds other machines: {', '.join(there) or 'none'}. Run make "
            "merge again with all packages."
        )
    first = sources[0]
    for source in sources[1:]:
        if difference := difference_of(first.plan, source.plan):
            raise FramewattError(f"{path}: {PACKAGES}.{source.machine}: {difference}")
    return MergedStudy(path, {**first.plan["settings"], **_OF_ONE, **settings}, sources)


def _source(path: Path, folder: Path, machine: str, sha256: str) -> Source:
    """Return the package in a machine's folder, after a check that it is the one that the study file names."""
    bags = sorted(folder.iterdir()) if folder.is_dir() else []
    if len(bags) != 1:
        raise FramewattError(
            f"{path}: {PACKAGES}.{machine}: {folder} has {len(bags)} folders instead of one package. Run make merge, "
            "which writes it."
        )
    if (actual := bag_sha256(bags[0])) != sha256:
        raise FramewattError(
            f"{path}: {PACKAGES}.{machine}: the package in {folder} has the hash {actual}, not {sha256}. Run make "
            "merge with the package that the study file names."
        )
    return source_in(bags[0], machine)


def bag_sha256(folder: Path) -> str | None:
    """Return the hash of a bag's tag manifest, which covers all of its files; None where it has no such manifest."""
    manifest = folder / "tagmanifest-sha256.txt"
    return sha256_of(manifest) if manifest.is_file() else None


def source_in(folder: Path, machine: str) -> Source:
    """Return the unpacked package of a machine.

    Args:
        folder: the bag.
        machine: name of the machine that the study file gives it.

    Raises:
        FramewattError: it holds no plan of a measured study.
    """
    plans = sorted(folder.glob("data/results/*/plan/plan.json"))
    plan = read_json(plans[0]) if len(plans) == 1 else None
    if isinstance(plan, dict) and plan.get("source") == PACKAGES:
        raise FramewattError(
            f"{folder.name} is a merged package. Merge the packages of all machines, as they were measured, at once."
        )
    if not isinstance(plan, dict) or plan.get("source", "measure") != "measure":
        content = f"source: {plan['source']}" if isinstance(plan, dict) else f"{len(plans)} plans"
        raise FramewattError(f"{folder.name} has {content}. Use the package of one study that a machine measured.")
    stopped = plans[0].parents[1] / "stopping" / "stopping.json"
    blocks = int(read_json(stopped)["blocks"]) if stopped.is_file() else int(plan["repetitions"])
    return Source(machine, folder, cast("Plan", plan), blocks)


def machines_in(records: Iterable[RunRecord]) -> list[str]:
    """Return the names of the machines that some records come from, in order."""
    return sorted({str(machine_of(record["machine"] or {})) for record in records})


def study_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all packages of one study have in common: settings, cells, order, locks and data."""
    settings = {name: value for name, value in plan["settings"].items() if name not in _DESCRIPTIONS}
    # A study may leave the number of threads to the machine; each run records the number.
    order = [(entry["cell"], entry["repetition"]) for entry in plan["order"]]
    return {**{name: plan.get(name) for name in _OF_THE_PLAN}, "settings": settings, "order": order}


def study_sha256(plan: Mapping[str, Any]) -> str:
    """Return the hash of a study, see study_of."""
    return hashlib.sha256(json.dumps(study_of(plan), sort_keys=True).encode()).hexdigest()


def difference_of(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Return a sentence on how the studies of two plans differ; None where they are one study."""
    if study_sha256(one) == study_sha256(other):
        return None
    key, first, second = next(_unequal("", study_of(one), study_of(other)))
    return (
        f"this is another study ({study_sha256(other)[:12]} instead of {study_sha256(one)[:12]}): {key} is "
        f"{_short(second)} instead of {_short(first)}. Use packages of one study, measured under the same settings, "
        "locks and data."
    )


def _unequal(key: str, one: Any, other: Any) -> Any:
    """Yield the innermost keys with different values, each with both values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            yield from _unequal(f"{key}.{name}" if key else str(name), one.get(name), other.get(name))
    elif one != other:
        yield key, one, other


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
