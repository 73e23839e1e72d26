"""Joules by operator and by API of every cell that has a timeline, and how well the readings resolve them."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.energy.windows import SHORTEST_WINDOW_PERIODS
from framewatt.meters.trace import Readings
from framewatt.meters.trace_file import open_trace
from framewatt.profiling.api_names import UNTOLD, family_of
from framewatt.profiling.joules import BETWEEN, OperatorJoules, WindowTime, intervals_of, join
from framewatt.profiling.timeline import (
    Clock,
    Innermost,
    Kind,
    Timeline,
    calls_per_step,
    clock_of,
    innermost,
    steps_without,
)
from framewatt.runs.profiling import PLAIN, PROFILED
from framewatt.runs.timelines import POWER, RECORD, SPANS, read_spans
from framewatt.witness.judgement import disturbance_flags
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
    def read(cls, folder: Path) -> "Recorded":
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
        """Return when each operator was the innermost that a domain's joules are shared among."""
        return self.inner[is_gpu(domain)]

    def window_s(self, profiler_ns: np.ndarray) -> np.ndarray:
        """Return the seconds since the window's start of times on the profiler's clock; outside, those of its edge."""
        return self.time.seconds_at(self.clock.monotonic_s(profiler_ns) - 1e-9 * self.time.zero_ns)


def is_gpu(domain: str) -> bool:
    """Return whether a domain is a GPU: its joules are of what ran on it, those of others of what ran on the host."""
    return domain.startswith("gpu:")


def unseen_gpus(domains: Iterable[str], spans: Spans) -> tuple[str, ...]:
    """Return the GPUs for which a timeline does not show what ran there: it shows no GPU, or not which of several.

    Args:
        domains: with known joules.
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
        unseen: GPUs for which the profiler does not show what ran there.
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
    """Return joules of a timeline, see `joules_in`."""
    return joules_in(Recorded.read(folder), open_trace(folder / POWER))


def opened(folder: Path) -> tuple[Recorded, list[CellJoules]]:
    """Return a timeline and its joules.

    Raises:
        FramewattError: there is no timeline with known joules.
    """
    record = read_json(folder / RECORD)
    if record["status"] != "ok":
        raise FramewattError(f"operators: there is no timeline ({record['reason']}). Record one of the same cell.")
    recorded = Recorded.read(folder)
    return recorded, joules_in(recorded, open_trace(folder / POWER))


def joules_in(recorded: Recorded, trace: Readings) -> list[CellJoules]:
    """Return the joules of a timeline, in every domain with valid energy.

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
    by_domain = []
    for domain, energy in valid.items():
        if domain not in unseen:
            joined = _joined(recorded, trace, domain, energy)
            empty_steps = steps_without(recorded.spans)
            by_domain.append(replace(joined, empty_steps=empty_steps, unseen=unseen, host_reads_per_step=reads))
    if not by_domain:
        reasons = [reason for energy in window["domains"].values() for reason in energy["reasons"]]
        reasons += [f"the profiler does not show what ran on {domain}" for domain in unseen]
        raise FramewattError(f"operators: no domain has valid energy ({'; '.join(reasons)}). Measure again.")
    return by_domain


def _host_reads(recorded: Recorded) -> float | None:
    """Return the calls in a step of the window in which the host waits; None if the profiler does not show them."""
    names = engine_facts("HOST_READS").get(recorded.record["engine"], ())
    if not names:
        return None
    starts_ns = 1e9 * recorded.clock.monotonic_s(recorded.spans.start_ns)
    window = recorded.record["passes"][PROFILED]["window"]
    return calls_per_step(recorded.spans, names, starts_ns, window["spans_monotonic_ns"])


def _within(recorded: Recorded, inner: Innermost) -> Timeline:
    """Return the operators on the window's time."""
    start, end = (recorded.window_s(edge) for edge in (inner.start_ns, inner.end_ns))
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
    trace_j, record_j = float(intervals.energy_j.sum()), energy["energy_gross_j"]
    if abs(trace_j - record_j) > 3 * energy["energy_uncertainty_j"] + _ALIKE * record_j:
        raise FramewattError(
            f"operators: the trace gives {trace_j:.4g} J of {domain}, the record {record_j:.4g} J. Use a trace that "
            "covers the window."
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


def resolved(cell_joules: CellJoules, name_of: Callable[[Kind], str]) -> tuple[OperatorJoules, list[list[int]]]:
    """Return kinds of one name in one row, names that the readings do not resolve in another; the largest row first.

    Args:
        cell_joules: joules of the kinds, and BETWEEN last.
        name_of: the name of a kind.

    Returns:
        the rows, with BETWEEN last, and the places in `cell_joules.joules` of each.
    """
    joules, kinds = cell_joules.joules, cell_joules.kinds
    by_name: dict[str, list[int]] = {}
    for place, kind in enumerate(kinds):
        by_name.setdefault(name_of(kind), []).append(place)
    names, groups = list(by_name), list(by_name.values())
    each = joules.grouped(groups, names)
    is_resolved = (each.uncertainty_j <= RESOLVED * each.energy_j) & (each.seconds >= cell_joules.shortest_s)
    order = [place for place in np.argsort(-each.energy_j) if is_resolved[place]]
    rest = [place for place in range(len(names)) if not is_resolved[place]]
    members = [groups[place] for place in order]
    titles = [names[place] for place in order]
    if rest:
        members.append([place for group in rest for place in groups[group]])
        titles.append(f"{len(rest)} {UNTOLD}" if len(rest) > 1 else names[rest[0]])
    members.append([len(kinds)])
    titles.append(BETWEEN)
    return joules.grouped(members, titles), members


OPERATOR, API = "operator", "api"
"""What a row is of."""

COLUMNS = (
    *("cell", "engine", "phase", "domain", "estimated", "units", "by", "name", "family", "of", "calls", "seconds"),
    *("energy_j", "uncertainty_j", "share_percent"),
)
"""A row an operator or API of a cell; `of` is how many operators it is, `units` what was done in the window."""

KEYS = ("cell", "domain", "by", "name")
"""Columns that identify a row."""

ABOUT = (
    *("cell", "status", "reason", "domain", "estimated", "operators", "resolved", "between_percent", "intervals"),
    *("shortest_s", "clock_uncertainty_s", "clock_drift", "flags"),
    "host_reads_per_step",
    *(f"{what}_per_unit_{which}" for what in ("seconds", "joules") for which in (PLAIN, PROFILED)),
)
"""A row a timeline and domain."""


def rows_of(record: Mapping[str, Any], cell: str, cell_joules: CellJoules) -> list[dict[str, Any]]:
    """Return the rows of a cell by operator, then by API: those that are resolved, the rest together, and BETWEEN.

    Args:
        record: of the timeline.
        cell: its name.
        cell_joules: its joules in a domain.
    """
    common = {
        "cell": cell,
        **{name: record[name] for name in ("engine", "phase")},
        **{"domain": cell_joules.domain, "estimated": cell_joules.estimated},
        "units": record["passes"][PROFILED]["units"]["count"],
    }
    rows = []
    for by, name_of in ((OPERATOR, lambda kind: kind[0]), (API, lambda kind: kind[1])):
        joules, members = resolved(cell_joules, name_of)
        columns = (joules.names, members, joules.seconds, joules.energy_j, joules.uncertainty_j)
        for name, places, seconds, energy_j, uncertainty_j in zip(*columns, strict=True):
            rows.append(
                {
                    **common,
                    **{"by": by, "name": name, "family": family_of(name) if by == OPERATOR else None},
                    "of": len(
                        {name_of(cell_joules.kinds[place]) for place in places if place < len(cell_joules.kinds)}
                    ),
                    "calls": int(sum(cell_joules.calls[place] for place in places if place < len(cell_joules.kinds))),
                    **{"seconds": seconds, "energy_j": energy_j, "uncertainty_j": uncertainty_j},
                    "share_percent": 100 * energy_j / joules.total_j,
                }
            )
    return rows


def frame_of(folders: Sequence[Path]) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Return the joules of all timelines of a study, and a row about each timeline and domain.

    Args:
        folders: of timelines, named by their cells.

    Returns:
        the frame (COLUMNS), and a row a timeline and domain: status and reason, clock, intervals, and what the profiler
        cost.
    """
    rows: list[dict[str, Any]] = []
    timelines: list[dict[str, Any]] = []
    for folder in folders:
        record = read_json(folder / RECORD)
        status = {"cell": folder.name, "status": record["status"], "reason": record["reason"]}
        by_domain: list[CellJoules] = []
        if record["status"] == "ok":
            try:
                by_domain = joules_of(folder)
            except (FramewattError, ValueError) as error:
                status |= {"status": "failed", "reason": str(error)}
        for one in by_domain:
            rows += rows_of(record, folder.name, one)
            timelines.append(status | about(record, one))
        if not by_domain:
            timelines.append(status)
    return pd.DataFrame(rows, columns=list(COLUMNS)), timelines


def _flags(passes: Mapping[str, Any], domain: str) -> list[str]:
    """Return the flags of a timeline's two passes, each flag once."""
    flags: dict[str, None] = {}
    for which, one_pass in passes.items():
        window = one_pass["window"]
        raised = [*window["domains"].get(domain, {}).get("flags", ()), *disturbance_flags(window["witness"])]
        flags |= dict.fromkeys(f"{which}: {flag}" for flag in raised)
    return list(flags)


def _lost(steps: int) -> list[str]:
    return (
        [f"the profiler shows no operator in {steps} steps: it lost some, and their time is between operators"]
        if steps
        else []
    )


def failed_timelines(paths: Iterable[str | Path], accepted: Container[str]) -> list[str]:
    """Return a line for each cell without joules by operator: the cell and the reason.

    Args:
        paths: the file of all timelines (ABOUT); none where a study has none.
        accepted: names of cells that the study may end without.
    """
    rows = [row for path in paths for row in read_csv(path).to_dict("records")]
    failed = [row for row in rows if row["status"] != "ok" and row["cell"] not in accepted]
    return [f"operators of {row['cell']}: {row['reason']}" for row in failed]


def about(record: Mapping[str, Any], cell_joules: CellJoules) -> dict[str, Any]:
    """Return the row about a timeline in a domain: how well it is resolved, and what its profiler cost."""
    passes = record["passes"]
    per_unit = {
        which: one["window"]["domains"][cell_joules.domain]["energy_gross_j"] / one["units"]["count"]
        if one["window"]["domains"].get(cell_joules.domain, {}).get("valid")
        else None
        for which, one in passes.items()
    }
    seconds = {which: one["window"]["duration_s"] / one["units"]["count"] for which, one in passes.items()}
    rows, _ = resolved(cell_joules, lambda kind: kind[0])
    operators = {kind[0] for kind in cell_joules.kinds}
    return {
        "domain": cell_joules.domain,
        "estimated": cell_joules.estimated,
        "operators": len(operators),
        "resolved": len([name for name in rows.names if name in operators]),
        "between_percent": 100 * float(cell_joules.joules.seconds[-1] / cell_joules.joules.seconds.sum()),
        "intervals": cell_joules.intervals,
        "shortest_s": cell_joules.shortest_s,
        "clock_uncertainty_s": 1e-9 * cell_joules.clock.uncertainty_ns,
        "clock_drift": cell_joules.clock.drift,
        "host_reads_per_step": cell_joules.host_reads_per_step,
        "flags": "; ".join(
            [
                *_flags(passes, cell_joules.domain),
                *_lost(cell_joules.empty_steps),
                *(f"the profiler does not show what ran on {gpu}: no joules by operator" for gpu in cell_joules.unseen),
            ]
        ),
        **{f"seconds_per_unit_{which}": value for which, value in seconds.items()},
        **{f"joules_per_unit_{which}": value for which, value in per_unit.items()},
    }
