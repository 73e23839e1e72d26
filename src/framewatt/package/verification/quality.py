"""How well a measured run can have done: the metrics that there are, known together, or unknown for a known reason."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.tasks.classification import TOP_1, TOP_5
from framewatt.tasks.contract import Task
from framewatt.tasks.detection import NO_OBJECTS, Detection, objects_in
from framewatt.tasks.quality import Quality

_OF_OUTPUTS = (
    r"outputs are not numbers|some token is more probable than 1|\d+ candidates a user; allowed: more than \d+, .*|"
    r"outputs of shape \([\d, ]+\) are (no scores of \d+ classes( a token)?|not one score a pair|"
    r"no likelihoods of \([\d, ]+\) tokens)"
)
_OF_DETECTIONS = (
    r"outputs of shape \([\d, ]+\), \w+, are no detections; allowed: \(\d+, any, \d+\) of floats|"
    r"(scores|masks) are \S+ to \S+; allowed: 0 to 1(, or -1 for no detection)?|"
    r"classes are \S+ to \S+; allowed: whole numbers, 0 to \d+(, 0 for the first category)?|"
    r"boxes end before they begin; allowed: left, top, right, bottom"
)
"""What is wrong with outputs, of any task and of detections."""

_ROUNDED = 1e-6
"""How far two ways to count the same share may be apart."""

_RANDOM = "weights are random"
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
    if record["units"] and record["units"]["name"] != task.unit:
        yield f"units: the record counts {record['units']['name']}s; allowed: {task.unit}s"
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
        yield f": the record has {', '.join(quality) or 'none'}; allowed: {allowed}"
    meaningless = task.meaningless(data.get("classes") or 0)
    if len({told["value"] is None for name, told in quality.items() if name not in meaningless}) > 1:
        yield ": some are known and some are not"
    for name in meaningless.keys() & quality.keys():
        if quality[name]["value"] is not None:
            yield f".{name}: the record says {quality[name]['value']:.6g}, and {meaningless[name]}"
    yield from _of_errors(quality, data)
    for metric in metrics:
        told = quality.get(metric.name)
        if told is None:
            continue
        if (told["unit"], told["better"]) != (metric.unit, metric.better):
            found = f"better {told['better']}, unit {told['unit']!r}"
            yield f".{metric.name}: the record says {found}; allowed: better {metric.better}, unit {metric.unit!r}"
        if told["value"] is not None and told["reason"] is not None:
            yield f".{metric.name}: the record has a value, and a reason why there is none"
        if told["value"] is not None and not metric.is_possible(told["value"]):
            what = "share" if metric.is_share() else "value of it"
            yield f".{metric.name}: the record says {told['value']:.6g}, which is no {what}"


def _of_errors(quality: Quality, data: Mapping[str, Any]) -> Iterator[str]:
    """An error of the best class that accuracy does not give; one of the best five that no number of samples gives."""
    accuracy, top_1, top_5 = (quality.get(name, {}).get("value") for name in ("accuracy", TOP_1.name, TOP_5.name))
    if accuracy is not None and top_1 is not None and abs(1 - accuracy - top_1) > _ROUNDED:
        yield f".{TOP_1.name}: the record says {top_1:.6g}, its accuracy gives {1 - accuracy:.6g}"
    if top_5 is None:
        return
    samples = data["test_samples"]
    if abs(top_5 * samples - round(top_5 * samples)) > _ROUNDED * samples:
        yield f".{TOP_5.name}: the record says {top_5:.6g}, which is no whole number of {samples} samples"


def _of_reasons(seeded: bool, task: Task, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Where the reason why quality is unknown is missing, or is none."""
    unknown = f", so {task.primary.words} is unknown"
    reasons = [flag.removesuffix(unknown) for flag in record["flags"] if flag.endswith(unknown)]
    known = [name for name, told in record["quality"].items() if told["value"] is not None]
    meaningless = task.meaningless(data.get("classes") or 0)
    unexplained = [name for name in record["quality"] if name not in known and name not in meaningless]
    if unexplained and not reasons:
        yield f"flags: none says why {task.primary.words} is unknown"
    if known and reasons:
        yield f"flags: {reasons[0] + unknown!r}, of a run whose {', '.join(known)} are known"
    if record["schema_version"] == _FIRST_SCHEMA:
        return
    unlabelled = data.get("classes_reason")
    found = [_OF_OUTPUTS, *([_RANDOM] if seeded else []), *([_OF_DETECTIONS] if isinstance(task, Detection) else [])]
    if isinstance(task, Detection) and objects_in(data) == 0:
        found.append(NO_OBJECTS)
    allowed = re.escape(str(unlabelled)) if unlabelled else "|".join(found)
    for reason in reasons:
        if not re.fullmatch(allowed, reason):
            yield f"flags: {reason + unknown!r}: data and weights give no such reason"
    if known and (unlabelled or seeded):
        yield f"quality: {', '.join(known)} are known, and {unlabelled or _RANDOM}"
