"""Records of imported runs: what their logs cannot tell is unknown, and of what these tell nothing is missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.package.verification.compare import differences
from framewatt.package.verification.imported_channels import WITHOUT_READINGS
from framewatt.sources.assemble import FROM_THE_LOG, PROCESS, STEADY
from framewatt.sources.epochs import METRICS
from framewatt.sources.importing import unknown_of
from framewatt.verdict import FAILED, OK

_NOTHING: Mapping[str, Any] = {"machine": {}, "preflight": []}
"""What stands for unknown where it is not null."""

_NEVER = ("returned_to_idle", "lock", "chain")
"""What a record has of a measurement, and none of an import, with no reason needed."""


def problems_of_unknown(record: Mapping[str, Any]) -> Iterator[str]:
    """Where a record knows what no log tells, or says otherwise why it does not.

    Args:
        record: of an imported run, also one that failed.
    """
    if record["status"] not in (OK, FAILED):
        yield f"status: the record says {record['status']!r}, of an imported run"
    unknown = unknown_of(clock=record["status"] != OK or record["clock"]["utc"] is not None)
    told = {"unknown": record.get("unknown"), "clock": record["clock"].get("monotonic_ns")}
    yield from differences(told, {"unknown": unknown, "clock": 0}, why="an import gives")
    names = [*(name for name in unknown if name not in ("clock", "position")), *_NEVER, *_NOTHING]
    for name in dict.fromkeys(names):
        if record.get(name) != _NOTHING.get(name):
            yield f"{name}: the record says {str(record[name])[:60]!r}, which no log tells"


def problems_of_epochs(record: Mapping[str, Any]) -> Iterator[str]:
    """Where epochs, metrics and windows are not such as the run's logs can tell of.

    Args:
        record: of an imported run that is ok.
    """
    epochs = record["epochs"]
    told = any(file["reader"] == WITHOUT_READINGS for file in record["files"])
    if bool(epochs) != told:
        yield f"epochs: the record has {len(epochs)}, and {'a' if told else 'no'} log of epochs is among the run's"
    if record["metrics"] and not epochs:
        yield f"metrics: the record has {', '.join(record['metrics'])}, which no log tells"
    columns = list(epochs[0]["metrics"]) if epochs else []
    for epoch in epochs:
        names = list(epoch["metrics"])
        if strange := sorted(set(names) - set(METRICS)):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(strange)}; allowed: {', '.join(METRICS)}"
        if sorted(names) != sorted(columns):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(names) or 'no metric'}, the first has others"
        if epoch["samples_processed"] is not None or epoch["loss_mean"] is not None:
            yield f"epochs: epoch {epoch['epoch']} has samples or a loss, which no log tells"
    windows = {PROCESS, *(f"epoch-{number}" for number in range(1, len(epochs) + 1))} | ({STEADY} if epochs else set())
    if set(record["windows"]) != windows:
        yield f"windows: the record has {', '.join(record['windows'])}; its epochs give {', '.join(sorted(windows))}"
    if record["primary_window"] != (STEADY if epochs else PROCESS):
        yield f"primary_window: the record says {record['primary_window']!r}, with {len(epochs)} epochs"
    if epochs and FROM_THE_LOG not in record["flags"]:
        yield f"flags: the record has not {FROM_THE_LOG!r}"
