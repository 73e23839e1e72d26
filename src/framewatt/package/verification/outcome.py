"""Check the outcome of a run: its verdict, its samples, its throughput and latency, and its quality."""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.host.supervision import Outcome
from framewatt.package.verification.imported import problems_of_epochs, problems_of_flags, problems_of_unknown
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.reading import differences, same, some
from framewatt.runs.batches import length_s, requests_of
from framewatt.runs.verdict import FAILED, OK, UNAVAILABLE, Verdict, domain_messages, judge
from framewatt.study.cell import Cell
from framewatt.study.factors import CLOSED, rate_of
from framewatt.study.study import FileStudy
from framewatt.study.wordings import in_present_words, is_sentence, same_meaning, unmatched, without_end
from framewatt.tasks.contract import Task
from framewatt.tasks.quality import Quality

_ROUNDED_S = 1e-3
_QUANTILES = ("p50_s", "p95_s", "p99_s", "max_s")


def is_open(record: Mapping[str, Any]) -> bool:
    """Return whether requests arrived at a rate in a run, by its record."""
    return "open_loop" in (record["latency"] or {})


def open_loop_problems(cell: Cell, record: Mapping[str, Any], minimum_s: float, test_samples: int) -> Iterator[str]:
    """Yield where rate, requests, batches, latencies and the window of an inference do not fit together.

    Args:
        cell: of the run.
        record: with `latency`.
        minimum_s: of the study's window.
        test_samples: of the data set.
    """
    load = str(cell.to_dict().get("load", CLOSED))
    rate_per_s = rate_of(load)
    latency = record["latency"]
    loop = latency.get("open_loop")
    if (rate_per_s is None) != (loop is None):
        yield f"latency.open_loop: the record has {'none' if loop is None else 'one'}, of a load {load}"
        return
    if rate_per_s is None or loop is None:
        return
    requests = requests_of(rate_per_s, minimum_s)
    stated = {"rate_per_s": loop["rate_per_s"], "requests": loop["requests"]}
    yield from differences(stated, {"rate_per_s": rate_per_s, "requests": requests}, why="the study file gives")
    largest = min(cell.batch_size, test_samples)
    if not 1 <= loop["largest_batch"] <= largest or not requests / largest <= latency["batches"] <= requests:
        batches = f"{latency['batches']} batches of up to {loop['largest_batch']}"
        yield f"latency: {batches} are not those of {requests} requests"
    if record["units"]["name"] == "sample" and record["units"]["count"] != requests:
        yield f"units: the record states {record['units']['count']}, of {requests} requests"
    values = [latency[name] for name in _QUANTILES]
    if values != sorted(values) or not 0 <= latency["mean_s"] <= latency["max_s"]:
        yield "latency: its percentiles do not ascend"
    window = record["windows"].get(record["primary_window"])
    if window is None:
        return
    arrived_s = length_s(rate_per_s, minimum_s)
    if window["duration_s"] < arrived_s - _ROUNDED_S:
        yield f"window: requests arrived for {arrived_s:.6g} s, it has {window['duration_s']:.6g} s"
    if latency["max_s"] > window["duration_s"] + _ROUNDED_S:
        yield f"latency: {latency['max_s']:.6g} s is longer than the window of {window['duration_s']:.6g} s"


_RANDOM, _UNKNOWN = "weights_random", "quality_unknown"
_FIRST_SCHEMA = 1
"""The schema version before reasons had their present words."""


def problems_of_quality(
    phase: str, seeded: bool, task: Task, data: Mapping[str, Any], record: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the wrong metrics, units, latencies and epochs of a run, and wrong reasons for unknown quality.

    Args:
        phase: of the run's cell, `train` or `infer`.
        seeded: whether its weights are random.
        task: the task of its data set.
        data: the record of its data set.
        record: of a measured run that is ok.
    """
    named = [("quality", record["quality"])]
    named += [(f"epoch {epoch['epoch']}: quality", epoch["quality"]) for epoch in record["epochs"]]
    for where, quality in named:
        yield from (f"{where}{problem}" for problem in _metric_problems(task, data, quality, record["schema_version"]))
        yield from quality_mismatches(task, data, quality, where)
    if record["units"] and record["units"]["name"] != task.unit:
        yield f"units: the record counts {record['units']['name']}s. The task counts {task.unit}s."
    if phase == "train" and record["latency"] is not None:
        yield "latency: the record has one, of a training"
    if phase != "train" and record["epochs"]:
        yield f"epochs: the record has {len(record['epochs'])}, of an inference"
    yield from _reason_problems(seeded, task, data, record)


def _metric_problems(task: Task, data: Mapping[str, Any], quality: Quality, version: int) -> Iterator[str]:
    """Yield the metrics that the task does not have, impossible values, and a mix of known and unknown values."""
    metrics = [metric for metric in task.metrics if metric.since <= version]
    if set(quality) != {metric.name for metric in metrics}:
        allowed = ", ".join(metric.name for metric in metrics)
        yield f": the record has {', '.join(quality) or 'none'}. The task has {allowed}."
    meaningless = task.meaningless(data.get("classes") or 0)
    if len({entry["value"] is None for name, entry in quality.items() if name not in meaningless}) > 1:
        yield ": some are known and some are not"
    for name in meaningless.keys() & quality.keys():
        if quality[name]["value"] is not None:
            yield f".{name}: the record states {quality[name]['value']:.6g}, and {meaningless[name]}"
    for metric in metrics:
        entry = quality.get(metric.name)
        if entry is None:
            continue
        if (entry["unit"], entry["better"]) != (metric.unit, metric.better):
            stated = f"better {entry['better']}, unit {entry['unit']!r}"
            yield f".{metric.name}: the record states {stated}. It has to be {metric.better}, {metric.unit!r}."
        if entry["value"] is not None and entry["reason"] is not None:
            yield f".{metric.name}: the record has a value, and a reason why there is none"
        if entry["value"] is not None and not metric.is_possible(entry["value"]):
            what = "share" if metric.is_share() else "value of it"
            yield f".{metric.name}: the record states {entry['value']:.6g}, which is no {what}"


def quality_mismatches(task: Task, data: Mapping[str, Any], quality: Quality, where: str = "quality") -> Iterator[str]:
    """Yield the values of a quality that do not fit each other or the data record, see Task.mismatches.

    Args:
        task: of the data set.
        data: the record of the data set.
        quality: of a run or of an epoch.
        where: its place in the run record.
    """
    for mismatch in task.mismatches(quality, data):
        key = f"{where}.{mismatch.key}"
        if mismatch.sentence is not None:
            yield f"{key}: {mismatch.sentence}"
        else:
            yield from differences({key: mismatch.stated}, {key: mismatch.derived}, why=mismatch.source)


def _reason_problems(seeded: bool, task: Task, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line where the reason for unknown quality is missing or impossible."""
    reasons = ((flag, without_end(flag, _UNKNOWN, metric=task.primary.words)) for flag in record["flags"])
    explained = {flag: reason for flag, reason in reasons if reason is not None}
    known = [name for name, entry in record["quality"].items() if entry["value"] is not None]
    meaningless = task.meaningless(data.get("classes") or 0)
    unexplained = [name for name in record["quality"] if name not in known and name not in meaningless]
    if unexplained and not explained:
        yield f"flags: no flag gives a reason why {task.primary.words} is unknown"
    if known and explained:
        yield f"flags: {next(iter(explained))!r}, of a run with known {', '.join(known)}"
    if record["schema_version"] == _FIRST_SCHEMA:
        return
    unlabelled = data.get("classes_reason")
    for flag, reason in explained.items():
        if unlabelled:
            possible = same_meaning(reason, str(unlabelled))
        else:
            possible = bool(re.fullmatch(task.reasons_pattern(data), in_present_words(reason)))
            possible |= seeded and is_sentence(reason, [_RANDOM])
        if not possible:
            yield f"flags: {flag!r}: data and weights give no such reason"
    if known and (unlabelled or seeded):
        yield f"quality: {', '.join(known)} are known, and {unlabelled or 'weights are random'}"


PRIMARY = "steady"
"""The window that every workload names, in training and in inference (worker.py)."""

_SEEN_BY_THE_RUN = ("left_behind",)
"""Codes of flags that only the run could raise; all others follow from the record and the study."""

_OF_THE_SAMPLER = ("sampler_died", "sampler_ended")
"""Codes of the reason of a run without a report from its sampling process at the end, see sampling."""


def outcome_problems(package: Opened) -> Iterator[str]:
    """Yield where verdict, samples or throughput are not what the rest of a record gives."""
    for run, record in package.records:
        if isinstance(package.study, FileStudy):
            lines = _imported_verdict(record)
        else:
            lines = _verdict(record, package.study.settings)
        yield from some([*lines, *_pace(record), *_epochs(record)], run.where)


def _verdict(record: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield where status, validity, reasons and flags of a measured run are not those of its verdict."""
    primary = record["windows"].get(record["primary_window"])
    sampler_died = record["sampler"] is None
    explained = any(is_sentence(reason, _OF_THE_SAMPLER, begins=True) for reason in record["reasons"])
    if sampler_died and record["schema_version"] > 1 and not explained:
        yield f"sampler: the record has none, and no reason why: {_listed(record['reasons'])}"
        sampler_died = False
    if record["status"] != OK:
        yield from _failure_problems(record)
        return
    if primary is None or record["workload"] is None:
        yield f"status: the record states ok, of a run without {'a window' if primary is None else 'a workload'}"
        return
    if record["primary_window"] != PRIMARY:
        yield f"primary_window: the record states {record['primary_window']!r}, every workload has {PRIMARY!r}"
    verdict = _judged(record, primary, settings)
    stated_reasons = list(record["reasons"])
    if sampler_died:
        # The first reason is that on the sampling process.
        stated_reasons = stated_reasons[1:]
    if not same(stated_reasons, verdict.reasons):
        yield f"reasons: the record states {_listed(stated_reasons)}, what was seen gives {_listed(verdict.reasons)}"
    if record["valid"] != (not record["reasons"]):
        yield f"valid: the record states {record['valid']}, with {len(record['reasons'])} reasons against it"
    missing, others = unmatched(verdict.flags, record["flags"])
    yield from (f"flags: the record has not {flag!r}" for flag in missing)
    for flag in others:
        if not is_sentence(flag, _SEEN_BY_THE_RUN):
            yield f"flags: {flag!r} follows from nothing"


def _judged(record: Mapping[str, Any], primary: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
    """Return the verdict on a run that ended without an error."""
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


def _failure_problems(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values in the record of a failed run that such a run cannot have."""
    if record["status"] not in (FAILED, UNAVAILABLE):
        yield f"status: the record states {record['status']}"
    if record["valid"] or not record["reasons"]:
        yield f"valid: the record states {record['valid']}, of a run that {record['status']} for {record['reasons']}"
    for name in ("primary_window", "units", "throughput_per_s", "latency", "workload"):
        if record[name] is not None:
            yield f"{name}: the record has one, of a run that {record['status']}"
    if record["quality"] or record["epochs"]:
        yield f"quality: the record has some, of a run that {record['status']}"


def _imported_verdict(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of an imported run that no log gives, and a verdict that its windows do not give."""
    yield from problems_of_unknown(record)
    if record["status"] != OK:
        yield from _failure_problems(record)
        return
    primary = record["windows"].get(record["primary_window"])
    if primary is None:
        yield "status: the record states ok, of a run without a window"
        return
    yield from problems_of_epochs(record)
    reasons, flags = domain_messages(primary["domains"], "reasons"), domain_messages(primary["domains"], "flags")
    yield from differences(
        {"valid": record["valid"], "reasons": record["reasons"]},
        {"valid": not reasons, "reasons": reasons},
        why="its windows give",
    )
    yield from problems_of_flags(record, flags)


def _pace(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield where throughput and latencies do not fit the window."""
    window = record["windows"].get(record["primary_window"])
    units = (record["units"] or {}).get("count")
    rate = units / window["duration_s"] if window and units else None
    stated = {"throughput_per_s": record["throughput_per_s"]}
    yield from differences(stated, {"throughput_per_s": rate}, why="units and seconds give")
    if window and record["latency"] and not is_open(record):
        yield from _latency(record["latency"], window["duration_s"])


def _latency(latency: Mapping[str, Any], duration_s: float) -> Iterator[str]:
    """Yield where latencies do not add up to the window, or percentiles do not ascend.

    The times of single batches are not stored, so percentiles are compared with bounds from the window.
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
        # Batches above the rank took at least `value`, the others at most `value`.
        most = max(most, value * (count - int(-(-rank // 1))))
        upto = int(rank) + 1
        slowest += value * (upto - before) if upto > before else 0.0
        before = max(before, upto)
    if most > duration_s * (1 + 1e-6) or latency["max_s"] * count < duration_s * (1 - 1e-6):
        yield f"latency: its percentiles need {most:.6g} s or more, the window has {duration_s:.6g} s"


def _epochs(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield where epochs are not in sequence with a window each, or do not sum up to the run."""
    epochs = record["epochs"]
    if not epochs:
        return
    names = [f"epoch-{epoch['epoch']}" for epoch in epochs]
    windows = [name for name in record["windows"] if name.startswith("epoch-")]
    if names != [f"epoch-{number}" for number in range(1, len(epochs) + 1)] or set(names) != set(windows):
        yield f"epochs: the record has {', '.join(names)}, its windows are {', '.join(windows) or 'none'}"
    counts = [epoch["units"] for epoch in epochs]
    derived = {"quality": epochs[-1]["quality"], "units": None if None in counts else sum(counts)}
    stated = {"quality": record["quality"], "units": (record["units"] or {}).get("count")}
    yield from differences(stated, derived, why="its epochs give")


def _listed(reasons: list[str]) -> str:
    return "; ".join(reasons) or "none"
