"""The records of a study's runs, checked against its plan: no number comes from a run that was not planned."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import with_drift
from framewatt.imports.merged_study import FOLDER
from framewatt.runs.aside import set_aside
from framewatt.runs.records import StoredRecords, read_run, record_paths
from framewatt.study.cell import MEASURE, is_measured, run_name
from framewatt.study.records import MergedRecord, Plan, RunOfMachine, RunRecord
from framewatt.study.study import MACHINE, PACKAGES


def records_of(plan: Plan, records: str | Iterable[str]) -> Iterator[tuple[Path, RunRecord]]:
    """Run records with their paths; of a merged study, those of its machines as runs of the whole.

    Args:
        plan: the study's.
        records: paths of run records, or of folders that hold them, see record_paths.
    """
    read = Merged(plan).record if plan.get("source") == PACKAGES else read_run
    yield from ((path, read(path)) for path in record_paths(records))


def planned_runs(plan_path: str | Path, records: str | Iterable[str]) -> StoredRecords:
    """The records of a study by their paths, each of a planned run and of the job that was planned for it.

    The levels of a record's cell are taken from the plan: where a study gained an option, every cell has a level of it,
    and earlier runs still count. A plan and records from before jobs had hashes (schema 1) are matched by cell and
    repetition alone. Runs that others disturbed too much do not count, see runs.aside.

    Args:
        plan_path: the study's plan.
        records: paths of run records, or of folders that hold them, see record_paths.

    Raises:
        FramewattError: a record breaks its schema, is of no measurement, of another job, or of no planned run.
    """
    plan = read_json(Path(plan_path))
    return set_aside(_planned(plan, plan_path, records), plan.get("settings", {}))


def _planned(plan: Plan, plan_path: str | Path, records: str | Iterable[str]) -> Iterator[tuple[Path, RunRecord]]:
    planned = {run_name(entry): entry.get("job_sha256") for entry in plan["order"]}
    levels = {cell["id"]: {name: level for name, level in cell.items() if name != "id"} for cell in plan["cells"]}
    for path, record in records_of(plan, records):
        if not is_measured(record):
            raise FramewattError(
                f"{path}: purpose: {record['purpose']!r} is not a measurement. Frames are made from {MEASURE!r} alone."
            )
        name = run_name({"cell": record["cell_id"], "repetition": record["repetition"]})
        if name not in planned:
            raise FramewattError(f"{path}: the run is not planned. Keep only the {len(planned)} runs of {plan_path}.")
        if record.get("job_sha256") != planned[name]:
            raise FramewattError(
                f"{path}: the run is of the job {_short(record.get('job_sha256'))} and not of the plan's, "
                f"{_short(planned[name])}: it was measured under other settings. Measure it again: snakemake --cores 1 "
                f"all --config study={plan['study']}"
            )
        yield path, {**record, "cell": levels[record["cell_id"]]}


def _short(sha256: str | None) -> str:
    return sha256[:12] if sha256 else "unknown"


class Merged:
    """The runs of a merged study, by its plan.

    Args:
        plan: of the whole.
    """

    def __init__(self, plan: Plan) -> None:
        self._study = str(plan["study"])
        cells = {cell["id"]: str(cell[MACHINE]) for cell in plan["cells"]}
        self._entries = {(cells[entry["cell"]], entry["of"], entry["at"]): entry for entry in plan["order"]}

    def record(self, path: Path) -> MergedRecord:
        """A machine's record as one of the whole: cell, block and place are of the whole's plan, all else its own.

        `of` names the run of the machine.

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
            raise FramewattError(f"{where}: the run is not planned. Keep only the {len(self._entries)} planned runs.")
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
    """Return the machine of the package that a path is in.

    Raises:
        FramewattError: it is in no package.
    """
    parts = path.parts
    if FOLDER not in parts[:-1]:
        raise FramewattError(f"{path}: the run belongs to no machine. Move it below {FOLDER}/<machine>/.")
    return parts[parts.index(FOLDER) + 1]


def with_own_drift(records: Mapping[Path, RunRecord]) -> StoredRecords:
    """Return records with the uncertainty of net energies from the drift of idle power of their own machine.

    Args:
        records: by their paths, each in the results of its machine: measure/<cell>/<repetition>/run.json.
    """
    drifts = {folder: _drifts_w(folder) for folder in {path.parents[3] for path in records}}
    return StoredRecords.from_records(
        (path, with_drift(record, drifts[path.parents[3]])) for path, record in records.items()
    )


def _drifts_w(results: Path) -> dict[str, dict[str, float]]:
    idle = [results / "calibrate" / f"{name}.json" for name in ("idle", "idle_after")]
    return drifts_w(read_calibrations(idle)) if all(path.is_file() for path in idle) else {}
