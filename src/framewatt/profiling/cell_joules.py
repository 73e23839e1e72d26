"""Joules of a cell's operators in each domain, from its timeline and what the meters gave meanwhile."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.energy.windows import SHORTEST_WINDOW_PERIODS
from framewatt.meters.trace import Readings
from framewatt.meters.trace_file import open_trace
from framewatt.profiling.api_names import UNTOLD
from framewatt.profiling.joules import BETWEEN, OperatorJoules, WindowTime, intervals_of, join
from framewatt.profiling.nesting import Innermost, Kind, calls_per_step, innermost, steps_without
from framewatt.profiling.timeline import Clock, Timeline, clock_of
from framewatt.runs.profiling import PROFILED
from framewatt.runs.timelines import POWER, RECORD, SPANS, read_spans
from framewatt.workloads.profilers import STEP, Spans
from framewatt.workloads.registry import engine_facts


@dataclass(frozen=True)
class Recorded:
    """A timeline as it was recorded.

    Attributes:
        record: of it.
        spans: of the profiler.
        inner: when each operator was the innermost, of those on the host (False) and of those on a GPU (True).
        clock: of the profiler.
        time: of the window.
    """

    record: Mapping[str, Any]
    spans: Spans
    inner: Mapping[bool, Innermost]
    clock: Clock
    time: WindowTime

    @classmethod
    def of(cls, folder: Path) -> "Recorded":
        """Read a timeline, which is ok.

        Raises:
            FramewattError: the clocks cannot be brought together.
        """
        record = read_json(folder / RECORD)
        spans = read_spans(folder / SPANS)
        steps = spans.words[spans.name] == STEP
        clock = clock_of(np.column_stack((spans.start_ns[steps], spans.end_ns[steps])), spans.steps_ns)
        time = WindowTime([tuple(part) for part in record["passes"][PROFILED]["window"]["spans_monotonic_ns"]])
        inner = {on_gpu: innermost(spans, on_gpu=on_gpu) for on_gpu in (False, True)}
        return cls(record, spans, inner, clock, time)

    def inner_of(self, domain: str) -> Innermost:
        """When each operator was the innermost that a domain's joules are shared among."""
        return self.inner[is_gpu(domain)]

    def of_window(self, profiler_ns: np.ndarray) -> np.ndarray:
        """Seconds within the window of some times on the profiler's clock; of those outside, that of its edge."""
        return self.time.of(self.clock.monotonic_s(profiler_ns) - 1e-9 * self.time.zero_ns)


def is_gpu(domain: str) -> bool:
    """Whether a domain is a GPU: its joules are of what ran on it, those of others of what ran on the host."""
    return domain.startswith("gpu:")


def unseen_gpus(domains: Iterable[str], spans: Spans) -> tuple[str, ...]:
    """GPUs of which a timeline does not show what ran there: it shows no GPU, or does not tell which of several.

    Args:
        domains: whose joules are known.
        spans: of the profiler.
    """
    gpus = tuple(domain for domain in domains if is_gpu(domain))
    return () if len(gpus) == 1 and spans.on_gpu.any() else gpus


RESOLVED = 0.5
"""Largest relative standard uncertainty of a row of its own; operators beyond it are one row together."""

SHORTEST_PERIODS = SHORTEST_WINDOW_PERIODS
"""A row of its own ran for at least so many of the meter's periods, as a window has to last."""

_ALIKE = 0.01
"""Largest relative difference of a window's joules in the trace, which is cut at its edges, and in the record."""


@dataclass(frozen=True)
class CellJoules:
    """Joules of a cell in one domain.

    Attributes:
        kinds: operators with their API, in the order of `joules`' rows, which have BETWEEN last.
        joules: of each.
        calls: (kinds,), spans of each.
        clock: of the profiler.
        intervals: number of the meter's intervals in the window.
        shortest_s: seconds that a row of its own ran at least.
        empty_steps: steps in which the profiler shows no operator.
        unseen: GPUs of which the profiler does not show what ran there.
        domain: what was metered.
        estimated: whether it is an estimate.
        host_reads_per_step: calls in which the host waits for the device; None if the profiler does not show them.
    """

    kinds: tuple[Kind, ...]
    joules: OperatorJoules
    calls: np.ndarray
    clock: Clock
    intervals: int
    shortest_s: float
    empty_steps: int
    unseen: tuple[str, ...]
    domain: str
    estimated: bool
    host_reads_per_step: float | None = None


def joules_of(folder: Path) -> list[CellJoules]:
    """Joules of a timeline, see `joules_in`."""
    return joules_in(Recorded.of(folder), open_trace(folder / POWER))


def opened(folder: Path) -> tuple[Recorded, list[CellJoules]]:
    """A timeline and its joules.

    Raises:
        FramewattError: there is no timeline whose joules are known.
    """
    record = read_json(folder / RECORD)
    if record["status"] != "ok":
        raise FramewattError(f"operators: found no timeline ({record['reason']}); allowed: one, of the same cell")
    recorded = Recorded.of(folder)
    return recorded, joules_in(recorded, open_trace(folder / POWER))


def joules_in(recorded: Recorded, trace: Readings) -> list[CellJoules]:
    """Joules of a timeline, in every domain whose energy is valid.

    Args:
        recorded: the timeline.
        trace: what the meters gave meanwhile.

    Raises:
        FramewattError: no domain's energy is valid, or the trace does not give it.
    """
    window = recorded.record["passes"][PROFILED]["window"]
    valid = {domain: energy for domain, energy in window["domains"].items() if energy["valid"]}
    # A GPU's joules are those of what ran on it, which not every profiler shows.
    unseen = unseen_gpus(valid, recorded.spans)
    reads = _host_reads(recorded)
    found = []
    for domain, energy in valid.items():
        if domain not in unseen:
            joined = _joined(recorded, trace, domain, energy)
            empty_steps = steps_without(recorded.spans)
            found.append(replace(joined, empty_steps=empty_steps, unseen=unseen, host_reads_per_step=reads))
    if not found:
        reasons = [reason for energy in window["domains"].values() for reason in energy["reasons"]]
        reasons += [f"the profiler does not show what ran on {domain}" for domain in unseen]
        raise FramewattError(f"operators: found no domain whose energy is valid ({'; '.join(reasons)}); allowed: one")
    return found


def _host_reads(recorded: Recorded) -> float | None:
    """Return the calls in a step of the window in which the host waits; None if the profiler does not show them."""
    names = engine_facts("HOST_READS").get(recorded.record["engine"], ())
    if not names:
        return None
    starts_ns = 1e9 * recorded.clock.monotonic_s(recorded.spans.start_ns)
    window = recorded.record["passes"][PROFILED]["window"]
    return calls_per_step(recorded.spans, names, starts_ns, window["spans_monotonic_ns"])


def _within(recorded: Recorded, inner: Innermost) -> Timeline:
    """The operators on the window's time."""
    start, end = (recorded.of_window(edge) for edge in (inner.start_ns, inner.end_ns))
    names = tuple(f"{operator} in {api}" for operator, api in inner.kinds)
    return Timeline(names, inner.kind, start, end).within(0.0, recorded.time.length_s)


def _joined(recorded: Recorded, trace: Readings, domain: str, energy: Mapping[str, Any]) -> CellJoules:
    inner, clock = recorded.inner_of(domain), recorded.clock
    wanted = (domain, energy["instrument"], energy["source"])
    index = next(i for i, one in enumerate(trace.channels) if (one.domain, one.instrument, one.quantity) == wanted)
    readings = trace.read_channel(index)
    intervals = intervals_of(trace.channels[index], *readings, recorded.time, 1e-9 * clock.uncertainty_ns)
    # The window's energy is the record's, which knows of more than the readings at its edges.
    intervals = replace(intervals, uncertainty_j=energy["energy_uncertainty_j"])
    found_j, told_j = float(intervals.energy_j.sum()), energy["energy_gross_j"]
    if abs(found_j - told_j) > 3 * energy["energy_uncertainty_j"] + _ALIKE * told_j:
        raise FramewattError(
            f"operators: found {found_j:.4g} J of {domain} in the trace and {told_j:.4g} J in the record; "
            "allowed: a trace that covers the window"
        )
    joules = join(_within(recorded, inner), intervals)
    channel = trace.channels[index]
    shortest_s = SHORTEST_PERIODS * max(channel.period_s, channel.update_period_s)
    return CellJoules(
        inner.kinds,
        joules,
        inner.calls,
        clock,
        len(intervals.energy_j),
        shortest_s,
        0,
        (),
        domain,
        bool(energy["estimated"]),
    )


def resolved(found: CellJoules, name_of: Callable[[Kind], str]) -> tuple[OperatorJoules, list[list[int]]]:
    """Kinds of one name together; names that the readings do not resolve in one row; the largest row first.

    Args:
        found: joules of the kinds, and BETWEEN last.
        name_of: the name of a kind.

    Returns:
        the rows, with BETWEEN last, and the places in `found.joules` of each.
    """
    joules, kinds = found.joules, found.kinds
    by_name: dict[str, list[int]] = {}
    for place, kind in enumerate(kinds):
        by_name.setdefault(name_of(kind), []).append(place)
    names, groups = list(by_name), list(by_name.values())
    each = joules.grouped(groups, names)
    told = (each.uncertainty_j <= RESOLVED * each.energy_j) & (each.seconds >= found.shortest_s)
    order = [place for place in np.argsort(-each.energy_j) if told[place]]
    rest = [place for place in range(len(names)) if not told[place]]
    members = [groups[place] for place in order]
    titles = [names[place] for place in order]
    if rest:
        members.append([place for group in rest for place in groups[group]])
        titles.append(f"{len(rest)} {UNTOLD}" if len(rest) > 1 else names[rest[0]])
    members.append([len(kinds)])
    titles.append(BETWEEN)
    return joules.grouped(members, titles), members
