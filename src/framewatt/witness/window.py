"""The witness's data of a window: differences of its counters between the edges, also as columns of a frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from framewatt.meters.contract import COUNTER, WITNESS, Channel
from framewatt.meters.trace import Readings
from framewatt.witness.instrument import MACHINE, ONLINE, OTHER_PROCESSES, RUN, USABLE
from framewatt.witness.judgement import Seen, judge_window
from framewatt.witness.machine_wide import worked_s

Spans = Sequence[tuple[int, int]]

COUNTED = {
    (RUN, "cpu_s"): "run_cpu_s",
    (RUN, "own_cpu_s"): "own_cpu_s",
    (RUN, "involuntary_switches"): "involuntary_switches",
    (RUN, "minor_faults"): "minor_faults",
    (RUN, "major_faults"): "major_faults",
    (RUN, "read_b"): "run_read_b",
    (MACHINE, "major_faults"): "machine_major_faults",
    (MACHINE, "swapped_b"): "swapped_b",
    (MACHINE, "disk_read_b"): "disk_read_b",
    (MACHINE, "throttled"): "throttled",
}
"""Channel -> name of its difference in a record."""

_STALLS = ("cpu", "memory", "io")

_TREMBLE_TICKS = 5
"""A counter may go back by this many ticks without a reset: idle time is summed up while it changes."""


Witness = Mapping[tuple[str, str], tuple[Channel, Any, Any]]
"""A witness's channels by domain and quantity, each with its times, shape (n,), ascending, and values, shape (n,), NaN
where a read failed."""


def witness_of(trace: Readings) -> Witness:
    """What the witness of a run read; empty where the run had none."""
    return {
        (channel.domain, channel.quantity): (channel, *trace.read_channel(index))
        for index, channel in enumerate(trace.channels)
        if channel.instrument == WITNESS
    }


def witnessed(readings: Witness, spans: Spans, at_rest: float | None = None) -> dict[str, Any] | None:
    """Return the witness's entry in a window's record; None where the run had no witness.

    Args:
        readings: what it read.
        spans: the parts of the window, start and end in nanoseconds.
        at_rest: processors that others took while idle power was measured, see others_at_rest.
    """
    if not readings:
        return None
    values: dict[tuple[str, str], float | None] = {}
    for key, (channel, time_ns, value) in readings.items():
        if channel.quantity == OTHER_PROCESSES:
            continue
        counted = channel.kind == COUNTER
        values[key] = _rise(channel, time_ns, value, spans) if counted else _constant(time_ns, value, spans)
    duration_s = sum(end - start for start, end in spans) * 1e-9
    usable, online = values.get((RUN, USABLE)), values.get((MACHINE, ONLINE))
    idle_s, steal_s = values.get((MACHINE, "idle_s")), values.get((MACHINE, "steal_s"))
    rises = {name: values.get(key) for key, name in COUNTED.items()}
    machine_cpu_s = others_cpu_s = None
    if online is not None and idle_s is not None and steal_s is not None:
        machine_cpu_s = worked_s(online * duration_s, idle_s, steal_s, values.get((MACHINE, "ticked_s")))
        run_cpu_s, own_cpu_s = rises["run_cpu_s"], rises["own_cpu_s"]
        if run_cpu_s is not None and own_cpu_s is not None:
            # With counters of whole ticks, the work of others may come out one tick below 0.
            others_cpu_s = max(machine_cpu_s - run_cpu_s - own_cpu_s, 0.0)
    seen = Seen(
        duration_s=duration_s,
        unsure_s=_unsure_s(next(iter(readings.values()))[1], spans),
        usable=usable,
        others_cpu_s=others_cpu_s,
        steal_s=steal_s,
        stalls_s={name: values.get((MACHINE, f"{name}_stall_s")) for name in _STALLS},
        disk_read_b=rises["disk_read_b"],
        run_read_b=rises["run_read_b"],
        swapped_b=rises["swapped_b"],
        at_rest=at_rest,
        online=online,
    )
    on_gpus = {
        domain: _most(time_ns, value, spans)
        for (domain, quantity), (_, time_ns, value) in readings.items()
        if quantity == OTHER_PROCESSES
    }
    return {
        USABLE: usable,
        "machine_cpu_s": machine_cpu_s,
        "others_cpu_s": others_cpu_s,
        **rises,
        **judge_window(seen),
        **({OTHER_PROCESSES: on_gpus} if on_gpus else {}),
    }


def others_at_rest(idle: Mapping[str, Any]) -> float | None:
    """Return the processors that others took, on average, while idle power was measured; None where unknown.

    A value that is no number of seconds, as in a calibration from elsewhere, counts as unknown and raises no limit.

    Args:
        idle: the calibration, see calibration.measure_idle.
    """
    witness, duration_s = idle.get("witness"), idle.get("duration_s")
    others_cpu_s = witness.get("others_cpu_s") if isinstance(witness, Mapping) else None
    if not (is_seconds(others_cpu_s) and is_seconds(duration_s) and duration_s):
        return None
    return float(others_cpu_s / duration_s)


def is_seconds(value: Any) -> bool:
    """Return whether a value is a number of seconds: finite, and not below 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _rise(channel: Channel, time_ns: Any, value: Any, spans: Spans) -> float | None:
    """Return the rise of a counter, interpolated at the edges; None where unknown or where the counter went back."""
    if not (good := np.isfinite(value)).all():
        time_ns, value = time_ns[good], value[good]
    total, back = 0.0, -_TREMBLE_TICKS * channel.resolution
    for start, end in spans:
        first, last = np.searchsorted(time_ns, start, "right") - 1, np.searchsorted(time_ns, end, "left")
        if first < 0 or last >= len(time_ns) or (np.diff(value[first : last + 1]) < back).any():
            return None
        # Times are since the first reading: nanoseconds since the boot have more digits than a float.
        around = slice(first, last + 1)
        at = np.interp(np.array([start, end]) - time_ns[first], time_ns[around] - time_ns[first], value[around])
        total += float(at[1] - at[0])
    return total


def _constant(time_ns: Any, value: Any, spans: Spans) -> float | None:
    """Return the value of a gauge if all readings around a window are equal; None where it changed or is unknown."""
    around = (time_ns >= _before(time_ns, spans[0][0])) & (time_ns <= _after(time_ns, spans[-1][1]))
    there = value[around]
    return float(there[0]) if len(there) and np.isfinite(there).all() and (there == there[0]).all() else None


def _most(time_ns: Any, value: Any, spans: Spans) -> float | None:
    """Return the largest reading around a window; None where all are unknown."""
    around = (time_ns >= _before(time_ns, spans[0][0])) & (time_ns <= _after(time_ns, spans[-1][1]))
    there = value[around & np.isfinite(value)]
    return float(there.max()) if len(there) else None


def _unsure_s(time_ns: Any, spans: Spans) -> float:
    """Return the total seconds between the edges of a window and the readings next to them."""
    if not len(time_ns):
        return float("inf")
    edges = np.array(spans, np.int64).ravel()
    after = np.searchsorted(time_ns, edges).clip(0, len(time_ns) - 1)
    nearest = np.minimum(np.abs(time_ns[after] - edges), np.abs(time_ns[(after - 1).clip(0)] - edges))
    return float(nearest.sum()) * 1e-9


def _before(time_ns: Any, edge_ns: int) -> int:
    earlier = time_ns[time_ns <= edge_ns]
    return int(earlier[-1]) if len(earlier) else edge_ns


def _after(time_ns: Any, edge_ns: int) -> int:
    later = time_ns[time_ns >= edge_ns]
    return int(later[0]) if len(later) else edge_ns


DISTURBED_BY = "disturbed_by"

_NUMBERS = (
    "run_cpu_s",
    "own_cpu_s",
    "others_cpu_s",
    "others_share",
    "steal_share",
    "cpu_stall_share",
    "memory_stall_share",
    "io_stall_share",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "swapped_b",
    "disk_read_b",
    "run_read_b",
    "throttled",
)

WITNESSED = [*_NUMBERS, DISTURBED_BY]
"""Columns of a frame. `disturbed_by` lists causes joined with "; ": empty if undisturbed, missing if unknown."""


def witness_columns(window: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of WITNESSED for a window of a run record; empty where the run had no witness."""
    witness = window.get("witness")
    if witness is None:
        return {}
    disturbed = witness["disturbed"]
    by = None if disturbed is None else "; ".join(disturbed)
    return {name: witness[name] for name in _NUMBERS} | {DISTURBED_BY: by}
