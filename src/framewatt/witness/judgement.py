"""Whether others disturbed a window, by what its witness saw (pure).

What a run does to itself is no disturbance: threads of its own that wait for a processor (`cpu` of the kernel's
pressure stall information, which is kept and not judged), and disks that it reads itself.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_OTHERS = 0.02
"""Share of the usable processors that all others together may take beyond what they take at rest.

What they take at rest (daemons, Snakemake) is in the idle power as well. It counts up to as much again: a machine on
which others took more than that while idle power was measured was not at rest.
"""

MOST_STOLEN = 0.01
"""Share of the usable processors that a hypervisor may take."""

MOST_STALLED = 0.01
"""Share of a window in which some task may wait for memory, or for a disk."""

MOST_MOVED_B_PER_S = 2.0**20
"""Bytes a second that others may read from disks, and that may be swapped: 1 % of what one slow disk gives."""

DISTURBED = "disturbed: "
"""How the flag of a run begins that others disturbed."""

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
"""What is said of each kind of disturbance, with its number."""

_TICK_S = 0.01
"""What processor time is counted in (USER_HZ, which is 100 on every machine that has Linux's drivers of power)."""


@dataclass(frozen=True)
class Seen:
    """What is judged of a window; None is unknown.

    Attributes:
        duration_s: its length.
        unsure_s: seconds at its edges of which nobody knows whether what was counted then is inside.
        usable: processors that the run may use.
        others_cpu_s: processor seconds of all but the run and framewatt itself.
        steal_s: processor seconds that a hypervisor gave to others.
        stalls_s: by what was waited for (`cpu`, `memory`, `io`), seconds in which some task waited.
        disk_read_b: bytes read from disks.
        run_read_b: those of them that the run read.
        swapped_b: bytes swapped in and out.
        at_rest: processors that others took while idle power was measured.
        online: processors of the machine, each of which counts whole ticks by itself.
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
    """Shares of a window, and the judgement.

    Returns:
        `others_share` and `steal_share` of the usable processors, `cpu_stall_share`, `memory_stall_share` and
        `io_stall_share` of the time; `disturbed`: what disturbed it, in words, or None where that is not known;
        `unknown`: why it is not, or None.
    """
    of_processors = seen.duration_s * seen.usable if seen.usable else None
    shares = {
        "others_share": _share(seen.others_cpu_s, of_processors),
        "steal_share": _share(seen.steal_s, of_processors),
        **{f"{name}_stall_share": _share(stall_s, seen.duration_s) for name, stall_s in seen.stalls_s.items()},
    }
    # What was counted at the edges may be of before or after, and processor time is counted in ticks.
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
    """Share of the usable processors that others may take, see MOST_OTHERS.

    Args:
        at_rest: processors that others took while idle power was measured; None is unknown, and adds nothing.
        usable: processors that the run may use; None is unknown.
    """
    return MOST_OTHERS + (min(at_rest / usable, MOST_OTHERS) if at_rest and usable else 0.0)


def told_of_disturbance(witness: Mapping[str, Any] | None) -> list[str]:
    """The flags of a run by what was witnessed of its primary window."""
    return [DISTURBED + cause for cause in (witness or {}).get("disturbed") or []]


def told_of_heat(witness: Mapping[str, Any] | None) -> list[str]:
    """The flag of a run whose processors lowered their clock for heat in its primary window: its own, or others'."""
    throttled = (witness or {}).get("throttled")
    return [f"heat lowered the clock of processors {throttled:.0f} times"] if throttled and throttled >= 0.5 else []


def told_of_gpus(witness: Mapping[str, Any] | None) -> list[str]:
    """The flags of a run on whose GPUs others had processes in its primary window: what these did is not known."""
    return [
        f"{count:.0f} {'process' if count == 1 else 'processes'} of others on {gpu}"
        for gpu, count in ((witness or {}).get("other_processes") or {}).items()
        if count
    ]


def _surely(share: float, edges: float, digit: float, most: float) -> float:
    """The share to hold against a limit: the one found, or where that is not fine enough, the least that it can be.

    At the edges, at most all of the time that is not known was taken, and lay outside of the window.

    Args:
        share: as found, between readings.
        edges: of the window, what lies between an edge and its reading.
        digit: of the window, the last digit of what is counted.
        most: the limit.
    """
    return share if edges + digit <= most else share - edges * (1 - share) - digit


def _surely_moved_b(moved_b: float, edges: float) -> float:
    """The bytes to hold against a limit: what was counted at the edges may be of before or after.

    Args:
        moved_b: as found, between readings.
        edges: of the window, what lies between an edge and its reading.
    """
    return moved_b if edges <= MOST_OTHERS else moved_b * (1 - min(edges, 1.0))


def _digit_s(online: float | None) -> float:
    """Processor seconds by which the work of a machine may be off, since each processor's idle time is in whole ticks.

    Of two processors it is a tick; of many it grows with the root of their number (2.5 standard deviations of as many
    differences of two rounded numbers, so that one quiet window in a hundred is off by more).

    Args:
        online: processors of the machine; None is unknown.
    """
    return _TICK_S * math.sqrt(max((online or 0.0) - 1.0, 1.0))


def kind_of(cause: str) -> str:
    """What kind of disturbance a cause is: its words without its numbers."""
    for kind, text in _TEXTS.items():
        begin, _, end = text.partition("{}")
        if cause.startswith(begin) and cause.endswith(end):
            return kind
    return cause


def _number(value: float) -> str:
    """Two digits, and never as a power of ten."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _read_by_others_b(seen: Seen) -> float | None:
    """What others read from disks; where nobody knows what the run read, all of it."""
    return None if seen.disk_read_b is None else max(seen.disk_read_b - (seen.run_read_b or 0.0), 0.0)


def _reads_most(seen: Seen) -> bool:
    """Whether a run reads so much itself that whoever waits for disks may be waiting for its own reading."""
    return bool(seen.run_read_b and seen.disk_read_b is not None and seen.run_read_b > seen.disk_read_b / 2)
