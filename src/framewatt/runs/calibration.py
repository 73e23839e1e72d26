"""Idle power of the machine, per domain, with its spread."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.energy.accounts import energies_of, energy_accounts, energy_of
from framewatt.energy.idle_power import spreads_of, usual_spread_w
from framewatt.energy.windows import SHORTEST_WINDOW_PERIODS
from framewatt.host.machine import describe_machine, session_of
from framewatt.meters.trace import Trace
from framewatt.sampling.client import Sampler
from framewatt.witness.window import witnessed


def measure_idle(meters: Sequence[str], options: Mapping[str, Any], idle_s: float, trace_path: Path) -> dict[str, Any]:
    """Measure idle power for `idle_s` seconds.

    Args:
        meters: names of the meters to read.
        options: the study's `instruments`.
        idle_s: seconds to measure.
        trace_path: where to write the raw readings.

    Returns:
        `meters`, `idle_s`, `duration_s`, `machine`, `witness` (witness.window.witnessed) and, by domain,
        `mean_power_w`, `sd_power_w` (idle_power.usual_spread_w), `spreads` (idle_power.spreads_of), `instrument`,
        `source`, `estimated`, `valid`, `reasons`.

    Raises:
        FramewattError: a meter cannot be read.
    """
    events = trace_path.with_name("idle-events")
    sampler = Sampler(meters, options, trace_path, witnessed=events)
    sampler.start()
    time.sleep(sampler.settle_s)
    start_ns = time.monotonic_ns()
    events.write_text("start\n")
    time.sleep(idle_s)
    end_ns = time.monotonic_ns()
    events.write_text("start\nend\n")
    time.sleep(sampler.settle_s)
    summary = sampler.stop()
    trace = sampler.trace()
    domains = {
        domain: _idle_of(trace, indices, start_ns, end_ns)
        for domain, indices in energy_accounts(trace.channels).items()
    }
    if "error" in summary:
        raise FramewattError(f"idle power: {summary['error']}")
    return {
        "meters": list(meters),
        "idle_s": idle_s,
        "duration_s": (end_ns - start_ns) * 1e-9,
        "domains": domains,
        "witness": witnessed(trace.channels, [trace.of(i) for i in range(len(trace.channels))], [(start_ns, end_ns)]),
        "sampler": summary,
        "machine": describe_machine(),
    }


def idle_here(idle: Mapping[str, Any], options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The calibration of this machine in its current session.

    Idle power belongs to one session: where the study's calibration comes from another machine, or from before a
    reboot, this one is measured once. The result is kept under the session's name until the study's own calibration
    changes.

    Args:
        idle: the study's calibration, with the hash of its job.
        options: the study's `instruments`.
        folder: where calibrations of further sessions are kept.

    Raises:
        FramewattError: a meter cannot be read.
    """
    session = session_of(describe_machine())
    if session_of(idle["machine"]) == session:
        return dict(idle)
    kept = folder / f"idle_{session}.json"
    if not kept.exists() or read_json(kept).get("job_sha256") != idle["job_sha256"]:
        with scratch_folder() as scratch:
            found = measure_idle(idle["meters"], options, idle["idle_s"], scratch / "trace.bin")
        write_json(kept, {**found, "job_sha256": idle["job_sha256"]})
    return dict(read_json(kept))


def _idle_of(trace: Trace, indices: Sequence[int], start_ns: int, end_ns: int) -> dict[str, Any]:
    """A domain's idle power, by the first of its accounts that is valid."""
    series = {index: trace.of(index) for index in indices}
    found = {i: energy_of(trace.channels[i], *series[i], start_ns, end_ns) for i in indices}
    index = next((i for i in indices if not found[i].reasons), indices[0])
    channel, whole = trace.channels[index], found[index]

    def mean_powers(spans: Sequence[tuple[int, int]]) -> list[float | None]:
        return [energy.mean_power_w for energy in energies_of(channel, *series[index], list(spans))]

    shortest_s = SHORTEST_WINDOW_PERIODS * max(channel.update_period_s, channel.period_s)
    spreads = spreads_of(mean_powers, start_ns, end_ns, shortest_s)
    return {
        "mean_power_w": whole.mean_power_w,
        "sd_power_w": usual_spread_w(spreads),
        "spreads": spreads,
        "instrument": channel.instrument,
        "source": channel.quantity,
        "estimated": channel.estimated,
        "valid": not whole.reasons,
        "reasons": list(whole.reasons),
    }
