"""A study whose runs are read from other tools' files (`source: files`) instead of measured."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

from framewatt.base.errors import FramewattError
from framewatt.base.validation import validate
from framewatt.imports.collect import FileRun, collect
from framewatt.imports.contract import Options
from framewatt.imports.leaving_out import LeftOut, leave_out
from framewatt.study.as_begun import without_unset
from framewatt.study.factors import RESERVED, PlainCell, natural
from framewatt.study.statistical_tests import WELCH
from framewatt.tasks import METRICS

FILES = "files"
"""Value of `source` in such a study."""

_KEYS = (
    "study",
    "title",
    "description",
    "replicates",
    "source",
    "files",
    "seed",
    "accept_unavailable",
    "statistics",
    "archive",
)
"""Keys that such a study may have: none about measuring."""


@dataclass(frozen=True)
class FileStudy:
    """A validated study of files.

    Attributes:
        path: the study file.
        settings: its content, with defaults filled in.
        root: the folder of the files; None where it is not available, as beside an unpacked package.
        found: its runs, cell by cell; empty where `root` is None or holds no such file.
        left_out: runs that the study leaves out, which are not in `found`.
    """

    path: Path
    settings: dict[str, Any]
    root: Path | None
    found: tuple[FileRun, ...]
    left_out: tuple[LeftOut, ...] = ()

    imported = True
    device: str = ""
    excluded = ()
    unsupported = ()

    @property
    def name(self) -> str:
        """Name of the study and of its results folder."""
        return str(self.settings["study"])

    @property
    def cells(self) -> tuple[PlainCell, ...]:
        """Every configuration, in order of its levels, also one of which every run is left out."""
        runs = [*self.found, *(one.run for one in self.left_out)]
        cells = {run.cell.id: run.cell for run in runs}.values()
        return tuple(sorted(cells, key=lambda cell: [natural(level) for _, level in cell.levels]))

    @property
    def cells_without_runs(self) -> tuple[PlainCell, ...]:
        """The configurations of which every run is left out."""
        kept = {run.cell.id for run in self.found}
        return tuple(cell for cell in self.cells if cell.id not in kept)

    @property
    def measured_cells(self) -> tuple[Never, ...]:
        """The cells that are measured here: none."""
        return ()

    def runs(self) -> list[FileRun]:
        """Every run, repetition by repetition.

        Raises:
            FramewattError: the files are not available.
        """
        if self.root is None:
            raise FramewattError(f"{self.path}: files.root: {_how_to_name(None, self.settings['files'])}")
        if not self.found:
            raise FramewattError(f"{self.path}: files.logs: found no file below {self.root}; allowed: at least one")
        return sorted(self.found, key=lambda run: run.repetition)

    def source_files(self) -> list[Path]:
        """Files that its runs are read from."""
        return [self.root / file.path for run in self.found for file in run.files] if self.root else []

    def options(self, log: int) -> Options:
        """How the files of an entry of `files.logs` are read."""
        entry = self.settings["files"]["logs"][log]
        return Options(
            columns=entry["columns"],
            interval_s=entry["interval_s"],
            domain=entry["domain"],
            measured=tuple(entry["measured"]),
            drop_head=entry["drop_head"],
            drop_tail=entry["drop_tail"],
        )


def is_file_study(content: Mapping[str, Any]) -> bool:
    """Whether the content of a study file says that its runs come from files."""
    return content.get("source") == FILES


def schema_of_files(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the study schema that holds for studies of files.

    Other tools' logs do not say whether runs are in blocks, so runs are independent unless the study says otherwise.
    The compared factors have no default.
    """
    own = copy.deepcopy(dict(schema))
    own["required"] = ["study", "title", "source", "files", "statistics"]
    own["properties"] = {key: own["properties"][key] for key in _KEYS}
    statistics = own["properties"]["statistics"]
    statistics["required"] = ["compare"]
    statistics["properties"]["test"]["default"] = WELCH
    return own


def load_file_study(
    path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], config: Mapping[str, Any], results: Path
) -> FileStudy:
    """Check a study of files and find its files.

    Args:
        path: the study file.
        content: its content.
        schema: of all study files.
        config: the configuration, which may name the root.
        results: the folder of all results; a study that already has results there does not need its files.

    Raises:
        FramewattError: one line that names file, key, found and allowed.
    """
    settings = validate(content, schema_of_files(schema), str(path))
    settings["statistics"] = without_unset(settings["statistics"])
    root = _root(path, settings["files"], config)
    if root is None or not root.is_dir():
        if (results / settings["study"] / "plan" / "plan.json").is_file():
            return FileStudy(path, settings, None, ())
        raise FramewattError(f"{path}: files.root: {_how_to_name(root, settings['files'])}")
    every = collect(settings["files"], root, str(path))
    if not every:
        return FileStudy(path, settings, root, ())
    found, left_out = leave_out(every, settings["files"]["leave_out"], str(path))
    factors = every[0].cell.to_dict()
    if taken := sorted(set(factors) & (RESERVED | METRICS.keys())):
        raise FramewattError(f"{path}: files.logs: found a factor {taken[0]}, which is a result; allowed: others")
    for factor in settings["statistics"]["compare"]:
        if factor not in factors:
            raise FramewattError(
                f"{path}: statistics.compare: found {factor!r}; allowed: a factor of the study: {', '.join(factors)}"
            )
    return FileStudy(path, settings, root, tuple(found), tuple(left_out))


def _root(path: Path, files: Mapping[str, Any], config: Mapping[str, Any]) -> Path | None:
    """The folder that the configuration or the study names; None where neither does."""
    if files["root_config"]:
        named = config.get(files["root_config"], "")
        return Path(named) if named else None
    return path.parent / str(files["root"])


def _how_to_name(root: Path | None, files: Mapping[str, Any]) -> str:
    found = "found nothing" if root is None else f"found {str(root)!r}, which is no folder"
    key = files["root_config"]
    return f"{found}; allowed: a folder" + (f", given as --config {key}=<folder>" if key else "")
