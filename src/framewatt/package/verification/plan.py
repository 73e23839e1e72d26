"""The plan and settings of the study file, and what agrees with them: stages, records, windows, rests, how it ended."""

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
    """Where plan.json is not what the study file plans."""
    where = f"results/{package.name}/plan/plan.json"
    if package.study.name != package.name:
        yield f"{where}: the study file is that of {package.study.name}, the results are those of {package.name}"
    told = dict(package.told_plan)
    yield from some(differences(told, package.plan, by="the plan states", why="the study file gives"), where)


def stage_problems(package: Opened) -> Iterator[str]:
    """Where weights, exports, checks or idle power are those of other settings, or hashes are of other locks."""
    hashes = package.planned
    if not isinstance(hashes, JobHashes) or "sources" not in package.told_plan:
        return
    for name, about in hashes.sources.environments.items():
        lock = package.data / "envs" / name / LOCK
        if about.get("mode") != "host" and lock.is_file():
            says, gives = {"lock_sha256": about.get("lock_sha256")}, {"lock_sha256": lock_sha256(lock)}
            where = f"plan.json: sources.environments.{name}"
            yield from some(differences(says, gives, by="it states", why=f"envs/{name} gives"), where)
    for place, wanted in records_of_stages(hashes).items():
        path = package.results / place
        told = mapping_in(path).get("job_sha256") if path.is_file() else None
        if told != wanted:
            yield f"{place}: made under other settings than the study file's, or not there"


def records_of_stages(hashes: JobHashes) -> dict[str, str]:
    """Hash of the job of every record but the runs', by its place in the results."""
    found = {f"{calibration_of(Path(), node)}/idle.json": sha256 for node, sha256 in hashes.idle.items()}
    found |= {f"train/{name}/{TRAIN_RECORD}": sha256 for name, sha256 in hashes.weights.items()}
    found |= {f"export/{name}/check/{CHECK_RECORD}": sha256 for name, sha256 in hashes.checks.items()}
    found |= {f"parity/{name}/sheet/{PARITY_RECORD}": sha256 for name, sha256 in hashes.parity.items()}
    found |= {f"profiled/{name}/{PROFILE_RECORD}": sha256 for name, sha256 in hashes.profiles.items()}
    found |= {f"timelines/{name}/{TIMELINE_RECORD}": sha256 for name, sha256 in hashes.timelines.items()}
    found |= {f"repeated/{name}/{REPEATED_RECORD}": sha256 for name, sha256 in hashes.repeated.items()}
    return found | {f"export/{name}/onnx/export.json": sha256 for name, sha256 in hashes.exports.items()}


_SINCE_PURPOSES = 4
"""First schema version whose records tell the purpose of their run."""

_OF_THE_JOB = ("study", "cell_id", "cell", "repetition", "device", "threads")


def head_problems(package: Opened) -> Iterator[str]:
    """Where a record is that of another run than the planned one, or of another way to run it."""
    study = package.study
    heads: _Heads = iter(())
    if isinstance(study, MeasuredStudy):
        heads = _measured(package, study)
    elif isinstance(study, FileStudy):
        heads = _imported(package, study)
    for run, record, found in heads:
        told = {name: record.get(name) for name in found}
        yield from some(differences(told, found, why="the plan gives"), run.where)


_Heads = Iterator[tuple[RunFolder, Mapping[str, Any], dict[str, Any]]]


def _measured(package: Opened, study: MeasuredStudy) -> _Heads:
    """Every record, with its head out of the job that the study file makes of the run."""
    entries = {(entry["cell"], entry["repetition"]): entry for entry in package.plan["order"]}
    # Where cells joined the study or left it, or a run was repeated, earlier runs had their places in another order.
    in_order = as_planned(package)
    for run, record in package.records:
        job = jobs.measure_job(study, study.cell(run.cell), run.repetition, record["attempt"])
        found = {name: job[name] for name in _OF_THE_JOB}
        # A study may have come to name an option after the run; the run had its usual level.
        since = {name for name in job["cell"] if name not in record["cell"] and name not in FIXED}
        found["cell"] = {name: level for name, level in job["cell"].items() if name not in since}
        entry = entries[run.cell, run.repetition]
        found |= {"block": run.repetition, "job_sha256": entry.get("job_sha256"), "node": entry.get("node")}
        found["position"] = entry["position"] if in_order else record["position"]
        found |= {"source": None if record.get("source") is None else "measured"}
        found |= {} if record["schema_version"] < _SINCE_PURPOSES else {"purpose": job["purpose"]}
        yield run, record, found


def _imported(package: Opened, study: FileStudy) -> _Heads:
    """Every record, with its head out of the names of its files."""
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
    """The files of an imported run; whether their hashes are right is another check's."""
    told = {file["path"]: file["sha256"] for file in record.get("files", [])}
    pairs = zip(run.files, readers, strict=True)
    return [{"path": file.path, "sha256": told.get(file.path), "reader": reader} for file, reader in pairs]


def _places(package: Opened, order: list[tuple[str, int]]) -> dict[str, int]:
    """Places of imported runs: by their clocks where all that could be read have one, else by repetition."""
    found = {
        (run.cell, run.repetition): (run.where, record["clock"]["utc"], record["status"])
        for run, record in package.records
    }
    in_order = [found[key] for key in order if key in found]
    if all(utc for _, utc, status in in_order if status == "ok"):
        in_order.sort(key=lambda of: of[1] or "9999")
    return {where: place for place, (where, _, _) in enumerate(in_order, 1)}


RECORD, ROWS = "stopping/stopping.json", "stopping/stopping.csv"


def stopping_problems(package: Opened) -> Iterator[str]:
    """Where what stopped the study is not what its records say, or is there of a study that has no rule."""
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
        told = mapping_in(package.results / RECORD)
        yield from some(differences(told, record_of(path), by="it states", why="the records give"), RECORD)
    if ROWS in there and (package.results / ROWS).read_text(encoding="utf-8") != to_csv(frame_of(path)):
        yield f"{ROWS}: is not what the records give"


def _changed(package: Opened) -> Iterator[str]:
    """Changes of the repetitions that are none, or that do not lead to those that the study has."""
    path = package.results / "plan" / CHANGES
    if not path.is_file():
        return
    try:
        told = changes_of(package.results)
        # What the report says of each; a change of another form has none.
        sentences(told)
        last = told[-1]["to"]
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
    """Where complete.txt says something else than the records do; packages of today have none."""
    path = package.results / NAME
    if not path.is_file() or len(package.as_planned) < len(package.runs):
        return
    first, *rest = path.read_text(encoding="utf-8").splitlines() or [""]
    told = [meaning_of(first), *sorted(map(meaning_of, rest))]
    counted = (_counted(package), _counted_once(package))
    if told not in ([meaning_of(count), *sorted(map(meaning_of, lines))] for count, lines in counted):
        yield f"{NAME}: it states {first[:200]!r} and {len(rest)} lines, the records give {_counted(package)[0]!r}"


def _counted(package: Opened) -> tuple[str, list[str]]:
    """First line and others, as scripts/complete.py writes them."""
    told = {run.where for run in package.runs}
    order = [entry for entry in package.told_plan["order"] if run_name(entry) in told]
    plan = {**package.told_plan, "order": order, "settings": package.settings}
    missing = missing_of(cast("Plan", plan), (record for _, record in package.records), records_of(package), {})
    return missing.count, missing.lines


def _counted_once(package: Opened) -> tuple[str, list[str]]:
    """The same as it was written before there were hashes of jobs."""
    failed = [
        f"{r['cell_id']}, repetition {r['repetition']}: {'; '.join(r['reasons'])}"
        for _, r in package.records
        if r["status"] == FAILED or (r["status"] == OK and not r["valid"])
    ]
    lines = [f"environment {one['name']}: {one['reason']}" for one in records_of(package) if one["status"] != OK]
    return f"{len(package.runs)} runs, {len(failed) or 'none'} failed or invalid", lines + failed


_ROUNDED_S = 1e-6
"""What seconds of a record may be off nanoseconds, by floating point."""

_QUICKEST = 0.02
"""Share of the median batch's time that a batch of the warm-up takes at least: first ones take longer, unless a
processor was held back later."""


def settings_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Where runs were not timed, warmed up, rested or prepared as the study file sets.

    Runs from before jobs had hashes may have been measured under earlier settings than the study's last.
    """
    if "sources" not in package.told_plan:
        return
    settings = study.settings
    for run, record in package.records:
        cell = study.cell(run.cell)
        lines = [
            *_rested(record, settings["cool_down"]),
            *_made(cell, record, settings["window"]),
            *_cached(cell, record),
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


def _made(cell: Cell, record: Mapping[str, Any], window: Mapping[str, Any]) -> Iterator[str]:
    """Batches that were made where the study file has them made elsewhere (batches.Supply)."""
    told, ahead_gb = record.get("batches"), window.get("ahead_gb", AHEAD_GB)
    if told is None and record["status"] == OK and ahead_gb != AHEAD_GB and not always_ahead(cell.changed):
        yield f"batches: the record does not say how they were made; the study file sets window.ahead_gb {ahead_gb:g}"
    if told and told["made"] != (expected := choose_mode(told["pass_b"], ahead_gb)):
        yield f"batches: the record states {told['made']}, with {told['pass_b']} bytes a pass they are {expected}"


def _cached(cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Caches in another state than the cell names (runs.conditions); a run that never began may have none."""
    wanted, told = cell.changed.get("caches"), record.get("caches")
    if told is None:
        if wanted is not None and record["status"] == OK:
            yield f"caches: the record states nothing, the cell {wanted}"
    elif told["state"] != wanted:
        yield f"caches: the record states {told['state']}, the cell {wanted}"
    elif wanted == COLD and not told["left_b"] <= told["files_b"] >= told["found_b"]:
        yield f"caches: the record states {told['found_b']} and {told['left_b']} bytes of {told['files_b']}"


def _options(study: MeasuredStudy, cell: Cell, repetition: int, record: Mapping[str, Any]) -> Iterator[str]:
    """Options that a run recorded as requested other than those of its cell; the verdict has those not in force."""
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
    """Levels that a run says were in force other than those of its cell, of a record without `workload.options`.

    Args:
        cell: of the run.
        record: of the run.
    """
    if record["status"] != OK:
        return
    told = (record.get("workload") or {}).get("in_force") or {}
    wanted: dict[str, Level] = {
        name: level for name, level in cell.changed.items() if name in ("heap", "update", "loss_read", "tf32")
    }
    if cell.changed.get("weight_inputs") == REMOVED:
        wanted["weights_among_inputs"] = 0
    for name, level in wanted.items():
        if told.get(name) != level:
            yield f"workload.in_force.{name}: the record states {told.get(name)}, the cell {level}"


def _timed(record: Mapping[str, Any], minimum_s: float, whole: int) -> Iterator[str]:
    """A window that ended before its time or its passes, or went on although both were over (worker.infer)."""
    window, latency = record["windows"].get(record["primary_window"]), record["latency"]
    if window is None:
        return
    if window["duration_s"] < minimum_s - _ROUNDED_S:
        yield f"window.minimum_s: the study file sets {minimum_s:g}, the window has {window['duration_s']:.6g} s"
    if latency["batches"] < whole:
        yield f"window.passes: the study file asks for {whole} batches, the window has {latency['batches']}"
    # The last batch may be the one that took longest; before it, the time was not over.
    before_s = window["duration_s"] - latency["max_s"]
    if latency["batches"] > whole and before_s > minimum_s + _ROUNDED_S:
        yield f"window.minimum_s: the study file sets {minimum_s:g}, the window went on after {before_s:.6g} s"


def _warmed_up(record: Mapping[str, Any], window: Mapping[str, Any]) -> Iterator[str]:
    """A warm-up that is not there, or too short for its batches."""
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
    """A rest before a run that is shorter than the study asks for (runner.measure); a run that never began has none."""
    if record["status"] != OK and not record["cool_down_s"]:
        return
    told_s, returned = record["cool_down_s"], record["returned_to_idle"]
    if (returned is None) != (cool_down["idle_band"] is None):
        yield f"returned_to_idle: the record states {returned}, cool_down.idle_band is {cool_down['idle_band']}"
    wanted_s = cool_down["rest_s"] + (cool_down["timeout_s"] if returned is False else 0)
    if told_s is None or told_s < wanted_s - _ROUNDED_S:
        yield f"cool_down_s: the record states {told_s}, the study file has a rest of {wanted_s:g} s"


def _pauses(package: Opened) -> Iterator[str]:
    """Runs that began sooner after another one's end on one machine, by both of its clocks, than they say they rested.

    The rest lies within the machine's lock; under a test's own lock others may have measured meanwhile.
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
