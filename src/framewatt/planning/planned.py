"""The records of a study's runs, checked against its plan: no number comes from a run that was not planned."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.planning.merged_runs import Merged
from framewatt.runs.aside import set_aside
from framewatt.runs.records import HeldRecords, read_run, record_paths
from framewatt.study.cell import MEASURE, is_measured, run_name
from framewatt.study.records import RunRecord
from framewatt.study.study import PACKAGES


def records_of(plan: Mapping[str, Any], records: str | Iterable[str]) -> Iterator[tuple[Path, RunRecord]]:
    """Run records with their paths; of a merged study, those of its machines as runs of the whole.

    Args:
        plan: the study's.
        records: paths of run records, or of folders that hold them, see record_paths.
    """
    read = Merged(plan).record if plan.get("source") == PACKAGES else read_run
    yield from ((path, read(path)) for path in record_paths(records))


def planned_runs(plan_path: str | Path, records: str | Iterable[str]) -> HeldRecords:
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


def _planned(
    plan: Mapping[str, Any], plan_path: str | Path, records: str | Iterable[str]
) -> Iterator[tuple[Path, RunRecord]]:
    planned = {run_name(entry): entry.get("job_sha256") for entry in plan["order"]}
    levels = {cell["id"]: {name: level for name, level in cell.items() if name != "id"} for cell in plan["cells"]}
    for path, record in records_of(plan, records):
        if not is_measured(record):
            raise FramewattError(f"{path}: purpose: found {record['purpose']!r}; allowed in a frame: {MEASURE!r}")
        name = run_name({"cell": record["cell_id"], "repetition": record["repetition"]})
        if name not in planned:
            raise FramewattError(f"{path}: found a run that is not planned; allowed: the {len(planned)} of {plan_path}")
        if record.get("job_sha256") != planned[name]:
            raise FramewattError(
                f"{path}: found a run of the job {_short(record.get('job_sha256'))}; allowed: the plan's, "
                f"{_short(planned[name])}; it was measured under other settings, and "
                f"snakemake --cores 1 all --config study={plan['study']} measures it again"
            )
        yield path, {**record, "cell": levels[record["cell_id"]]}


def _short(sha256: str | None) -> str:
    return sha256[:12] if sha256 else "unknown"
