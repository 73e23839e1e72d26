"""Idle power of the machine, per domain, with its spread, and the rest before a run until power is back near it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.energy.accounts import energies_of, energy_accounts, energy_channels, energy_of
from framewatt.energy.idle_power import reported_spread_w, spreads_of
from framewatt.energy.windows import SHORTEST_WINDOW_PERIODS
from framewatt.host.machine import describe_machine, session_of
from framewatt.meters.trace import Readings
from framewatt.sampling.client import Sampler
from framewatt.study.records import Calibration, IdlePower, Witness
from framewatt.witness.window import witness_of, witnessed

_LOOK_S = 1.0
"""Seconds over which power is averaged."""

_STEP_S = 0.25


def wait_for_idle(sampler: Sampler, idle: Calibration, band: float, timeout_s: float) -> bool:
    """Wait until every metered domain draws at most idle power plus a band; returns False on timeout.

    Args:
        sampler: started.
        idle: the calibration, see calibration.measure_idle.
        band: largest excess, as a share of idle power.
        timeout_s: seconds to wait at most.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        time.sleep(_STEP_S)
        excess = excess_over_idle(sampler.trace(), idle)
        if excess is not None and excess <= band:
            return True
        if time.monotonic() >= deadline:
            return False


def excess_over_idle(trace: Readings, idle: Calibration) -> float | None:
    """Excess of the last second's power over idle power, as a share, in the domain with the largest.

    None where unknown: there is no full second of readings yet, or no domain with idle power.

    Args:
        trace: the samples so far.
        idle: the calibration.
    """
    shares = []
    for domain, index in energy_channels(trace.channels).items():
        calibrated = idle["domains"].get(domain)
        base = calibrated["mean_power_w"] if calibrated else None
        time_ns, value = trace.read_channel(index)
        time_ns = time_ns[np.isfinite(value)]
        if not base:
            continue
        if not len(time_ns):
            return None
        end_ns = int(time_ns[-1])
        energy = energy_of(trace.channels[index], *trace.read_channel(index), end_ns - round(_LOOK_S * 1e9), end_ns)
        if energy.mean_power_w is None:
            return None
        shares.append(energy.mean_power_w / base - 1)
    return max(shares, default=None)


def measure_idle(meters: Sequence[str], options: Mapping[str, Any], idle_s: float, trace_path: Path) -> Calibration:
    """Measure idle power for `idle_s` seconds.

    Args:
        meters: names of the meters to read.
        options: the study's `instruments`.
        idle_s: seconds to measure.
        trace_path: where to write the raw readings.

    Returns:
        `meters`, `idle_s`, `duration_s`, `machine`, `witness` (witness.window.witnessed) and, by domain,
        `mean_power_w`, `sd_power_w` (idle_power.reported_spread_w), `spreads` (idle_power.spreads_of), `instrument`,
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
        "witness": cast("Witness | None", witnessed(witness_of(trace), [(start_ns, end_ns)])),
        "sampler": summary,
        "machine": describe_machine(),
    }


def same_meters(own: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the meters of a node, after a check that all other nodes of the study have the same.

    Args:
        own: the node's instruments.json.
        others: those of all nodes.

    Raises:
        FramewattError: another node has other meters, so that blocks would be read, or estimated, in other ways.
    """
    for other in others:
        if other["meters"] != own["meters"]:
            meters = [f"{', '.join(node['meters'])} on node {node.get('node')}" for node in (own, other)]
            raise FramewattError(
                f"instruments: the nodes have different meters, {' and '.join(meters)}. Name the same meters "
                "in the study (instruments.meters), or leave a node out of nodes."
            )
    return list(own["meters"])


def check_apart(own: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> None:
    """Make sure that no two nodes are one machine, which would count as two.

    Args:
        own: a node's instruments.json.
        others: those of all nodes.

    Raises:
        FramewattError: another node is the same boot of the same machine.
    """
    session = session_of(own["machine"])
    for other in others:
        if other.get("node") != own.get("node") and session_of(other["machine"]) == session:
            raise FramewattError(
                f"nodes: {own.get('node')} and {other.get('node')} are one machine, and would count as two. Leave one "
                "out of nodes."
            )


def idle_here(idle: Calibration, node: str | None) -> Calibration:
    """Return the calibration that corrects a run, after a check that it is of the run's node and session.

    Args:
        idle: the calibration.
        node: alias of the planned node; None where the study has no nodes.

    Raises:
        FramewattError: it is of another node, another machine, or another boot of this one.
    """
    of, wanted = (f"node {alias}" if alias else "no node" for alias in (idle.get("node"), node))
    if of != wanted:
        raise FramewattError(
            f"idle power: it was measured on {of}, and this run is measured on {wanted}. Start snakemake again, which "
            "passes each run the idle power of its node."
        )
    if session_of(idle["machine"]) != session_of(describe_machine()):
        how = (
            "Start snakemake again, which measures it first where Slurm knows when the node was booted; else "
            f"--forcerun results/<study>/calibrate/{node}/idle.json measures it and the node's runs again."
            if node
            else "Start snakemake again on this machine, which measures its idle power first."
        )
        raise FramewattError(
            f"idle power: it was measured on another machine, or on this machine before it was booted again. {how}"
        )
    return idle


def _idle_of(trace: Readings, indices: Sequence[int], start_ns: int, end_ns: int) -> IdlePower:
    """Return a domain's idle power, by the first of its accounts that is valid."""
    series = {index: trace.read_channel(index) for index in indices}
    energies = {i: energy_of(trace.channels[i], *series[i], start_ns, end_ns) for i in indices}
    index = next((i for i in indices if not energies[i].reasons), indices[0])
    channel, whole = trace.channels[index], energies[index]

    def mean_powers(spans: Sequence[tuple[int, int]]) -> list[float | None]:
        return [energy.mean_power_w for energy in energies_of(channel, *series[index], list(spans))]

    shortest_s = SHORTEST_WINDOW_PERIODS * max(channel.update_period_s, channel.period_s)
    spreads = spreads_of(mean_powers, start_ns, end_ns, shortest_s)
    return {
        "mean_power_w": whole.mean_power_w,
        "sd_power_w": reported_spread_w(spreads),
        "spreads": spreads,
        "instrument": channel.instrument,
        "source": channel.quantity,
        "estimated": channel.estimated,
        "valid": not whole.reasons,
        "reasons": list(whole.reasons),
    }
