"""How well a measured run can have done: the metrics that there are, known together, or unknown for a known reason."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.tasks.classification import NAMES

_UNKNOWN = ", so accuracy is unknown"
_OF_OUTPUTS = r"outputs are not numbers|outputs of shape \([\d, ]+\) are no scores of \d+ classes"
_RANDOM = "weights are random"
_FIRST_SCHEMA = 1
"""Of records from before reasons had the words that they have now."""


def problems_of_quality(phase: str, seeded: bool, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Metrics of other names than there are, a reason to know none beside some, or another than there can be.

    Args:
        phase: of the run's cell, `train` or `infer`.
        seeded: whether its weights are random.
        data: the record of its data set.
        record: of a measured run that is ok.
    """
    named = [("metrics", record["metrics"])]
    named += [(f"epoch {epoch['epoch']}: metrics", epoch["metrics"]) for epoch in record["epochs"]]
    for where, metrics in named:
        if set(metrics) != set(NAMES):
            yield f"{where}: the record has {', '.join(metrics) or 'none'}; allowed: {', '.join(NAMES)}"
        if len({value is None for value in metrics.values()}) > 1:
            yield f"{where}: some are known and some are not"
    if phase == "train" and record["latency"] is not None:
        yield "latency: the record has one, of a training"
    if phase != "train" and record["epochs"]:
        yield f"epochs: the record has {len(record['epochs'])}, of an inference"
    yield from _of_reasons(seeded, data, record)


def _of_reasons(seeded: bool, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Where the reason why accuracy is unknown is missing, or is none."""
    reasons = [flag.removesuffix(_UNKNOWN) for flag in record["flags"] if flag.endswith(_UNKNOWN)]
    known = [name for name, value in record["metrics"].items() if value is not None]
    if len(known) < len(record["metrics"]) and not reasons:
        yield "flags: none says why accuracy is unknown"
    if known and reasons:
        yield f"flags: {reasons[0] + _UNKNOWN!r}, of a run whose {', '.join(known)} are known"
    if record["schema_version"] == _FIRST_SCHEMA:
        return
    unlabelled = data.get("classes_reason")
    allowed = re.escape(str(unlabelled)) if unlabelled else f"{_OF_OUTPUTS}|{_RANDOM}" if seeded else _OF_OUTPUTS
    for reason in reasons:
        if not re.fullmatch(allowed, reason):
            yield f"flags: {reason + _UNKNOWN!r}: data and weights give no such reason"
    if known and (unlabelled or seeded):
        yield f"metrics: {', '.join(known)} are known, and {unlabelled or _RANDOM}"
