"""A study of packages: one study that several machines measured, joined by `make merge` (`source: packages`).

Every package is kept as it is, as a bag in a folder of its machine below the results. Its runs are read from there, in
place; the machine is a factor of their cells.
"""

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of
from framewatt.base.validation import validate
from framewatt.host.machine import machine_of
from framewatt.study.factors import PlainCell

PACKAGES = "packages"
"""Value of `source` in such a study, and the key that names its packages."""

MACHINE = "machine"
"""The factor that it adds to those of the study."""

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


@dataclass(frozen=True)
class Source:
    """The package of one machine.

    Attributes:
        machine: its identity, see host.machine.
        folder: the unpacked bag.
        plan: the study's plan, as it was made there.
        blocks: after how many of the planned blocks that machine stopped.
    """

    machine: str
    folder: Path
    plan: Mapping[str, Any]
    blocks: int

    @property
    def results(self) -> Path:
        """Results of the study on that machine."""
        return self.folder / "data" / "results" / str(self.plan["study"])

    @property
    def order(self) -> list[Mapping[str, Any]]:
        """The runs that it measured, in order."""
        return [entry for entry in self.plan["order"] if entry["repetition"] <= self.blocks]

    def cell(self, told: Mapping[str, Any]) -> PlainCell:
        """A cell of its plan, or of one of its runs, on this machine.

        Args:
            told: the levels of all factors, and the name as `id`.
        """
        levels = tuple((name, level) for name, level in told.items() if name != "id")
        return PlainCell(named(str(told["id"]), self.machine), (*levels, (MACHINE, self.machine)))

    def record_path(self, cell: str, repetition: int) -> Path:
        """Where the record of a run is, by the names that the package has."""
        return self.results / "measure" / cell / str(repetition) / "run.json"


@dataclass(frozen=True)
class MergedRun:
    """A run of one machine in the whole.

    Attributes:
        source: whose it is.
        cell: its cell on that machine.
        of: the cell's name in the plan there.
        at: its repetition there.
        repetition: the same, after the blocks of the machines before: a block is one of a machine, and compares nothing
            with another's.
        position: counts all runs, machine by machine, from 1.
        job_sha256: hash of its job.
    """

    source: Source
    cell: PlainCell
    of: str
    at: int
    repetition: int
    position: int
    job_sha256: str | None

    @property
    def path(self) -> Path:
        """Its record, as the machine wrote it."""
        return self.source.record_path(self.of, self.at)


@dataclass(frozen=True)
class MergedStudy:
    """A validated study of packages.

    Attributes:
        path: the study file.
        settings: those of the study that the machines measured, with what the file says of the whole.
        sources: by machine.
    """

    path: Path
    settings: dict[str, Any]
    sources: tuple[Source, ...]

    imported = True
    excluded = ()
    cells_without_runs = ()

    @property
    def name(self) -> str:
        """Name of the study and of its results folder."""
        return str(self.settings["study"])

    @property
    def device(self) -> str:
        """`cpu` or `cuda`, which all machines measured on."""
        return str(self.sources[0].plan["device"])

    @property
    def cells(self) -> tuple[PlainCell, ...]:
        """Every cell on every machine."""
        return tuple(source.cell(cell) for source in self.sources for cell in source.plan["cells"])

    @property
    def unsupported(self) -> tuple[tuple[PlainCell, str], ...]:
        """What could not be measured on any of them, and why."""
        plan = self.sources[0].plan
        return tuple((PlainCell(str(one["cell"]), ()), str(one["reason"])) for one in plan["unsupported"])

    @property
    def measured_cells(self) -> tuple[Never, ...]:
        """The cells that are measured here: none."""
        return ()

    def runs(self) -> list[MergedRun]:
        """Every run, machine by machine, in the order of its plan."""
        return list(self._runs)

    @functools.cached_property
    def _runs(self) -> tuple[MergedRun, ...]:
        found: list[MergedRun] = []
        before = 0
        for source in self.sources:
            cells = {str(cell["id"]): source.cell(cell) for cell in source.plan["cells"]}
            for entry in source.order:
                name, at = str(entry["cell"]), int(entry["repetition"])
                job = entry.get("job_sha256")
                found.append(MergedRun(source, cells[name], name, at, before + at, len(found) + 1, job))
            before += source.blocks
        return tuple(found)

    def source_files(self) -> list[Path]:
        """Files that its plan is made of."""
        return [source.results / "plan" / "plan.json" for source in self.sources]


def named(name: str, machine: str) -> str:
    """Name of a cell on a machine."""
    return f"{name}-{machine}"


def is_merged(study: object) -> bool:
    """Return whether the runs of a study are in packages of several machines, so that the machine is a factor."""
    return isinstance(study, MergedStudy)


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
    return Source(machine, folder, plan, blocks)


def machines_in(records: Iterable[Mapping[str, Any]]) -> list[str]:
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
