"""When each node worked, by the records of its runs and of its idle power: whether two measurements overlapped on one.

Within a session of a node, spans are compared on its monotonic clock, which nobody sets; between nodes by their wall
clocks, which are as alike as their administrators keep them.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from framewatt.host.machine import session_of
from framewatt.study.records import RunRecord


@dataclass(frozen=True)
class Occupied:
    """One run's time on its node.

    Attributes:
        node: alias; "" where the study has no nodes.
        session: of the node.
        name: `<cell>/<repetition>`.
        block: of the run.
        span_ns: first and last edge of its windows, by CLOCK_MONOTONIC.
        span_utc: the same, by the wall clock.
    """

    node: str
    session: str | None
    name: str
    block: int
    span_ns: tuple[int, int]
    span_utc: tuple[datetime, datetime]


def occupied(records: Iterable[RunRecord]) -> list[Occupied]:
    """Return the time of every run that has windows, sorted by start.

    Args:
        records: of runs, schema-checked. Runs that were read from files have no clock and are left out.
    """
    occupied_times = []
    for record in records:
        windows = [window for window in record["windows"].values() if window["start_utc"] and window["end_utc"]]
        if not windows:
            continue
        starts_utc, ends_utc = (
            [datetime.fromisoformat(str(edge)) for edge in edges]
            for edges in zip(*((window["start_utc"], window["end_utc"]) for window in windows), strict=True)
        )
        occupied_times.append(
            Occupied(
                record.get("node", ""),
                session_of(record["machine"] or {}),
                f"{record['cell_id']}/{record['repetition']}",
                record["block"],
                (
                    min(window["start_monotonic_ns"] for window in windows),
                    max(window["end_monotonic_ns"] for window in windows),
                ),
                (min(starts_utc), max(ends_utc)),
            )
        )
    return sorted(occupied_times, key=lambda one: one.span_utc)


def overlaps(runs: Sequence[Occupied]) -> list[tuple[Occupied, Occupied]]:
    """Return pairs of runs that were measured at the same time on one node, in one session of it.

    Args:
        runs: see occupied.
    """
    places: defaultdict[tuple[str, str | None], list[Occupied]] = defaultdict(list)
    for run in runs:
        places[run.node, run.session].append(run)
    pairs = []
    for on_node in places.values():
        last: Occupied | None = None
        for run in sorted(on_node, key=lambda one: one.span_ns):
            if last and run.span_ns[0] < last.span_ns[1]:
                pairs.append((last, run))
            last = run if last is None or run.span_ns[1] > last.span_ns[1] else last
    return pairs


def at_once_s(runs: Sequence[Occupied]) -> float:
    """Return the seconds in which more than one node measured.

    Args:
        runs: see occupied.
    """
    edges = sorted(
        itertools.chain.from_iterable(((run.span_utc[0], 1, run.node), (run.span_utc[1], -1, run.node)) for run in runs)
    )
    busy: defaultdict[str, int] = defaultdict(int)
    seconds, before = 0.0, None
    for moment, change, node in edges:
        if before is not None and sum(count > 0 for count in busy.values()) > 1:
            seconds += (moment - before).total_seconds()
        busy[node] += change
        before = moment
    return seconds
