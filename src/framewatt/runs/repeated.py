"""Operators of a cell alone: each repeated in loops of its own with the arguments of the program, and sampled.

None of it is a measured run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.base.schema import Validator
from framewatt.characterisation.measured import in_force
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.energy.accounts import energy_channels
from framewatt.energy.windows import SHORTEST_WINDOW_PERIODS
from framewatt.host.lock import MachineLock
from framewatt.meters.contract import Channel
from framewatt.meters.trace_file import write_trace
from framewatt.prepare.stage import store_result
from framewatt.runs.repeat_worker import BEGUN, CAPTURE, REPEAT, ROUNDS, TRY, reasons_of, window_of
from framewatt.runs.work import EVENTS, RESULT, events_of, work
from framewatt.sampling.client import Sampler
from framewatt.witness.judgement import disturbance_flags
from framewatt.workloads.repeaters import CANNOT, Case

WORKER = "framewatt.runs.repeat_worker"

RECORD, POWER = "repeated.json", "power.parquet"
"""Names of the files of a cell's repeated operators."""

SCHEMA_PATH = Path(__file__).parents[3] / "config" / "schemas" / "repeated.schema.json"

LOOP_S = 1.0
"""Seconds of a loop at least; a slower meter wants more."""

_NOT_IN_LOOPS_S = 5.0
"""Seconds that an operator may take beside its loops: its making, and the framework's first choice of a kernel."""

Choose = Callable[[Sequence[Case]], list[int]]
"""Which of a program's cases are repeated."""


def record_repeated(
    job: Mapping[str, Any],
    choose: Choose,
    idle: Mapping[str, Any],
    environment: Mapping[str, Any],
    folder: Path,
    log: Path,
    lock: MachineLock,
) -> dict[str, Any]:
    """See what the program calls, repeat what is chosen of it, and keep the trace and the record.

    Args:
        job: of the operators.
        choose: by the cell's timeline.
        idle: the calibration of this machine.
        environment: the environment's record.
        folder: where RECORD and POWER end up.
        log: takes what the workers print.
        lock: the machine's.

    Returns:
        the record; a failure is one too.

    Raises:
        FramewattError: a meter cannot be read.
    """

    def make(made: Path) -> str | None:
        with scratch_folder() as captured:
            with_folder = {**job, "captured": str(captured)}
            found, reason = _captured(with_folder, environment, log, lock)
            if reason:
                return reason
            cases = [Case.from_dict(case) for case in found["cases"]]
            try:
                chosen = [] if found["cannot"] else choose(cases)
            except FramewattError as error:
                return str(error)
            wanted = [cases[place] for place in chosen]
            reasons = _tried(with_folder, wanted, environment, log, lock)
            able = [place for place in range(len(wanted)) if reasons[place] is None]
            loops, summary, reason = _loops(
                with_folder, [wanted[place] for place in able], idle, environment, log, lock, made
            )
            if reason:
                return reason
            of_case = dict(zip(able, loops, strict=True))
            found["cases"] = [
                {**case.to_dict(), "reason": reasons[place], "loops": of_case.get(place, [])}
                for place, case in enumerate(wanted)
            ]
        about = {name: job[name] for name in ("cell_id", "cell", "engine", "phase", "operators")}
        names = sorted({case.name for case in cases})
        write_json(made / RECORD, {**about, **found, "called": names, "sampler": summary})
        return None

    return store_result(make, job, environment, folder, RECORD, repeat_failures=True)


def read_repeated(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        FramewattError: the file is not JSON, or breaks its schema.
    """
    try:
        record: dict[str, Any] = read_json(path)
    except ValueError as error:
        raise FramewattError(f"{path}: not JSON: {error}") from error
    for wrong in Validator(read_json(SCHEMA_PATH)).iter_errors(record):
        key = ".".join(str(part) for part in wrong.absolute_path) or "the record"
        raise FramewattError(f"{path}: {key}: {wrong.message[:300]}; allowed: what {SCHEMA_PATH.name} says")
    return record


def loop_s(channels: Sequence[Channel]) -> float:
    """Seconds of a loop, which are enough periods of the slowest meter whose energy counts."""
    counted = [channels[index] for index in energy_channels(channels).values()]
    periods = [max(one.period_s, one.update_period_s) for one in counted]
    return max(LOOP_S, SHORTEST_WINDOW_PERIODS * max(periods, default=0.0))


def _captured(
    job: Mapping[str, Any], environment: Mapping[str, Any], log: Path, lock: MachineLock
) -> tuple[dict[str, Any], str | None]:
    """What the program calls, or why that is not known."""
    with scratch_folder() as scratch:
        outcome = work({**job, "step": CAPTURE}, environment, scratch, log, lock, WORKER)
        return ({}, outcome.reason) if outcome.reason else (read_json(scratch / RESULT), None)


def _tried(
    job: Mapping[str, Any], cases: Sequence[Case], environment: Mapping[str, Any], log: Path, lock: MachineLock
) -> dict[int, str | None]:
    """Why each case cannot be repeated, by its place; None of those that can.

    One that ends the process, as by touching memory that is not its own, ends none of the others.
    """
    found: dict[int, str | None] = {}
    with scratch_folder() as scratch:
        path = scratch / "tried"
        told = {"cases": [case.to_dict() for case in cases], "tried": str(path)}
        while left := [place for place in range(len(cases)) if place not in found]:
            with scratch_folder() as again:
                outcome = work({**job, **told, "step": TRY, "left": left}, environment, again, log, lock, WORKER)
            found = reasons_of(path)
            ended = outcome.reason or "ended without a result"
            found = {place: f"{CANNOT}{ended}" if one == BEGUN else one for place, one in found.items()}
            if not found.keys() & set(left):
                # It did not come to the first of them.
                found |= dict.fromkeys(left, f"{CANNOT}{ended}")
    return found


def _loops(
    job: Mapping[str, Any],
    cases: Sequence[Case],
    idle: Mapping[str, Any],
    environment: Mapping[str, Any],
    log: Path,
    lock: MachineLock,
    made: Path,
) -> tuple[list[list[dict[str, Any]]], dict[str, Any] | None, str | None]:
    """The loops of each case, what the sampler says, or why there are none; the trace is written."""
    if not cases:
        return [], None, None
    with scratch_folder() as scratch:
        sampler = Sampler(idle["meters"], job["instruments"], scratch / "trace.bin", witnessed=scratch / EVENTS)
        sampler.start()
        lasts_s = loop_s(sampler.channels)
        limit_s = job["timeout_s"] + len(cases) * ROUNDS * (lasts_s + _NOT_IN_LOOPS_S)
        told = {"cases": [case.to_dict() for case in cases], "loop_s": lasts_s, "timeout_s": limit_s}
        outcome = work({**job, **told, "step": REPEAT}, environment, scratch, log, lock, WORKER)
        summary = sampler.stop()
        trace = replace(sampler.trace(), channels=in_force(sampler.channels, idle))
        if reason := outcome.reason or summary.get("error"):
            return [], None, reason
        spans = spans_of(events_of(scratch, outcome))
        done = read_json(scratch / RESULT)["cases"]
    windows = windows_of({name: parts for name, parts in spans.items() if name != "process"}, trace, idle)
    write_trace(made / POWER, trace)
    found = [
        [
            {"calls": count, "waited_s": waited_s, **_window_summary(windows[window_of(place, turn)])}
            for turn, (count, waited_s) in enumerate(zip(one["calls"], one["waited_s"], strict=True))
        ]
        for place, one in enumerate(done)
    ]
    return found, summary, None


_KEPT = (
    *("instrument", "source", "estimated", "energy_gross_j", "energy_idle_j", "energy_net_j"),
    *("energy_uncertainty_j", "valid", "reasons", "flags"),
)


def _window_summary(window: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a loop's window."""
    domains = {
        domain: {name: energy[name] for name in _KEPT}
        for domain, energy in window["domains"].items()
        if not energy.get("unused")
    }
    edges = {name: window[name] for name in ("start_monotonic_ns", "end_monotonic_ns", "duration_s")}
    return {**edges, "domains": domains, "disturbed": disturbance_flags(window["witness"])}
