"""Detects steps of the wall clock against the monotonic one. UTC timestamps come from the wall clock, durations never.

CLOCK_MONOTONIC is slewed together with the wall clock, so both move apart only where the wall clock is set (by hand, by
NTP's first correction, by a leap second) or where the machine sleeps, while CLOCK_MONOTONIC stands still.
"""

import itertools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from framewatt.host.machine import session_of
from framewatt.study.records import RunRecord

TOLERANCE_S = 0.5
"""Largest difference that reading two clocks in turn may cause on a busy machine; a leap second is more."""

_TRIES = 5


@dataclass(frozen=True)
class Instant:
    """The same instant on both clocks, in nanoseconds.

    Attributes:
        monotonic_ns: CLOCK_MONOTONIC.
        wall_ns: since 1970.
    """

    monotonic_ns: int
    wall_ns: int

    @classmethod
    def now(cls) -> "Instant":
        """Both clocks, read as close together as possible."""
        tries = [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(_TRIES)]
        before_ns, wall_ns, after_ns = min(tries, key=lambda read: read[2] - read[0])
        return cls((before_ns + after_ns) // 2, wall_ns)

    @property
    def utc(self) -> str:
        """ISO 8601."""
        return datetime.fromtimestamp(self.wall_ns * 1e-9, UTC).isoformat()

    def moved_s(self, earlier: "Instant") -> float:
        """Return the seconds by which the wall clock advanced more than the monotonic one since `earlier`."""
        return ((self.wall_ns - earlier.wall_ns) - (self.monotonic_ns - earlier.monotonic_ns)) * 1e-9


def step_within(clock: Mapping[str, Any]) -> str | None:
    """Return the flag of a run during which the clocks moved apart, or None.

    Args:
        clock: the record's; older records lack `moved_s`.
    """
    moved_s = clock.get("moved_s") or 0.0
    if abs(moved_s) <= TOLERANCE_S:
        return None
    return f"{_moved(moved_s)} during the run: its times in UTC go by the clock at its start"


def steps_between(records: Iterable[RunRecord]) -> dict[tuple[str, int], str]:
    """Flags of runs where the clocks moved apart between the previous run and this one, by cell and repetition.

    Runs of different boots or machines share no monotonic clock, and imported runs have none.

    Args:
        records: of one study, in any order; of each, its clock alone is kept.
    """
    known = []
    for record in records:
        clock, boot = record["clock"], session_of(record["machine"] or {})
        if record.get("source", "measured") == "measured" and clock["utc"] and boot:
            run = record["cell_id"], record["repetition"]
            known.append((boot, clock["monotonic_ns"], offset_s(record), clock.get("moved_s") or 0.0, run))
    known.sort(key=lambda of: of[:2])
    flags = {}
    for (boot, _, before_s, within_s, _), (later_boot, _, after_s, _, run) in itertools.pairwise(known):
        moved_s = after_s - before_s - within_s
        if boot == later_boot and abs(moved_s) > TOLERANCE_S:
            flags[run] = f"{_moved(moved_s)} before the run: times in UTC of earlier runs are of another clock"
    return flags


def _moved(moved_s: float) -> str:
    return f"the wall clock was set by {moved_s:+.1f} s, or the machine slept,"


def offset_s(record: RunRecord) -> float:
    """Return by how many seconds the wall clock is ahead of the monotonic clock in a run that has both."""
    clock = record["clock"]
    assert clock["utc"] is not None
    since = datetime.fromisoformat(clock["utc"]) - datetime(1970, 1, 1, tzinfo=UTC)
    return since.total_seconds() - float(clock["monotonic_ns"]) * 1e-9
