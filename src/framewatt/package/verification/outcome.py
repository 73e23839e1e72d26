"""The outcome of a run: whether it counts, how much it processed, how quickly and how well, also under an open loop."""

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
    """Whether requests arrived at a rate in a run, by its record."""
    return "open_loop" in (record["latency"] or {})


def open_loop_problems(cell: Cell, record: Mapping[str, Any], minimum_s: float, test_samples: int) -> Iterator[str]:
    """Where rate, requests, batches, latencies and the window of an inference do not fit together.

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
    told = {"rate_per_s": loop["rate_per_s"], "requests": loop["requests"]}
    yield from differences(told, {"rate_per_s": rate_per_s, "requests": requests}, why="the study file gives")
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
"""Of records from before reasons had the words that they have now."""


def problems_of_quality(
    phase: str, seeded: bool, task: Task, data: Mapping[str, Any], record: Mapping[str, Any]
) -> Iterator[str]:
    """Metrics of other names than there are, a reason to know none beside some, or another than there can be.

    Args:
        phase: of the run's cell, `train` or `infer`.
        seeded: whether its weights are random.
        task: what its data set asks.
        data: the record of its data set.
        record: of a measured run that is ok.
    """
    named = [("quality", record["quality"])]
    named += [(f"epoch {epoch['epoch']}: quality", epoch["quality"]) for epoch in record["epochs"]]
    for where, quality in named:
        yield from (f"{where}{problem}" for problem in _of_metrics(task, data, quality, record["schema_version"]))
        yield from quality_mismatches(task, data, quality, where)
    if record["units"] and record["units"]["name"] != task.unit:
        yield f"units: the record counts {record['units']['name']}s. The task counts {task.unit}s."
    if phase == "train" and record["latency"] is not None:
        yield "latency: the record has one, of a training"
    if phase != "train" and record["epochs"]:
        yield f"epochs: the record has {len(record['epochs'])}, of an inference"
    yield from _of_reasons(seeded, task, data, record)


def _of_metrics(task: Task, data: Mapping[str, Any], quality: Quality, version: int) -> Iterator[str]:
    """Other metrics than the task's, some of them known and some not, or values that cannot be."""
    metrics = [metric for metric in task.metrics if metric.since <= version]
    if set(quality) != {metric.name for metric in metrics}:
        allowed = ", ".join(metric.name for metric in metrics)
        yield f": the record has {', '.join(quality) or 'none'}. The task has {allowed}."
    meaningless = task.meaningless(data.get("classes") or 0)
    if len({told["value"] is None for name, told in quality.items() if name not in meaningless}) > 1:
        yield ": some are known and some are not"
    for name in meaningless.keys() & quality.keys():
        if quality[name]["value"] is not None:
            yield f".{name}: the record states {quality[name]['value']:.6g}, and {meaningless[name]}"
    for metric in metrics:
        told = quality.get(metric.name)
        if told is None:
            continue
        if (told["unit"], told["better"]) != (metric.unit, metric.better):
            found = f"better {told['better']}, unit {told['unit']!r}"
            yield f".{metric.name}: the record states {found}. It has to be {metric.better}, {metric.unit!r}."
        if told["value"] is not None and told["reason"] is not None:
            yield f".{metric.name}: the record has a value, and a reason why there is none"
        if told["value"] is not None and not metric.is_possible(told["value"]):
            what = "share" if metric.is_share() else "value of it"
            yield f".{metric.name}: the record states {told['value']:.6g}, which is no {what}"


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


def _of_reasons(seeded: bool, task: Task, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Where the reason why quality is unknown is missing, or is none."""
    found = ((flag, without_end(flag, _UNKNOWN, metric=task.primary.words)) for flag in record["flags"])
    explained = {flag: reason for flag, reason in found if reason is not None}
    known = [name for name, told in record["quality"].items() if told["value"] is not None]
    meaningless = task.meaningless(data.get("classes") or 0)
    unexplained = [name for name in record["quality"] if name not in known and name not in meaningless]
    if unexplained and not explained:
        yield f"flags: none says why {task.primary.words} is unknown"
    if known and explained:
        yield f"flags: {next(iter(explained))!r}, of a run whose {', '.join(known)} are known"
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

_TOLD_BY_THE_RUN = ("left_behind",)
"""Codes of flags of what only the run saw; all others follow from the record and the study."""

_OF_THE_SAMPLER = ("sampler_died", "sampler_ended")
"""Codes of the reason of a run whose sampling process did not report at its end, see sampling."""


def outcome_problems(package: Opened) -> Iterator[str]:
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
    says_so = any(is_sentence(reason, _OF_THE_SAMPLER, begins=True) for reason in record["reasons"])
    if sampler_died and record["schema_version"] > 1 and not says_so:
        yield f"sampler: the record has none, and no reason why: {_listed(record['reasons'])}"
        sampler_died = False
    if record["status"] != OK:
        yield from _of_failed(record)
        return
    if primary is None or record["workload"] is None:
        yield f"status: the record states ok, of a run without {'a window' if primary is None else 'a workload'}"
        return
    if record["primary_window"] != PRIMARY:
        yield f"primary_window: the record states {record['primary_window']!r}, every workload says {PRIMARY!r}"
    found = _judged(record, primary, settings)
    told_reasons = list(record["reasons"])
    if sampler_died:
        # What became of the sampling process comes first.
        told_reasons = told_reasons[1:]
    if not same(told_reasons, found.reasons):
        yield f"reasons: the record states {_listed(told_reasons)}, what was seen gives {_listed(found.reasons)}"
    if record["valid"] != (not record["reasons"]):
        yield f"valid: the record states {record['valid']}, with {len(record['reasons'])} reasons against it"
    missing, others = unmatched(found.flags, record["flags"])
    yield from (f"flags: the record has not {flag!r}" for flag in missing)
    for flag in others:
        if not is_sentence(flag, _TOLD_BY_THE_RUN):
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
        yield f"status: the record states {record['status']}"
    if record["valid"] or not record["reasons"]:
        yield f"valid: the record states {record['valid']}, of a run that {record['status']} for {record['reasons']}"
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
