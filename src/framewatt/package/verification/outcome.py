"""What a run came to: whether it counts and why not, how much it processed and how quickly."""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.host.supervision import Outcome
from framewatt.imports.file_study import FileStudy
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.imported import problems_of_epochs, problems_of_flags, problems_of_unknown
from framewatt.package.verification.open_loops import is_open
from framewatt.package.verification.opened import Opened
from framewatt.runs.verdict import FAILED, OK, UNAVAILABLE, Verdict, judge, told_of

PRIMARY = "steady"
"""The window that every workload names, in training and in inference (worker.py)."""

_TOLD_BY_THE_RUN = re.compile(r"\d+ processes were left behind and ended")
"""Flags of what only the run saw; all others follow from the record and the study. See quality of the second."""

OF_THE_SAMPLER = re.compile(r"the sampling process (died or hung|ended: .+)", re.DOTALL)
"""The reason of a run whose sampling process did not live to tell how it did, see sampler and sampling."""


def problems(package: Opened) -> Iterator[str]:
    """Where verdict, samples or throughput are not what the rest of a record gives."""
    for run, record in package.records:
        if isinstance(package.study, FileStudy):
            lines = _imported_verdict(record)
        else:
            lines = _verdict(record, package.study.settings)
        yield from some([*lines, *_pace(record), *_epochs(record)], run.where)


def _verdict(record: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Where status, validity, reasons and flags of a measured run are not what it is judged by."""
    primary = record["windows"].get(record["primary_window"])
    sampler_died = record["sampler"] is None
    if sampler_died and record["schema_version"] > 1 and not any(map(OF_THE_SAMPLER.fullmatch, record["reasons"])):
        yield f"sampler: the record has none, and no reason why: {_listed(record['reasons'])}"
        sampler_died = False
    if record["status"] != OK:
        yield from _of_failed(record)
        return
    if primary is None or record["workload"] is None:
        yield f"status: the record says ok, of a run without {'a window' if primary is None else 'a workload'}"
        return
    if record["primary_window"] != PRIMARY:
        yield f"primary_window: the record says {record['primary_window']!r}, every workload says {PRIMARY!r}"
    found = _judged(record, primary, settings)
    told_reasons = list(record["reasons"])
    if sampler_died:
        # What became of the sampling process comes first.
        told_reasons = told_reasons[1:]
    if told_reasons != found.reasons:
        yield f"reasons: the record says {_listed(told_reasons)}, what was seen gives {_listed(found.reasons)}"
    if record["valid"] != (not record["reasons"]):
        yield f"valid: the record says {record['valid']}, with {len(record['reasons'])} reasons against it"
    yield from (f"flags: the record has not {flag!r}" for flag in found.flags if flag not in record["flags"])
    for flag in record["flags"]:
        if flag not in found.flags and not _TOLD_BY_THE_RUN.fullmatch(flag):
            yield f"flags: {flag!r} follows from nothing"


def _judged(record: Mapping[str, Any], primary: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
    """The verdict on a run that ended well."""
    window = primary["start_monotonic_ns"], primary["end_monotonic_ns"]
    job = {"missing": None, "repeat": True, "attempt": record["attempt"]}
    job |= {key: settings[key] for key in ("preflight", "cool_down", "disturbance")}
    job |= {name: record.get(name) for name in ("first_try", "was_aside")}
    result = {name: record[name] for name in ("workload", "epochs", "quality", "latency")}
    result |= {"batches": record.get("batches", {})}
    around = {name: record.get(name) for name in ("preflight", "returned_to_idle", "clock", "lock", "caches")} | {
        "error": None
    }
    return judge(job, Outcome(None, *window), result, primary, around)


def _of_failed(record: Mapping[str, Any]) -> Iterator[str]:
    """What a run that failed cannot have."""
    if record["status"] not in (FAILED, UNAVAILABLE):
        yield f"status: the record says {record['status']}"
    if record["valid"] or not record["reasons"]:
        yield f"valid: the record says {record['valid']}, of a run that {record['status']} for {record['reasons']}"
    for name in ("primary_window", "units", "throughput_per_s", "latency", "workload"):
        if record[name] is not None:
            yield f"{name}: the record has one, of a run that {record['status']}"
    if record["quality"] or record["epochs"]:
        yield f"quality: the record has some, of a run that {record['status']}"


def _imported_verdict(record: Mapping[str, Any]) -> Iterator[str]:
    """Where an imported run knows what no log tells, or validity, reasons and flags are not those of its windows."""
    yield from problems_of_unknown(record)
    if record["status"] != OK:
        yield from _of_failed(record)
        return
    primary = record["windows"].get(record["primary_window"])
    if primary is None:
        yield "status: the record says ok, of a run without a window"
        return
    yield from problems_of_epochs(record)
    reasons, flags = told_of(primary["domains"], "reasons"), told_of(primary["domains"], "flags")
    yield from differences(
        {"valid": record["valid"], "reasons": record["reasons"]},
        {"valid": not reasons, "reasons": reasons},
        why="its windows give",
    )
    yield from problems_of_flags(record, flags)


def _pace(record: Mapping[str, Any]) -> Iterator[str]:
    """Throughput, and latencies that fill the window between them."""
    window = record["windows"].get(record["primary_window"])
    units = (record["units"] or {}).get("count")
    rate = units / window["duration_s"] if window and units else None
    told = {"throughput_per_s": record["throughput_per_s"]}
    yield from differences(told, {"throughput_per_s": rate}, why="units and seconds give")
    if window and record["latency"] and not is_open(record):
        yield from _latency(record["latency"], window["duration_s"])


def _latency(latency: Mapping[str, Any], duration_s: float) -> Iterator[str]:
    """Latencies that do not add up to the window, batch by batch, or are in no order.

    Every batch's time is not kept: percentiles are held between what the window leaves room for.
    """
    count = latency["batches"]
    mean = {"mean_s": latency["mean_s"]}
    yield from differences(mean, {"mean_s": duration_s / count}, "latency", why="window and batches give")
    points = [
        (share, latency[name]) for share, name in ((0.5, "p50_s"), (0.95, "p95_s"), (0.99, "p99_s"), (1.0, "max_s"))
    ]
    if any(one > other for (_, one), (_, other) in itertools.pairwise(points)) or points[0][1] < 0:
        yield "latency: its percentiles do not ascend"
        return
    most = slowest = 0.0
    before = 0
    for share, value in points:
        rank = share * (count - 1)
        # So many batches took at least as long, and so many at most.
        most = max(most, value * (count - int(-(-rank // 1))))
        upto = int(rank) + 1
        slowest += value * (upto - before) if upto > before else 0.0
        before = max(before, upto)
    if most > duration_s * (1 + 1e-6) or latency["max_s"] * count < duration_s * (1 - 1e-6):
        yield f"latency: its percentiles need {most:.6g} s or more, the window has {duration_s:.6g} s"


def _epochs(record: Mapping[str, Any]) -> Iterator[str]:
    """Epochs that are not one after the other with a window each, or that do not sum up to the run."""
    epochs = record["epochs"]
    if not epochs:
        return
    names = [f"epoch-{epoch['epoch']}" for epoch in epochs]
    windows = [name for name in record["windows"] if name.startswith("epoch-")]
    if names != [f"epoch-{number}" for number in range(1, len(epochs) + 1)] or set(names) != set(windows):
        yield f"epochs: the record has {', '.join(names)}, its windows are {', '.join(windows) or 'none'}"
    counts = [epoch["units"] for epoch in epochs]
    found = {"quality": epochs[-1]["quality"], "units": None if None in counts else sum(counts)}
    told = {"quality": record["quality"], "units": (record["units"] or {}).get("count")}
    yield from differences(told, found, why="its epochs give")


def _listed(reasons: list[str]) -> str:
    return "; ".join(reasons) or "none"
