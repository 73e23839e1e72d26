"""Records of imported runs: what their logs cannot tell is unknown, and of what these tell nothing is missing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framewatt.imports.assemble import FROM_THE_LOG, PROCESS, STEADY
from framewatt.imports.epochs import METRICS
from framewatt.imports.importing import unknown_of
from framewatt.package.verification.compare import differences
from framewatt.package.verification.imported_channels import WITHOUT_READINGS
from framewatt.runs.verdict import FAILED, OK

_NOTHING: Mapping[str, Any] = {"machine": {}, "preflight": []}
"""What stands for unknown where it is not null."""

_OF_LOGS = re.compile(
    r"line \d+ of .+ (is cut short and left out|has no end, and may be cut short)"
    r"|epochs end at whole seconds, so that their edges may be up to a second off"
    r"|.+: \d+ readings failed before the first or after the last good one"
    r"|.+: readings came [+-]\d+\.\d % off the stated interval, to fill the run",
    re.DOTALL,
)
"""Flags that readers and the putting together of logs give, beside those of windows."""

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
    if record["quality"] and not epochs:
        yield f"quality: the record has {', '.join(record['quality'])}, which no log tells"
    columns = list(epochs[0]["quality"]) if epochs else []
    for epoch in epochs:
        names = list(epoch["quality"])
        if strange := sorted(set(names) - set(METRICS)):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(strange)}; allowed: {', '.join(METRICS)}"
        if sorted(names) != sorted(columns):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(names) or 'no metric'}, the first has others"
        if epoch["units"] is not None or epoch["loss_mean"] is not None:
            yield f"epochs: epoch {epoch['epoch']} has units of work or a loss, which no log tells"
    windows = {PROCESS, *(f"epoch-{number}" for number in range(1, len(epochs) + 1))} | ({STEADY} if epochs else set())
    if set(record["windows"]) != windows:
        yield f"windows: the record has {', '.join(record['windows'])}; its epochs give {', '.join(sorted(windows))}"
    if record["primary_window"] != (STEADY if epochs else PROCESS):
        yield f"primary_window: the record says {record['primary_window']!r}, with {len(epochs)} epochs"


def problems_of_flags(record: Mapping[str, Any], of_windows: Sequence[str]) -> Iterator[str]:
    """Flags that the run's epochs or windows give and that are missing, and others than logs can give.

    Args:
        record: of an imported run that is ok.
        of_windows: what its primary window gives.
    """
    given = [*([FROM_THE_LOG] if record["epochs"] else []), *of_windows]
    yield from (f"flags: the record has not {flag!r}" for flag in given if flag not in record["flags"])
    for flag in record["flags"]:
        if flag not in given and not _OF_LOGS.fullmatch(flag):
            yield f"flags: {flag!r} follows from nothing"
