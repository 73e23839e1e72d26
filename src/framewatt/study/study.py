"""A validated study: it measures its runs, reads them from logs, or takes them from packages.

`Study` is what all three kinds have in common. What makes them of a study file is in study.study_file (a study that
measures), imports.file_study and imports.merged_study.
"""

import functools
import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Never, Protocol

from framewatt.base.errors import FramewattError
from framewatt.study.cell import Cell
from framewatt.study.factors import AnyCell, PlainCell, natural
from framewatt.study.own_models import OwnModel, own_models
from framewatt.study.records import Plan
from framewatt.study.stopping_rule import most_blocks

FILES, PACKAGES = "files", "packages"
"""Values of the key `source` in a study of logs, and in one of packages. PACKAGES is also the key that names these."""

MACHINE = "machine"
"""The factor that a study of packages has in addition to those of the measured study."""

EPOCHS = "epochs"
"""The reader of logs that hold the epochs of a training."""


class AnyRun(Protocol):
    """A planned run: one cell in one block."""

    @property
    def cell(self) -> AnyCell:
        """The cell."""

    @property
    def repetition(self) -> int:
        """Its number in the cell, counted from 1."""


class Study(Protocol):
    """A validated study."""

    @property
    def path(self) -> Path:
        """The study file."""

    @property
    def settings(self) -> dict[str, Any]:
        """The content of the study file, with defaults filled in."""

    @property
    def name(self) -> str:
        """Name of the study and of its results folder."""

    @property
    def device(self) -> str:
        """`cpu` or `cuda`; empty where logs do not say it."""

    @property
    def measures(self) -> bool:
        """Whether framewatt measures its runs on this machine, or on the nodes of a cluster."""

    @property
    def has_machines(self) -> bool:
        """Whether several machines measured it, so that the machine is a factor of its cells."""

    @property
    def cells(self) -> tuple[AnyCell, ...]:
        """Every cell."""

    @property
    def measured_cells(self) -> tuple[Cell, ...]:
        """The cells that are measured here; none of a study of logs or packages."""

    @property
    def cells_without_runs(self) -> tuple[AnyCell, ...]:
        """Cells without runs, since the study leaves out all of them."""

    @property
    def excluded(self) -> tuple[AnyCell, ...]:
        """Cells that the study excludes."""

    @property
    def unsupported(self) -> tuple[tuple[AnyCell, str], ...]:
        """Cells that cannot run, with the reason."""

    @property
    def own(self) -> Mapping[str, OwnModel]:
        """The user's own models, by name."""

    @property
    def trains(self) -> bool:
        """Whether it has runs that train; of logs, whether they hold epochs."""

    @property
    def may_infer(self) -> bool:
        """Whether it may have runs of inference; logs show it only when they are read."""

    def runs(self) -> Sequence[AnyRun]:
        """Return every run, in order."""

    def source_files(self) -> list[Path]:
        """Return the files that its plan and its runs are read from; none of a study that measures."""

    def packaged_logs(self) -> dict[str, Path]:
        """Return the logs that a package may contain, by their names in it; none of a study without logs."""


@dataclass(frozen=True)
class Run:
    """One cell in one block. `position` counts all runs of the study from 1, in measured order."""

    cell: Cell
    repetition: int
    position: int


@dataclass(frozen=True)
class MeasuredStudy:
    """A study that measures its runs, on a machine.

    Attributes:
        path: the study file.
        settings: its content, with defaults filled in.
        device: `cpu` or `cuda`.
        processors: how many a process may use there.
        cells: those that can run.
        excluded: those that the study excludes.
        unsupported: those that cannot run, with the reason.
        absent: what the host's interpreter lacks, and some cells need, with the reason; empty in any other environment.
    """

    path: Path
    settings: dict[str, Any]
    device: str
    processors: int
    cells: tuple[Cell, ...]
    excluded: tuple[Cell, ...]
    unsupported: tuple[tuple[Cell, str], ...]
    absent: Mapping[str, str] = field(default_factory=dict)

    measures = True
    has_machines = False
    cells_without_runs = ()

    @property
    def name(self) -> str:
        """Name of the study and of its results folder."""
        return str(self.settings["study"])

    @property
    def threads(self) -> int:
        """Threads that a framework may use: the study's number, or every processor that a process may use."""
        return threads_of(self.settings, self.processors)

    @property
    def measured_cells(self) -> tuple[Cell, ...]:
        """The cells that are measured here: all of them."""
        return self.cells

    @property
    def own(self) -> dict[str, OwnModel]:
        """The user's own models, by name."""
        return own_models(self.path, self.settings)

    @property
    def trains(self) -> bool:
        """Whether some cell trains."""
        return _has_phase(self.cells, "train")

    @property
    def may_infer(self) -> bool:
        """Whether some cell is of inference."""
        return _has_phase(self.cells, "infer")

    def source_files(self) -> list[Path]:
        """Return the files that its runs are read from: none."""
        return []

    def packaged_logs(self) -> dict[str, Path]:
        """Return the logs that a package may contain: none."""
        return {}

    def runs(self) -> list[Run]:
        """Return every possible run, in measured order: blocks one after the other, cells shuffled inside each.

        A block's shuffle is seeded by the study's seed and the block's number alone, so that adding a
        repetition leaves the order of earlier blocks as it was.
        """
        ordered: list[tuple[Cell, int]] = []
        for repetition in range(1, most_blocks(self.settings) + 1):
            digest = hashlib.sha256(f"{self.settings['seed']}/{repetition}".encode()).digest()
            block = list(self.cells)
            random.Random(digest).shuffle(block)  # noqa: S311  # an order, not a secret
            ordered += [(cell, repetition) for cell in block]
        return [Run(cell, repetition, position) for position, (cell, repetition) in enumerate(ordered, 1)]

    def cell(self, cell_id: str) -> Cell:
        """Return the cell of that name.

        Raises:
            KeyError: no such cell.
        """
        return self._by_id[cell_id]

    @functools.cached_property
    def _by_id(self) -> dict[str, Cell]:
        return {cell.id: cell for cell in self.cells}


def threads_of(settings: Mapping[str, Any], processors: int) -> int:
    """Return the threads that a framework may use, by a study's settings, where a process may use `processors`."""
    return processors if settings["threads"] == "auto" else int(settings["threads"])


def _has_phase(cells: Sequence[AnyCell], phase: str) -> bool:
    return any(cell.to_dict()["phase"] == phase for cell in cells)


@dataclass(frozen=True)
class SourceFile:
    """An existing log of a run.

    Attributes:
        path: below the root, with forward slashes.
        log: index of its kind in the study's `files.logs`.
    """

    path: str
    log: int


@dataclass(frozen=True)
class FileRun:
    """A run in logs.

    Attributes:
        cell: the cell.
        repetition: its number in the cell, from 1.
        files: the existing files.
        missing: paths of files that should exist.
    """

    cell: PlainCell
    repetition: int
    files: tuple[SourceFile, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class LeftOut:
    """A run that the study leaves out.

    Attributes:
        run: with its existing files.
        reason: from the study; where several rules apply, all of theirs.
    """

    run: FileRun
    reason: str


@dataclass(frozen=True)
class FileStudy:
    """A study that reads its runs from logs of other tools (`source: files`).

    Attributes:
        path: the study file.
        settings: its content, with defaults filled in.
        root: the folder of the logs; None where it is not available, as next to an unpacked package.
        available: its runs, cell by cell; empty where `root` is None or has no such file.
        left_out: runs that the study leaves out, which are not in `available`.
    """

    path: Path
    settings: dict[str, Any]
    root: Path | None
    available: tuple[FileRun, ...]
    left_out: tuple[LeftOut, ...] = ()

    measures = False
    has_machines = False
    may_infer = True
    device: str = ""
    excluded = ()
    unsupported = ()

    @property
    def name(self) -> str:
        """Name of the study and of its results folder."""
        return str(self.settings["study"])

    @property
    def cells(self) -> tuple[PlainCell, ...]:
        """Every cell, in order of its levels, including cells without runs."""
        runs = [*self.available, *(left_out.run for left_out in self.left_out)]
        cells = {run.cell.id: run.cell for run in runs}.values()
        return tuple(sorted(cells, key=lambda cell: [natural(level) for _, level in cell.levels]))

    @property
    def cells_without_runs(self) -> tuple[PlainCell, ...]:
        """The cells without runs, since the study leaves out all of them."""
        with_runs = {run.cell.id for run in self.available}
        return tuple(cell for cell in self.cells if cell.id not in with_runs)

    @property
    def measured_cells(self) -> tuple[Never, ...]:
        """The cells that are measured here: none."""
        return ()

    @property
    def own(self) -> dict[str, OwnModel]:
        """The user's own models: none."""
        return {}

    @property
    def trains(self) -> bool:
        """Whether some kind of log holds epochs."""
        return any(log["reader"] == EPOCHS for log in self.settings["files"]["logs"])

    def runs(self) -> list[FileRun]:
        """Return every run, repetition by repetition.

        Raises:
            FramewattError: the files are not available.
        """
        if self.root is None:
            raise self.root_error(None)
        if not self.available:
            raise FramewattError(
                f"{self.path}: files.logs: no file below {self.root} matches a pattern. Correct files.root or the "
                "patterns."
            )
        return sorted(self.available, key=lambda run: run.repetition)

    def source_files(self) -> list[Path]:
        """Return the files that its runs are read from."""
        return [self.root / file.path for run in self.available for file in run.files] if self.root else []

    def packaged_logs(self) -> dict[str, Path]:
        """Return the logs that a package may contain, by their names in it; none unless the study allows it.

        Logs of runs that the study leaves out are included, so that readers can judge that choice.
        """
        if self.root is None or self.settings["files"]["archive"] != FILES:
            return {}
        runs = [*self.available, *(left_out.run for left_out in self.left_out)]
        paths = {file.path for run in runs for file in run.files}
        return {f"logs/{self.name}/{path}": self.root / path for path in sorted(paths)}

    def root_error(self, root: Path | None) -> FramewattError:
        """Return the error for a study without the folder of its logs.

        Args:
            root: what was named as the folder; None where nothing was.
        """
        wrong = "no folder of logs is named" if root is None else f"{str(root)!r} is not a folder"
        key = self.settings["files"]["root_config"]
        how = f"--config {key}=<folder>" if key else "files.root in the study file"
        return FramewattError(f"{self.path}: files.root: {wrong}. Name it with {how}.")


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
    plan: Plan
    blocks: int

    @property
    def results(self) -> Path:
        """Results of the study on that machine."""
        return self.folder / "data" / "results" / str(self.plan["study"])

    @property
    def order(self) -> list[Mapping[str, Any]]:
        """The runs that it measured, in order."""
        return [entry for entry in self.plan["order"] if entry["repetition"] <= self.blocks]

    def cell(self, planned: Mapping[str, Any]) -> PlainCell:
        """Return a cell of its plan, or of one of its runs, as a cell on this machine.

        Args:
            planned: the levels of all factors, and the name as `id`.
        """
        levels = tuple((name, level) for name, level in planned.items() if name != "id")
        return PlainCell(cell_on(str(planned["id"]), self.machine), (*levels, (MACHINE, self.machine)))

    def record_path(self, cell: str, repetition: int) -> Path:
        """Return the path of the record of a run, by the names that the package has."""
        return self.results / "measure" / cell / str(repetition) / "run.json"


def cell_on(name: str, machine: str) -> str:
    """Return the name of a cell on a machine."""
    return f"{name}-{machine}"


@dataclass(frozen=True)
class MergedRun:
    """A run of one machine, as a run of the merged study.

    Attributes:
        source: the package of the machine.
        cell: its cell on that machine.
        of: the cell's name in the plan there.
        at: its repetition there.
        repetition: the same, after the blocks of the machines before: a block is on one machine, and no run is compared
            with a run of another machine's block.
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
    """One study that several machines measured, joined by `make merge` (`source: packages`).

    Every package stays as it is, as a bag in a folder of its machine below the results. Its runs are read from there;
    the machine is a factor of their cells.

    Attributes:
        path: the study file.
        settings: those of the study that the machines measured, with what the study file of the merged study adds.
        sources: the packages, by machine.
    """

    path: Path
    settings: dict[str, Any]
    sources: tuple[Source, ...]

    measures = False
    has_machines = True
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
        """Cells that could not be measured on any machine, with the reason."""
        plan = self.sources[0].plan
        return tuple((PlainCell(str(entry["cell"]), ()), str(entry["reason"])) for entry in plan["unsupported"])

    @property
    def measured_cells(self) -> tuple[Never, ...]:
        """The cells that are measured here: none."""
        return ()

    @property
    def own(self) -> dict[str, OwnModel]:
        """The user's own models: none here; the packages have their hashes."""
        return {}

    @property
    def trains(self) -> bool:
        """Whether some cell trains."""
        return _has_phase(self.cells, "train")

    @property
    def may_infer(self) -> bool:
        """Whether some cell is of inference."""
        return _has_phase(self.cells, "infer")

    def runs(self) -> list[MergedRun]:
        """Return every run, machine by machine, in the order of its plan."""
        return list(self._runs)

    @functools.cached_property
    def _runs(self) -> tuple[MergedRun, ...]:
        runs: list[MergedRun] = []
        before = 0
        for source in self.sources:
            cells = {str(cell["id"]): source.cell(cell) for cell in source.plan["cells"]}
            for entry in source.order:
                name, at = str(entry["cell"]), int(entry["repetition"])
                job = entry.get("job_sha256")
                runs.append(MergedRun(source, cells[name], name, at, before + at, len(runs) + 1, job))
            before += source.blocks
        return tuple(runs)

    def source_files(self) -> list[Path]:
        """Return the files that its plan is made of."""
        return [source.results / "plan" / "plan.json" for source in self.sources]

    def packaged_logs(self) -> dict[str, Path]:
        """Return the logs that a package may contain: none."""
        return {}
