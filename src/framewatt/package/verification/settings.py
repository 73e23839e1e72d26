"""Settings that leave their mark on a run: how long it was timed, warmed up and rested, and with which caches."""

import itertools
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from framewatt.host.machine import session_of
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.outcome import is_open
from framewatt.package.verification.reading import some
from framewatt.package.verification.samples import data_of
from framewatt.planning.jobs import measure_job
from framewatt.runs.batches import AHEAD_GB, PASSES, always_ahead, made
from framewatt.runs.conditions import RECORDED_SINCE, requested
from framewatt.runs.verdict import OK
from framewatt.study.cell import Cell
from framewatt.study.options import COLD, REMOVED, Level
from framewatt.study.study import MeasuredStudy

_ROUNDED_S = 1e-6
"""What seconds of a record may be off nanoseconds, by floating point."""

_QUICKEST = 0.02
"""Share of the median batch's time that a batch of the warm-up takes at least: first ones take longer, unless a
processor was held back later."""


def settings_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Where runs were not timed, warmed up, rested or prepared as the study file says.

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
        yield f"batches: the record does not say how they were made; the study file says window.ahead_gb {ahead_gb:g}"
    if told and told["made"] != (expected := made(told["pass_b"], ahead_gb)):
        yield f"batches: the record says {told['made']}, with {told['pass_b']} bytes a pass they are {expected}"


def _cached(cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Caches in another state than the cell names (runs.conditions); a run that never began may have none."""
    wanted, told = cell.changed.get("caches"), record.get("caches")
    if told is None:
        if wanted is not None and record["status"] == OK:
            yield f"caches: the record says nothing, the cell {wanted}"
    elif told["state"] != wanted:
        yield f"caches: the record says {told['state']}, the cell {wanted}"
    elif wanted == COLD and not told["left_b"] <= told["files_b"] >= told["found_b"]:
        yield f"caches: the record says {told['found_b']} and {told['left_b']} bytes of {told['files_b']}"


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
        yield f"workload.options: the record says {recorded} was requested, the study file says {wanted}"


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
            yield f"workload.in_force.{name}: the record says {told.get(name)}, the cell {level}"


def _timed(record: Mapping[str, Any], minimum_s: float, whole: int) -> Iterator[str]:
    """A window that ended before its time or its passes, or went on although both were over (worker.infer)."""
    window, latency = record["windows"].get(record["primary_window"]), record["latency"]
    if window is None:
        return
    if window["duration_s"] < minimum_s - _ROUNDED_S:
        yield f"window.minimum_s: the study file says {minimum_s:g}, the window has {window['duration_s']:.6g} s"
    if latency["batches"] < whole:
        yield f"window.passes: the study file asks for {whole} batches, the window has {latency['batches']}"
    # The last batch may be the one that took longest; before it, the time was not over.
    before_s = window["duration_s"] - latency["max_s"]
    if latency["batches"] > whole and before_s > minimum_s + _ROUNDED_S:
        yield f"window.minimum_s: the study file says {minimum_s:g}, the window went on after {before_s:.6g} s"


def _warmed_up(record: Mapping[str, Any], window: Mapping[str, Any]) -> Iterator[str]:
    """A warm-up that is not there, or too short for its batches."""
    warm_up = record["windows"].get("warm_up")
    if warm_up is None:
        yield "windows: the record has no warm_up, of an inference"
        return
    batches, p50_s = window["warm_up_batches"], record["latency"]["p50_s"]
    if warm_up["duration_s"] < _QUICKEST * batches * p50_s:
        yield (
            f"window.warm_up_batches: the study file says {batches}, the warm-up has {warm_up['duration_s']:.3g} s, "
            f"and half of the batches take {p50_s:.3g} s or more"
        )


def _rested(record: Mapping[str, Any], cool_down: Mapping[str, Any]) -> Iterator[str]:
    """A rest before a run that is shorter than the study asks for (runner.measure); a run that never began has none."""
    if record["status"] != OK and not record["cool_down_s"]:
        return
    told_s, returned = record["cool_down_s"], record["returned_to_idle"]
    if (returned is None) != (cool_down["idle_band"] is None):
        yield f"returned_to_idle: the record says {returned}, cool_down.idle_band is {cool_down['idle_band']}"
    wanted_s = cool_down["rest_s"] + (cool_down["timeout_s"] if returned is False else 0)
    if told_s is None or told_s < wanted_s - _ROUNDED_S:
        yield f"cool_down_s: the record says {told_s}, the study file has a rest of {wanted_s:g} s"


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
                yield f"{other[5]}: cool_down_s: the record says {other[4]:.6g}, {one[5]} ended {pause_s:.6g} s before"
