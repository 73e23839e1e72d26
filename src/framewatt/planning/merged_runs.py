"""Records of a merged study: those that the machines wrote, as runs of the whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import with_drift
from framewatt.imports.merged_study import FOLDER
from framewatt.runs.records import HeldRecords, read_run
from framewatt.study.records import MergedRecord, RunOfMachine, RunRecord
from framewatt.study.study import MACHINE


class Merged:
    """The runs of a merged study, by its plan.

    Args:
        plan: of the whole.
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._study = str(plan["study"])
        cells = {cell["id"]: str(cell[MACHINE]) for cell in plan["cells"]}
        self._entries = {(cells[entry["cell"]], entry["of"], entry["at"]): entry for entry in plan["order"]}

    def record(self, path: Path) -> MergedRecord:
        """A machine's record as one of the whole: cell, block and place are of the whole's plan, all else its own.

        `of` says which run of the machine it is.

        Args:
            path: below `machines/<machine>/`.

        Raises:
            FramewattError: it breaks its schema, or is not planned.
        """
        return self.as_one(read_run(path), machine_of_path(path))

    def as_one(self, record: RunRecord, machine: str) -> MergedRecord:
        """The same, of a record that has been read."""
        of: RunOfMachine = {"machine": machine, "cell": record["cell_id"], "repetition": record["repetition"]}
        entry = self._entries.get((machine, of["cell"], of["repetition"]))
        if entry is None:
            where = f"{of['cell']}, repetition {of['repetition']} of {machine}"
            raise FramewattError(f"{where}: found a run that is not planned; allowed: the {len(self._entries)} planned")
        return {
            **record,
            "study": self._study,
            "cell_id": entry["cell"],
            "repetition": entry["repetition"],
            "block": entry["repetition"],
            "position": entry["position"],
            "of": of,
        }


def machine_of_path(path: Path) -> str:
    """The machine whose package a path lies in.

    Raises:
        FramewattError: it lies in none.
    """
    parts = path.parts
    if FOLDER not in parts[:-1]:
        raise FramewattError(f"{path}: found a run of no machine; allowed: below {FOLDER}/<machine>/")
    return parts[parts.index(FOLDER) + 1]


def with_own_drift(records: Mapping[Path, RunRecord]) -> HeldRecords:
    """Records whose net energies get the uncertainty of the drift of idle power of their own machine.

    Args:
        records: by their paths, each in the results of its machine: measure/<cell>/<repetition>/run.json.
    """
    drifts = {folder: _drifts_w(folder) for folder in {path.parents[3] for path in records}}
    return HeldRecords.of((path, with_drift(record, drifts[path.parents[3]])) for path, record in records.items())


def _drifts_w(results: Path) -> dict[str, dict[str, float]]:
    idle = [results / "calibrate" / f"{name}.json" for name in ("idle", "idle_after")]
    return drifts_w(read_calibrations(idle)) if all(path.is_file() for path in idle) else {}
