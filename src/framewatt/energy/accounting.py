"""From readings and events to the energy of each window: the channel that counts, and gross, idle and net joules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from framewatt.energy.accounts import (
    POWER,
    Spans,
    believed,
    energies_of,
    energy_accounts,
    mirrored,
    unless_contradicted,
)
from framewatt.energy.gauges import summaries, unused_gpus
from framewatt.energy.idle_power import idle_uncertainty_w
from framewatt.energy.windows import SHORTEST_WINDOW_PERIODS, WindowEnergy, combine
from framewatt.meters.contract import Channel
from framewatt.meters.gpus import THROTTLE_REASONS, throttled_shares
from framewatt.meters.trace import Readings
from framewatt.witness.instrument import JUDGED_HERE
from framewatt.witness.window import others_at_rest, witness_of, witnessed

_SURELY = 3
"""Net energy may be this many standard uncertainties below 0; by chance, one quiet domain in a thousand is lower."""

NO_POWER = "its driver tells no power, so that its energy is not known"
"""Reason, in records, of a GPU without energy: the driver reports its temperature or its load, but no power."""

PHASE = "phase-"
"""How the names of windows start that are phases of steps (tasks.phases): many short spans, one or more for each step.

Energy is given only where every span is long enough for the meter: a reading, or a mean over two phases, is not the
energy of a phase.
"""

LARGEST_DEVIATION = 0.03
"""Relative difference of two accounts of one domain above which it is flagged."""


def spans_of(events: Sequence[Mapping[str, Any]]) -> dict[str, Spans]:
    """Return the spans of every window that has ended; for trainings, `steady` is all epochs together.

    Args:
        events: `window`, `edge` (`start` or `end`) and `monotonic_ns`, in the order in which they happened.
    """
    starts: dict[str, int] = {}
    spans: dict[str, Spans] = {}
    for event in events:
        if event["edge"] == "start":
            starts[event["window"]] = event["monotonic_ns"]
        # An end without a start is ignored.
        elif (start_ns := starts.pop(event["window"], None)) is not None and event["monotonic_ns"] > start_ns:
            spans.setdefault(event["window"], []).append((start_ns, event["monotonic_ns"]))
    epochs = [span for name, parts in spans.items() if name.startswith("epoch-") for span in parts]
    if epochs:
        spans["steady"] = _merge_overlapping(epochs)
    return spans


def _merge_overlapping(spans: Spans) -> Spans:
    """Return the spans sorted, with overlapping ones merged, so that no joule counts twice."""
    merged: Spans = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def windows_of(windows: Mapping[str, Spans], trace: Readings, idle: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the windows of a run as in its record, except for their times of day.

    Args:
        windows: by name, the spans of each window, at least one.
        trace: raw readings that should cover the windows.
        idle: the calibration, see calibration.measure_idle.

    Returns:
        by window: edges, `duration_s`, energy by domain, mean and maximum of every other gauge by domain and quantity,
        and what the witness saw.
    """
    every = list(dict.fromkeys(span for spans in windows.values() for span in spans))
    accounts = {
        index: dict(zip(every, energies_of(channel, *trace.read_channel(index), every), strict=True))
        for index, channel in enumerate(trace.channels)
        if channel.quantity in ("energy_j", *POWER)
    }
    gauges = summaries(trace, windows, leave_out=(*POWER, THROTTLE_REASONS, *JUDGED_HERE))
    unused = unused_gpus(trace, every)
    unmetered = _gpus_without_power(trace)
    witness = witness_of(trace)
    records = {}
    for name, spans in windows.items():
        window = _window(spans, trace, idle, accounts, phases=name.startswith(PHASE))
        nothing = WindowEnergy(None, None, None, 0, 0, None, (NO_POWER,))
        for domain, instrument in unmetered.items():
            energy = _net_of(nothing, None, window["duration_s"]) | {"flags": []}
            head = {"instrument": instrument, "source": "", "estimated": False}
            window["domains"][domain] = head | energy | {"cross_checks": []}
        for domain in unused & window["domains"].keys():
            energy = window["domains"][domain]
            energy["unused"] = True
            energy["flags"] += _unused(energy["energy_gross_j"])
        records[name] = window | {
            "gauges": gauges[name],
            "witness": witnessed(witness, spans, others_at_rest(idle)),
        }
    return records


def _gpus_without_power(trace: Readings) -> dict[str, str]:
    """Return the instrument by domain of the GPUs that are read but have no channel of energy or power."""
    known = {channel.domain for channel in trace.channels if channel.quantity in ("energy_j", *POWER)}
    return {
        channel.domain: channel.instrument
        for channel in trace.channels
        if channel.domain.startswith("gpu:") and channel.domain not in known
    }


def window_of(spans: Spans, trace: Readings, idle: Mapping[str, Any]) -> dict[str, Any]:
    """Return one window, see `windows_of`."""
    return windows_of({"": spans}, trace, idle)[""]


Accounts = Mapping[int, Mapping[tuple[int, int], WindowEnergy]]
"""Energy of every span, by index of the channel; channels of energy or power only."""


def _window(
    spans: Spans, trace: Readings, idle: Mapping[str, Any], accounts: Accounts, *, phases: bool
) -> dict[str, Any]:
    """Return the edges of a window and its energy by domain; `phases` is whether its spans are phases of steps."""
    duration_s = sum(end - start for start, end in spans) * 1e-9
    domains = {}
    twins = mirrored(trace, spans)
    for domain, indices in energy_accounts(trace.channels).items():
        energies = {index: _over(accounts[index], spans, duration_s) for index in indices}
        if phases:
            energies = {index: _long_enough(energies[index], trace.channels[index], spans) for index in indices}
        energies = believed(energies, trace, spans, twins)
        index = next((index for index in indices if not energies[index].reasons), indices[0])
        energies[index] = unless_contradicted(energies, trace.channels, index, duration_s)
        channel = trace.channels[index]
        entry: dict[str, Any] = {
            "instrument": channel.instrument,
            "source": channel.quantity,
            "estimated": channel.estimated,
            **_net_of(energies[index], idle["domains"].get(domain), duration_s),
        }
        entry["flags"] += [
            f"{trace.channels[other].quantity} of {trace.channels[other].instrument} does not count: {reason}"
            for other in indices[: indices.index(index)]
            for reason in energies[other].reasons
        ]
        entry["cross_checks"], flags = _cross_checks(entry, trace, index, energies)
        entry["flags"] += [channel.note] if channel.note else []
        entry["flags"] += flags + _throttling(trace, domain, spans)
        domains[domain] = entry
    return {
        "start_monotonic_ns": spans[0][0],
        "end_monotonic_ns": spans[-1][1],
        "duration_s": duration_s,
        "spans_monotonic_ns": [list(span) for span in spans],
        "domains": domains,
    }


def _over(energies: Mapping[tuple[int, int], WindowEnergy], spans: Spans, duration_s: float) -> WindowEnergy:
    """Return the energy of one channel over all parts of a window."""
    parts = [energies[span] for span in spans]
    return parts[0] if len(parts) == 1 else combine(parts, duration_s)


def _long_enough(energy: WindowEnergy, channel: Channel, spans: Spans) -> WindowEnergy:
    """Return the energy of phases of steps, without a value where one of them is too short for the meter."""
    shortest_s = min(end - start for start, end in spans) * 1e-9
    least_s = max(SHORTEST_WINDOW_PERIODS * max(channel.update_period_s, channel.period_s), channel.fit_window_s)
    if shortest_s >= least_s:
        return energy
    reason = f"a phase of {shortest_s:.3g} s is shorter than the {least_s:.3g} s that this meter needs"
    return replace(
        energy, energy_j=None, uncertainty_j=None, mean_power_w=None, reasons=(*energy.reasons, reason), flags=()
    )


def _cross_checks(
    entry: Mapping[str, Any], trace: Readings, chosen: int, energies: Mapping[int, WindowEnergy]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the other accounts of a domain's energy, and flags where they deviate from the chosen one (design, 5.5).

    Other accounts are integrated power where a counter was chosen, and other instruments.
    """
    checks, flags = [], []
    for index, other in energies.items():
        channel = trace.channels[index]
        if index == chosen:
            continue
        check: dict[str, Any] = {
            "instrument": channel.instrument,
            "source": channel.quantity,
            "energy_j": other.energy_j,
            "deviation": None,
            "reasons": list(other.reasons),
        }
        if other.energy_j is not None and entry["energy_gross_j"]:
            check["deviation"] = other.energy_j / entry["energy_gross_j"] - 1
            if abs(check["deviation"]) > LARGEST_DEVIATION:
                flags.append(
                    f"{channel.quantity} of {channel.instrument} is {100 * check['deviation']:+.1f} % off "
                    f"{entry['source']} of {entry['instrument']}"
                )
        checks.append(check)
    return checks, flags


def _unused(gross_j: float | None) -> list[str]:
    """Return the flag for a GPU that did nothing in the whole run: the energy that it adds to the total."""
    if gross_j is None:
        return []
    return [
        f"unused by this run: its {gross_j:.4g} J are in the total, unless CUDA_VISIBLE_DEVICES or "
        "statistics.unused_gpus leaves them out"
    ]


def _throttling(trace: Readings, domain: str, spans: Spans) -> list[str]:
    """Return the flags for a throttled GPU: each reason, and its share of a window's readings."""
    for index, channel in enumerate(trace.channels):
        if channel.domain == domain and channel.quantity == THROTTLE_REASONS:
            shares = throttled_shares(trace.inside(index, spans))
            return [f"throttled in {100 * share:.2g} % of readings: {name}" for name, share in shares.items()]
    return []


def _less_than_idle(net_j: float, uncertainty_j: float) -> list[str]:
    """Return the flag for less power at work than at rest: something else ran while idle power was measured."""
    if net_j >= -_SURELY * uncertainty_j:
        return []
    return [f"{-net_j:.4g} J less than the idle machine's: more was drawn than at rest while idle power was measured"]


def _net_of(energy: WindowEnergy, idle: Mapping[str, Any] | None, duration_s: float) -> dict[str, Any]:
    """Return a domain's entry: gross energy, idle energy, and their difference (net), with uncertainties and flags."""
    idle_j = net_j = net_uncertainty_j = None
    flags = list(energy.flags)
    if idle is None or idle["mean_power_w"] is None:
        flags.append("no idle power, so no net energy")
    else:
        idle_j = idle["mean_power_w"] * duration_s
        if energy.energy_j is not None and energy.uncertainty_j is not None:
            net_j = energy.energy_j - idle_j
            if (idle_w := idle_uncertainty_w(idle, duration_s)) is not None:
                net_uncertainty_j = float(np.hypot(energy.uncertainty_j, idle_w * duration_s))
            flags += _less_than_idle(net_j, energy.uncertainty_j if net_uncertainty_j is None else net_uncertainty_j)
    return {
        "energy_gross_j": energy.energy_j,
        "energy_idle_j": idle_j,
        "energy_net_j": net_j,
        "energy_uncertainty_j": energy.uncertainty_j,
        "energy_net_uncertainty_j": net_uncertainty_j,
        "mean_power_w": energy.mean_power_w,
        "samples": energy.samples,
        "failed_reads": energy.failed_reads,
        "largest_gap_s": energy.largest_gap_s,
        "valid": not energy.reasons,
        "reasons": list(energy.reasons),
        "flags": flags,
    }
