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
from framewatt.runs.repeat_worker import CAPTURE, REPEAT, ROUNDS, STARTED, TRY, reasons_of, window_of
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
"""Seconds that an operator may take outside of its loops: its making, and the framework's first choice of a kernel."""

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
    """Capture the calls of the program, repeat the chosen ones, and write the trace and the record.

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

    def make(target: Path) -> str | None:
        with scratch_folder() as captured:
            with_folder = {**job, "captured": str(captured)}
            content, reason = _captured(with_folder, environment, log, lock)
            if reason:
                return reason
            cases = [Case.from_dict(case) for case in content["cases"]]
            try:
                chosen = [] if content["cannot"] else choose(cases)
            except FramewattError as error:
                return str(error)
            wanted = [cases[place] for place in chosen]
            reasons = _tried(with_folder, wanted, environment, log, lock)
            able = [place for place in range(len(wanted)) if reasons[place] is None]
            loops, summary, reason = _loops(
                with_folder, [wanted[place] for place in able], idle, environment, log, lock, target
            )
            if reason:
                return reason
            of_case = dict(zip(able, loops, strict=True))
            content["cases"] = [
                {**case.to_dict(), "reason": reasons[place], "loops": of_case.get(place, [])}
                for place, case in enumerate(wanted)
            ]
        about = {name: job[name] for name in ("cell_id", "cell", "engine", "phase", "operators")}
        names = sorted({case.name for case in cases})
        write_json(target / RECORD, {**about, **content, "called": names, "sampler": summary})
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
    """Return the seconds of a loop: enough periods of the slowest meter with energy that counts."""
    counted = [channels[index] for index in energy_channels(channels).values()]
    periods = [max(one.period_s, one.update_period_s) for one in counted]
    return max(LOOP_S, SHORTEST_WINDOW_PERIODS * max(periods, default=0.0))


def _captured(
    job: Mapping[str, Any], environment: Mapping[str, Any], log: Path, lock: MachineLock
) -> tuple[dict[str, Any], str | None]:
    """Return what the program calls, or why that is not known."""
    with scratch_folder() as scratch:
        outcome = work({**job, "step": CAPTURE}, environment, scratch, log, lock, WORKER)
        return ({}, outcome.reason) if outcome.reason else (read_json(scratch / RESULT), None)


def _tried(
    job: Mapping[str, Any], cases: Sequence[Case], environment: Mapping[str, Any], log: Path, lock: MachineLock
) -> dict[int, str | None]:
    """Return why each case cannot be repeated, by its place; None for those that can.

    A case may end its process, for example by touching memory that is not its own. The others are then tried in a new
    process.
    """
    reasons: dict[int, str | None] = {}
    with scratch_folder() as scratch:
        path = scratch / "tried"
        work_of_try = {"cases": [case.to_dict() for case in cases], "tried": str(path)}
        while left := [place for place in range(len(cases)) if place not in reasons]:
            with scratch_folder() as again:
                outcome = work({**job, **work_of_try, "step": TRY, "left": left}, environment, again, log, lock, WORKER)
            reasons = reasons_of(path)
            ended = outcome.reason or "ended without a result"
            reasons = {place: f"{CANNOT}{ended}" if why == STARTED else why for place, why in reasons.items()}
            if not reasons.keys() & set(left):
                # The process ended before it tried the first of them.
                reasons |= dict.fromkeys(left, f"{CANNOT}{ended}")
    return reasons


def _loops(
    job: Mapping[str, Any],
    cases: Sequence[Case],
    idle: Mapping[str, Any],
    environment: Mapping[str, Any],
    log: Path,
    lock: MachineLock,
    target: Path,
) -> tuple[list[list[dict[str, Any]]], dict[str, Any] | None, str | None]:
    """Return the loops of each case, the sampler's summary, or why there are none; write the trace to `target`."""
    if not cases:
        return [], None, None
    with scratch_folder() as scratch:
        sampler = Sampler(idle["meters"], job["instruments"], scratch / "trace.bin", witnessed=scratch / EVENTS)
        sampler.start()
        lasts_s = loop_s(sampler.channels)
        limit_s = job["timeout_s"] + len(cases) * ROUNDS * (lasts_s + _NOT_IN_LOOPS_S)
        loops = {"cases": [case.to_dict() for case in cases], "loop_s": lasts_s, "timeout_s": limit_s}
        outcome = work({**job, **loops, "step": REPEAT}, environment, scratch, log, lock, WORKER)
        summary = sampler.stop()
        trace = replace(sampler.trace(), channels=in_force(sampler.channels, idle))
        if reason := outcome.reason or summary.get("error"):
            return [], None, reason
        spans = spans_of(events_of(scratch, outcome))
        done = read_json(scratch / RESULT)["cases"]
    windows = windows_of({name: parts for name, parts in spans.items() if name != "process"}, trace, idle)
    write_trace(target / POWER, trace)
    loops_of_cases = [
        [
            {"calls": count, "waited_s": waited_s, **_window_summary(windows[window_of(place, turn)])}
            for turn, (count, waited_s) in enumerate(zip(one["calls"], one["waited_s"], strict=True))
        ]
        for place, one in enumerate(done)
    ]
    return loops_of_cases, summary, None


_STORED = (
    *("instrument", "source", "estimated", "energy_gross_j", "energy_idle_j", "energy_net_j"),
    *("energy_uncertainty_j", "valid", "reasons", "flags"),
)


def _window_summary(window: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a loop's window that the record stores."""
    domains = {
        domain: {name: energy[name] for name in _STORED}
        for domain, energy in window["domains"].items()
        if not energy.get("unused")
    }
    edges = {name: window[name] for name in ("start_monotonic_ns", "end_monotonic_ns", "duration_s")}
    return {**edges, "domains": domains, "disturbed": disturbance_flags(window["witness"])}
