"""Check stages, records, windows and rests, and how the study ended, against plan and settings of the study file."""

import itertools
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from framewatt.base.errors import FramewattError
from framewatt.base.spreadsheet import to_csv
from framewatt.environments.framework import LOCK, lock_sha256
from framewatt.host.machine import session_of
from framewatt.package.verification.code import records_of
from framewatt.package.verification.opened import Opened, RunFolder, mapping_in
from framewatt.package.verification.order import as_planned
from framewatt.package.verification.outcome import is_open
from framewatt.package.verification.reading import differences, some
from framewatt.package.verification.samples import data_of
from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.jobs import measure_job
from framewatt.planning.missing import missing_of
from framewatt.planning.placement import calibration_of
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.batches import AHEAD_GB, PASSES, always_ahead, choose_mode
from framewatt.runs.conditions import RECORDED_SINCE, requested
from framewatt.runs.profiling import RECORD as PROFILE_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.runs.verdict import FAILED, OK
from framewatt.stopping.history import NAME as CHANGES
from framewatt.stopping.history import changes_of, sentences
from framewatt.stopping.record import frame_of, record_of
from framewatt.study.cell import FIXED, Cell, run_name
from framewatt.study.options import COLD, REMOVED, Level
from framewatt.study.records import Plan
from framewatt.study.study import FILES, FileRun, FileStudy, MeasuredStudy
from framewatt.study.wordings import meaning_of


def plan_problems(package: Opened) -> Iterator[str]:
    """Yield how plan.json differs from the plan of the study file."""
    where = f"results/{package.name}/plan/plan.json"
    if package.study.name != package.name:
        yield f"{where}: the study file is that of {package.study.name}, the results are those of {package.name}"
    stored = dict(package.stored_plan)
    yield from some(differences(stored, package.plan, by="the plan states", why="the study file gives"), where)


def stage_problems(package: Opened) -> Iterator[str]:
    """Yield the weights, exports, checks and idle power of other settings, and the hashes of other locks."""
    hashes = package.planned
    if not isinstance(hashes, JobHashes) or "sources" not in package.stored_plan:
        return
    for name, about in hashes.sources.environments.items():
        lock = package.data / "envs" / name / LOCK
        if about.get("mode") != "host" and lock.is_file():
            stated, expected = {"lock_sha256": about.get("lock_sha256")}, {"lock_sha256": lock_sha256(lock)}
            where = f"plan.json: sources.environments.{name}"
            yield from some(differences(stated, expected, by="it states", why=f"envs/{name} gives"), where)
    for place, wanted in records_of_stages(hashes).items():
        path = package.results / place
        stored = mapping_in(path).get("job_sha256") if path.is_file() else None
        if stored != wanted:
            yield f"{place}: made under other settings than the study file's, or not there"


def records_of_stages(hashes: JobHashes) -> dict[str, str]:
    """Return the hash of the job of every record except the runs', by its place in the results."""
    records = {f"{calibration_of(Path(), node)}/idle.json": sha256 for node, sha256 in hashes.idle.items()}
    records |= {f"train/{name}/{TRAIN_RECORD}": sha256 for name, sha256 in hashes.weights.items()}
    records |= {f"export/{name}/check/{CHECK_RECORD}": sha256 for name, sha256 in hashes.checks.items()}
    records |= {f"parity/{name}/sheet/{PARITY_RECORD}": sha256 for name, sha256 in hashes.parity.items()}
    records |= {f"profiled/{name}/{PROFILE_RECORD}": sha256 for name, sha256 in hashes.profiles.items()}
    records |= {f"timelines/{name}/{TIMELINE_RECORD}": sha256 for name, sha256 in hashes.timelines.items()}
    records |= {f"repeated/{name}/{REPEATED_RECORD}": sha256 for name, sha256 in hashes.repeated.items()}
    return records | {f"export/{name}/onnx/export.json": sha256 for name, sha256 in hashes.exports.items()}


_SINCE_PURPOSES = 4
"""First schema version with the purpose of the run in its records."""

_OF_THE_JOB = ("study", "cell_id", "cell", "repetition", "device", "threads")


def head_problems(package: Opened) -> Iterator[str]:
    """Yield the records of other runs than the planned ones, or of runs under other settings."""
    study = package.study
    heads: _Heads = iter(())
    if isinstance(study, MeasuredStudy):
        heads = _measured(package, study)
    elif isinstance(study, FileStudy):
        heads = _imported(package, study)
    for run, record, expected in heads:
        stated = {name: record.get(name) for name in expected}
        yield from some(differences(stated, expected, why="the plan gives"), run.where)


_Heads = Iterator[tuple[RunFolder, Mapping[str, Any], dict[str, Any]]]


def _measured(package: Opened, study: MeasuredStudy) -> _Heads:
    """Yield every record with its expected head, from the job that the study file gives for the run."""
    entries = {(entry["cell"], entry["repetition"]): entry for entry in package.plan["order"]}
    # If cells joined the study or left it, or a run was repeated, earlier runs had other places.
    in_order = as_planned(package)
    for run, record in package.records:
        job = jobs.measure_job(study, study.cell(run.cell), run.repetition, record["attempt"])
        expected = {name: job[name] for name in _OF_THE_JOB}
        # The study may have named an option only after the run, which then had the default level.
        since = {name for name in job["cell"] if name not in record["cell"] and name not in FIXED}
        expected["cell"] = {name: level for name, level in job["cell"].items() if name not in since}
        entry = entries[run.cell, run.repetition]
        expected |= {"block": run.repetition, "job_sha256": entry.get("job_sha256"), "node": entry.get("node")}
        expected["position"] = entry["position"] if in_order else record["position"]
        expected |= {"source": None if record.get("source") is None else "measured"}
        expected |= {} if record["schema_version"] < _SINCE_PURPOSES else {"purpose": job["purpose"]}
        yield run, record, expected


def _imported(package: Opened, study: FileStudy) -> _Heads:
    """Yield every record with its expected head, from the names of its files."""
    runs = {(run.cell.id, run.repetition): run for run in study.runs()}
    logs = study.settings["files"]["logs"]
    positions = _places(package, [(run.cell.id, run.repetition) for run in study.runs()])
    for run, record in package.records:
        of_files = runs[run.cell, run.repetition]
        readers = [logs[file.log]["reader"] for file in of_files.files]
        head: dict[str, Any] = {"study": study.name, "cell_id": run.cell, "cell": of_files.cell.to_dict()}
        head |= {"source": FILES, "repetition": run.repetition, "block": run.repetition, "attempt": 1, "machine": {}}
        head |= {"device": None, "threads": None, "meters": list(dict.fromkeys(readers))}
        head |= {"position": positions[run.where], "files": _files(of_files, readers, record)}
        yield run, record, head


def _files(run: FileRun, readers: list[str], record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the files of an imported run with the stated hashes, which another check compares."""
    hashes = {file["path"]: file["sha256"] for file in record.get("files", [])}
    pairs = zip(run.files, readers, strict=True)
    return [{"path": file.path, "sha256": hashes.get(file.path), "reader": reader} for file, reader in pairs]


def _places(package: Opened, order: list[tuple[str, int]]) -> dict[str, int]:
    """Return the places of imported runs: by their clocks if all readable runs have one, else by repetition."""
    runs = {
        (run.cell, run.repetition): (run.where, record["clock"]["utc"], record["status"])
        for run, record in package.records
    }
    in_order = [runs[key] for key in order if key in runs]
    if all(utc for _, utc, status in in_order if status == "ok"):
        in_order.sort(key=lambda entry: entry[1] or "9999")
    return {where: place for place, (where, _, _) in enumerate(in_order, 1)}


RECORD, ROWS = "stopping/stopping.json", "stopping/stopping.csv"


def stopping_problems(package: Opened) -> Iterator[str]:
    """Yield how the record of the stop differs from the runs, and such a record of a study without a rule."""
    yield from _changed(package)
    there = [name for name in (RECORD, ROWS) if (package.results / name).is_file()]
    if isinstance(package.study, FileStudy) or package.stopping_path is None:
        yield from (f"{name}: of a study that has a fixed number of blocks" for name in there)
        return
    path = package.stopping_path
    if not path.stopped:
        yield f"{RECORD}: the records of {len(path.steps)} blocks do not end the study"
        return
    yield from (f"{name}: not there" for name in (RECORD, ROWS) if name not in there)
    if RECORD in there:
        stored = mapping_in(package.results / RECORD)
        yield from some(differences(stored, record_of(path), by="it states", why="the records give"), RECORD)
    if ROWS in there and (package.results / ROWS).read_text(encoding="utf-8") != to_csv(frame_of(path)):
        yield f"{ROWS}: is not what the records give"


def _changed(package: Opened) -> Iterator[str]:
    """Yield the malformed changes of the repetitions, and those that do not lead to the study's repetitions."""
    path = package.results / "plan" / CHANGES
    if not path.is_file():
        return
    try:
        changes = changes_of(package.results)
        # The report has a sentence for each change; this raises for a change of another form.
        sentences(changes)
        last = changes[-1]["to"]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        allowed = "from, to, seen_blocks, kept_runs"
        raise FramewattError(
            f"plan/{CHANGES} is not a list of changes ({allowed}). Use the package as it was written."
        ) from error
    now = package.settings["repetitions"]
    if last != now:
        yield f"plan/{CHANGES}: the last change is to {last}, the study has {now}"


NAME = "report/complete.txt"


def ending_problems(package: Opened) -> Iterator[str]:
    """Yield how complete.txt differs from the records; packages of today have no such file."""
    path = package.results / NAME
    if not path.is_file() or len(package.as_planned) < len(package.runs):
        return
    first, *rest = path.read_text(encoding="utf-8").splitlines() or [""]
    stated = [meaning_of(first), *sorted(map(meaning_of, rest))]
    counted = (_counted(package), _counted_once(package))
    if stated not in ([meaning_of(count), *sorted(map(meaning_of, lines))] for count, lines in counted):
        yield f"{NAME}: it states {first[:200]!r} and {len(rest)} lines, the records give {_counted(package)[0]!r}"


def _counted(package: Opened) -> tuple[str, list[str]]:
    """Return the first line and the others, as scripts/complete.py writes them."""
    runs = {run.where for run in package.runs}
    order = [entry for entry in package.stored_plan["order"] if run_name(entry) in runs]
    plan = {**package.stored_plan, "order": order, "settings": package.settings}
    missing = missing_of(cast("Plan", plan), (record for _, record in package.records), records_of(package), {})
    return missing.count, missing.lines


def _counted_once(package: Opened) -> tuple[str, list[str]]:
    """Return the same as it was written before there were hashes of jobs."""
    failed = [
        f"{r['cell_id']}, repetition {r['repetition']}: {'; '.join(r['reasons'])}"
        for _, r in package.records
        if r["status"] == FAILED or (r["status"] == OK and not r["valid"])
    ]
    lines = [f"environment {one['name']}: {one['reason']}" for one in records_of(package) if one["status"] != OK]
    return f"{len(package.runs)} runs, {len(failed) or 'none'} failed or invalid", lines + failed


_ROUNDED_S = 1e-6
"""Largest difference between seconds and nanoseconds of a record, by floating point."""

_QUICKEST = 0.02
"""Smallest time of a warm-up batch, as a share of the median batch's: first batches take longer, unless a processor
slowed down later."""


def settings_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield where runs were not timed, warmed up, rested or prepared as the study file sets.

    Runs from before jobs had hashes may have been measured under earlier settings than the study's last.
    """
    if "sources" not in package.stored_plan:
        return
    settings = study.settings
    for run, record in package.records:
        cell = study.cell(run.cell)
        lines = [
            *_rested(record, settings["cool_down"]),
            *_batch_problems(cell, record, settings["window"]),
            *_cache_problems(cell, record),
            *_options(study, cell, run.repetition, record),
        ]
        # Requests that arrive at a rate: see outcome.
        if cell.phase == "infer" and record["status"] == OK and record["latency"] and not is_open(record):
            whole = -(-data_of(package, cell)["test_samples"] // cell.batch_size)
            passes = settings["window"].get("passes", PASSES)
            lines += _timed(record, settings["window"]["minimum_s"], passes * whole)
            lines += _warmed_up(record, settings["window"])
        yield from some(lines, run.where)
    yield from _pauses(package)


def _batch_problems(cell: Cell, record: Mapping[str, Any], window: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if batches were made in another place than the study file sets (batches.Supply)."""
    stated, ahead_gb = record.get("batches"), window.get("ahead_gb", AHEAD_GB)
    if stated is None and record["status"] == OK and ahead_gb != AHEAD_GB and not always_ahead(cell.changed):
        yield f"batches: the record does not state how they were made; the study file sets window.ahead_gb {ahead_gb:g}"
    if stated and stated["made"] != (expected := choose_mode(stated["pass_b"], ahead_gb)):
        yield f"batches: the record states {stated['made']}, with {stated['pass_b']} bytes a pass they are {expected}"


def _cache_problems(cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the caches in another state than the cell's (runs.conditions); a run that never started may have none."""
    wanted, stated = cell.changed.get("caches"), record.get("caches")
    if stated is None:
        if wanted is not None and record["status"] == OK:
            yield f"caches: the record states nothing, the cell {wanted}"
    elif stated["state"] != wanted:
        yield f"caches: the record states {stated['state']}, the cell {wanted}"
    elif wanted == COLD and not stated["left_b"] <= stated["files_b"] >= stated["found_b"]:
        yield f"caches: the record states {stated['found_b']} and {stated['left_b']} bytes of {stated['files_b']}"


def _options(study: MeasuredStudy, cell: Cell, repetition: int, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if a run recorded other options than its cell requests; the verdict has those not in force."""
    if record["schema_version"] < RECORDED_SINCE:
        yield from in_force(cell, record)
        return
    if record["status"] != OK:
        return
    wanted = requested(measure_job(study, cell, repetition, record["attempt"]))
    recorded = {name: level["requested"] for name, level in (record["workload"].get("options") or {}).items()}
    if recorded != wanted:
        yield f"workload.options: the record states {recorded} was requested, the study file sets {wanted}"


def in_force(cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the recorded levels in force that differ from the cell's, for a record without `workload.options`.

    Args:
        cell: of the run.
        record: of the run.
    """
    if record["status"] != OK:
        return
    stated = (record.get("workload") or {}).get("in_force") or {}
    wanted: dict[str, Level] = {
        name: level for name, level in cell.changed.items() if name in ("heap", "update", "loss_read", "tf32")
    }
    if cell.changed.get("weight_inputs") == REMOVED:
        wanted["weights_among_inputs"] = 0
    for name, level in wanted.items():
        if stated.get(name) != level:
            yield f"workload.in_force.{name}: the record states {stated.get(name)}, the cell {level}"


def _timed(record: Mapping[str, Any], minimum_s: float, whole: int) -> Iterator[str]:
    """Yield where a window ended before its time or passes, or went on although both were over (worker.infer)."""
    window, latency = record["windows"].get(record["primary_window"]), record["latency"]
    if window is None:
        return
    if window["duration_s"] < minimum_s - _ROUNDED_S:
        yield f"window.minimum_s: the study file sets {minimum_s:g}, the window has {window['duration_s']:.6g} s"
    if latency["batches"] < whole:
        yield f"window.passes: the study file requests {whole} batches, the window has {latency['batches']}"
    # The last batch may be the slowest one; before it, the time was not over.
    before_s = window["duration_s"] - latency["max_s"]
    if latency["batches"] > whole and before_s > minimum_s + _ROUNDED_S:
        yield f"window.minimum_s: the study file sets {minimum_s:g}, the window went on after {before_s:.6g} s"


def _warmed_up(record: Mapping[str, Any], window: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if the warm-up is missing, or too short for its batches."""
    warm_up = record["windows"].get("warm_up")
    if warm_up is None:
        yield "windows: the record has no warm_up, of an inference"
        return
    batches, p50_s = window["warm_up_batches"], record["latency"]["p50_s"]
    if warm_up["duration_s"] < _QUICKEST * batches * p50_s:
        yield (
            f"window.warm_up_batches: the study file sets {batches}, the warm-up has {warm_up['duration_s']:.3g} s, "
            f"and half of the batches take {p50_s:.3g} s or more"
        )


def _rested(record: Mapping[str, Any], cool_down: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the rest before a run is shorter than the study sets (runner.measure).

    A run that never started has no rest.
    """
    if record["status"] != OK and not record["cool_down_s"]:
        return
    stated_s, returned = record["cool_down_s"], record["returned_to_idle"]
    if (returned is None) != (cool_down["idle_band"] is None):
        yield f"returned_to_idle: the record states {returned}, cool_down.idle_band is {cool_down['idle_band']}"
    wanted_s = cool_down["rest_s"] + (cool_down["timeout_s"] if returned is False else 0)
    if stated_s is None or stated_s < wanted_s - _ROUNDED_S:
        yield f"cool_down_s: the record states {stated_s}, the study file has a rest of {wanted_s:g} s"


def _pauses(package: Opened) -> Iterator[str]:
    """Yield the runs that started sooner after another run on the machine than their rest, by both clocks.

    The rest is part of the time under the machine's lock. Under a test's own lock, others may have measured meanwhile.
    """
    spans: dict[Any, list[tuple[int, int, str, str, float, str]]] = {}
    for run, record in package.records:
        window = record["windows"].get("process")
        lock = record.get("lock")
        if not (window and record["cool_down_s"] and lock and lock["machine_wide"]):
            continue
        if window["start_utc"] and window["end_utc"]:
            times = window["start_monotonic_ns"], window["end_monotonic_ns"], window["start_utc"], window["end_utc"]
            of_session = spans.setdefault(session_of(record["machine"]), [])
            of_session.append((*times, record["cool_down_s"], run.where))
    for of_session in spans.values():
        for one, other in itertools.pairwise(sorted(of_session)):
            by_monotonic_s = (other[0] - one[1]) * 1e-9
            by_utc_s = (datetime.fromisoformat(other[2]) - datetime.fromisoformat(one[3])).total_seconds()
            pause_s = max(by_monotonic_s, by_utc_s)
            if pause_s < other[4] - 2 * _ROUNDED_S:
                ended = f"{one[5]} ended {pause_s:.6g} s before"
                yield f"{other[5]}: cool_down_s: the record states {other[4]:.6g}, {ended}"
