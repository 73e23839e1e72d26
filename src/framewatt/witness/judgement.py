"""Decides from the witness's data whether others disturbed a window, and what a study does with a disturbed run (pure).

What a run does to itself is no disturbance: its own threads waiting for a processor (`cpu` of the kernel's pressure
stall information, which is recorded but not judged), and its own disk reads.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FLAG, REPEAT, SET_ASIDE, INVALID = "flag", "repeat", "set_aside", "invalid"
"""Values of a study's `disturbance`: keep the run with a flag; measure it again, and the second try counts; the same,
but set it aside where others disturbed the second try too much (runs.aside); mark it invalid."""

DEFAULT = SET_ASIDE
"""The default."""

REPEATING = (REPEAT, SET_ASIDE)
"""Those that measure a disturbed run again. The hash of a job is the same under either, so that runs stay valid."""


def disturbance_of(job: Mapping[str, Any]) -> str:
    """Return the policy for disturbed runs of a job or a study's settings; the default if the key is missing."""
    return str(job.get("disturbance", DEFAULT))


MOST_OTHERS = 0.02
"""Largest share of the usable processors that all others together may take, on top of their share at rest.

What others (daemons, Snakemake) take at rest is part of idle power, too. It raises the limit to at most twice: if
others took more while idle power was measured, the machine was not at rest.
"""

MOST_STOLEN = 0.01
"""Largest share of the usable processors that a hypervisor may take."""

MOST_STALLED = 0.01
"""Largest share of a window in which some task may wait for memory, or for a disk."""

MOST_MOVED_B_PER_S = 2.0**20
"""Most bytes per second that others may read from disks, and that may be swapped: 1 % of a slow disk's rate."""

DISTURBED = "disturbed: "
"""Prefix of the flag of a run that others disturbed."""

OTHERS, HYPERVISOR, MEMORY = "other work", "the hypervisor", "a shortage of memory"
DISKS, READS, SWAPPING = "waits for disks", "others' reading from disks", "swapping"

_TEXTS = {
    OTHERS: "other work took {} % of the processors",
    HYPERVISOR: "the hypervisor took {} % of the processors",
    MEMORY: "tasks waited for memory for {} % of the time",
    DISKS: "tasks waited for disks for {} % of the time",
    READS: "others read {} MB/s from disks",
    SWAPPING: "{} MB/s were swapped",
}
"""Message for each kind of disturbance, with its number."""

_TICK_S = 0.01
"""Unit of the kernel's processor times (USER_HZ, which is 100 on every machine with Linux's power drivers)."""


@dataclass(frozen=True)
class Seen:
    """The witness's data of a window; None is unknown.

    Attributes:
        duration_s: its length.
        unsure_s: seconds between its edges and the readings next to them: counts from then may be inside or outside.
        usable: processors that the run may use.
        others_cpu_s: processor seconds of everything but the run and framewatt itself.
        steal_s: processor seconds that a hypervisor gave to others.
        stalls_s: seconds in which some task waited, by resource (`cpu`, `memory`, `io`).
        disk_read_b: bytes read from disks.
        run_read_b: the part of them that the run itself read.
        swapped_b: bytes swapped in and out.
        at_rest: processors that others took while idle power was measured.
        online: processors of the machine; each counts its time in whole ticks.
    """

    duration_s: float
    unsure_s: float
    usable: float | None
    others_cpu_s: float | None
    steal_s: float | None
    stalls_s: Mapping[str, float | None]
    disk_read_b: float | None
    run_read_b: float | None
    swapped_b: float | None
    at_rest: float | None = None
    online: float | None = None


def judge_window(seen: Seen) -> dict[str, Any]:
    """Return the shares of a window, and whether it was disturbed.

    Returns:
        `others_share` and `steal_share` of the usable processors, `cpu_stall_share`, `memory_stall_share` and
        `io_stall_share` of the time; `disturbed`: causes in words, or None if unknown; `unknown`: why it is unknown, or
        None.
    """
    of_processors = seen.duration_s * seen.usable if seen.usable else None
    shares = {
        "others_share": _share(seen.others_cpu_s, of_processors),
        "steal_share": _share(seen.steal_s, of_processors),
        **{f"{name}_stall_share": _share(stall_s, seen.duration_s) for name, stall_s in seen.stalls_s.items()},
    }
    # Counts near the edges may lie outside the window, and processor time is counted in ticks.
    edges = seen.unsure_s / seen.duration_s
    tick = _digit_s(seen.online) / of_processors if of_processors else 0.0
    most_others = most_of_others(seen.at_rest, seen.usable)
    limits = {
        OTHERS: (shares["others_share"], most_others, tick),
        HYPERVISOR: (shares["steal_share"], MOST_STOLEN, tick),
        MEMORY: (shares.get("memory_stall_share"), MOST_STALLED, 0.0),
        DISKS: (None if _reads_most(seen) else shares.get("io_stall_share"), MOST_STALLED, 0.0),
    }
    disturbed = [
        _TEXTS[kind].format(_number(100 * share))
        for kind, (share, most, digit) in limits.items()
        if share is not None and _surely(share, edges, digit, most) > most
    ]
    disturbed += [
        _TEXTS[kind].format(_number(moved_b / seen.duration_s * 1e-6))
        for kind, moved_b in {READS: _read_by_others_b(seen), SWAPPING: seen.swapped_b}.items()
        if moved_b is not None and _surely_moved_b(moved_b, edges) > MOST_MOVED_B_PER_S * seen.duration_s
    ]
    unknown = None
    if shares["others_share"] is None:
        unknown = "the kernel does not tell the work of others"
    elif edges + tick > most_others:
        unknown = "too short, or not read close enough to its edges, to tell the work of others from none"
    return {**shares, "disturbed": disturbed if disturbed or unknown is None else None, "unknown": unknown}


def most_of_others(at_rest: float | None, usable: float | None) -> float:
    """Return the largest share of the usable processors that others may take, see MOST_OTHERS.

    Args:
        at_rest: processors that others took while idle power was measured; None is unknown, and adds nothing.
        usable: processors that the run may use; None is unknown.
    """
    return MOST_OTHERS + (min(at_rest / usable, MOST_OTHERS) if at_rest and usable else 0.0)


def disturbance_flags(witness: Mapping[str, Any] | None) -> list[str]:
    """Return the flags of a run for disturbances of its primary window."""
    return [DISTURBED + cause for cause in (witness or {}).get("disturbed") or []]


def heat_flags(witness: Mapping[str, Any] | None) -> list[str]:
    """Return the flag of a run if heat throttled its processors in its primary window, through any load."""
    throttled = (witness or {}).get("throttled")
    return [f"heat lowered the clock of processors {throttled:.0f} times"] if throttled and throttled >= 0.5 else []


def gpu_flags(witness: Mapping[str, Any] | None) -> list[str]:
    """Return the flags of a run for other processes on its GPUs in its primary window, whatever these processes did."""
    return [
        f"{count:.0f} {'process' if count == 1 else 'processes'} of others on {gpu}"
        for gpu, count in ((witness or {}).get("other_processes") or {}).items()
        if count
    ]


def _surely(share: float, edges: float, digit: float, most: float) -> float:
    """Return the share to compare with a limit: the measured share or, if that is too uncertain, its lower bound.

    The lower bound assumes that others were busy all through the unsure time at the edges, outside the window.

    Args:
        share: as measured, between readings.
        edges: time between edges and readings, as a share of the window.
        digit: resolution of the counter, as a share of the window.
        most: the limit.
    """
    return share if edges + digit <= most else share - edges * (1 - share) - digit


def _surely_moved_b(moved_b: float, edges: float) -> float:
    """Return the bytes to compare with a limit: their lower bound if the edges are too uncertain.

    Args:
        moved_b: as measured, between readings.
        edges: time between edges and readings, as a share of the window.
    """
    return moved_b if edges <= MOST_OTHERS else moved_b * (1 - min(edges, 1.0))


def _digit_s(online: float | None) -> float:
    """Return the error of a machine's work in processor seconds: the idle time of a processor counts in whole ticks.

    It is one tick for two processors, and grows with the square root of their number (2.5 standard deviations of as
    many differences of two rounded numbers, so that one quiet window in a hundred is off by more).

    Args:
        online: processors of the machine; None is unknown.
    """
    return _TICK_S * math.sqrt(max((online or 0.0) - 1.0, 1.0))


def kind_of(cause: str) -> str:
    """Return the kind of disturbance of a cause: its text without the number."""
    for kind, text in _TEXTS.items():
        begin, _, end = text.partition("{}")
        if cause.startswith(begin) and cause.endswith(end):
            return kind
    return cause


def _number(value: float) -> str:
    """Return two significant digits, never in exponential notation."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _read_by_others_b(seen: Seen) -> float | None:
    """Return bytes that others read from disks; all bytes read if the run's own share is unknown."""
    return None if seen.disk_read_b is None else max(seen.disk_read_b - (seen.run_read_b or 0.0), 0.0)


def _reads_most(seen: Seen) -> bool:
    """Return whether a run reads over half of the bytes itself, so that waits for disks may be due to its own reads."""
    return bool(seen.run_read_b and seen.disk_read_b is not None and seen.run_read_b > seen.disk_read_b / 2)
