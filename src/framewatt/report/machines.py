"""On what the runs were measured, and with which instruments: machines, meters, sampling and idle power."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framewatt.characterisation.measured import Measured
from framewatt.host.machine import any_session_recorded, facts_of, measured_by, session_of
from framewatt.report.material import Material
from framewatt.report.numbers import UNKNOWN, Facts, field_value, field_words, known, plural, si, significant
from framewatt.report.tables import Table

_DRIFT_SPREADS = 3.0
"""Change of idle power, in combined standard deviations, above which the report mentions it."""

_METER_COLUMNS = (
    *("domain", "instrument", "quantity read", "update period", "last digit", "lag", "mean over"),
    *("shortest window for 1 %", "for 5 %", "to be trusted"),
)


@dataclass(frozen=True)
class Machine:
    """A machine that measured, however often it booted.

    Attributes:
        name: hash of its hardware and node; of records that name no session, all that they state of it.
        node: its alias in the study; None where the study has no nodes.
        states: what the record of each of its runs states of it.
    """

    name: str
    node: str | None
    states: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class MachineSection:
    """The machines that measured, what holds for numbers of several, their instruments and the sampling."""

    machines: Sequence[Facts]
    of_several: str
    instruments: Table
    meters: Table | None
    sampling: Facts


def machines_of(material: Material) -> list[Machine]:
    """Return the machines that measured, in the order of their first runs; without runs, that of the calibration."""
    by_hardware = sessions_of(material) > 0
    states: dict[str, list[Mapping[str, Any]]] = {}
    nodes: dict[str, str | None] = {}
    for record in material.records:
        if machine := record["machine"]:
            node = record.get("node")
            name = str(measured_by(machine, node)) if by_hardware else json.dumps(facts_of(machine), sort_keys=True)
            states.setdefault(name, []).append(machine)
            nodes.setdefault(name, node)
    if not states and material.idle.get("machine"):
        return [Machine("idle", material.idle.get("node"), [material.idle["machine"]])]
    return [Machine(name, nodes[name], every) for name, every in states.items()]


def sessions_of(material: Material) -> int:
    """Return the number of sessions (boots of a machine); 0 where every record is from before schema 4."""
    if not any_session_recorded(material.records):
        return 0
    return len({session_of(record["machine"]) for record in material.records if record["machine"]})


def machine_section(material: Material, machines: Sequence[Machine], sessions: int) -> MachineSection:
    """Describe the machines and instruments.

    Args:
        material: of the report.
        machines: from `machines_of`.
        sessions: from `sessions_of`.
    """
    return MachineSection(
        machine_facts(machines, sessions, merged=material.merged),
        several_machines_sentence(sessions, merged=material.merged),
        instruments_table(material),
        meters_table(material),
        sampling_facts(material),
    )


def machine_facts(machines: Sequence[Machine], sessions: int, *, merged: bool) -> list[Facts]:
    """Describe every machine.

    Args:
        machines: from `machines_of`.
        sessions: from `sessions_of`.
        merged: whether the study has the machine as a factor, so that its name is a level.
    """
    described = []
    for machine in machines:
        heading = [("Node", machine.node)] if machine.node else [("Machine", machine.name)] if merged else []
        described.append(heading + _hardware(machine.states) + (_sessions(machine.states) if sessions > 1 else []))
    return described


def several_machines_sentence(sessions: int, *, merged: bool) -> str:
    """State what holds for numbers of several machines."""
    if not sessions:
        return "Their numbers do not compare."
    if merged:
        return (
            "Each is a level of the factor machine. No cell, mean or comparison mixes them; the table of machines has "
            "what holds for all of them together."
        )
    return (
        "Means over all runs mix them. Within a block that a single machine measured, cells compare as on one machine; "
        "flags of comparisons and answers name the blocks that several machines measured."
    )


def _hardware(states: Sequence[Mapping[str, Any]]) -> Facts:
    """Describe a machine; what differs between its sessions has every value."""
    names = dict.fromkeys(name for state in states for name in facts_of(state))
    values = {name: dict.fromkeys(field_value(name, state.get(name)) for state in states) for name in names}
    return [(field_words(name), " or ".join(each)) for name, each in values.items()]


def _sessions(states: Sequence[Mapping[str, Any]]) -> Facts:
    runs = [plural(count, "run") for count in Counter(map(session_of, states)).values()]
    return [("Sessions (boots)", f"{len(runs)}, with {', '.join(runs)}")]


def instruments_table(material: Material) -> Table:
    """Return a table with one row per domain: its meter, and its idle power before and after the runs."""
    meters = {
        (domain, energy["instrument"], energy["source"], energy["estimated"])
        for record in material.records
        for window in record["windows"].values()
        for domain, energy in window["domains"].items()
    }
    rows = []
    for domain, instrument, source, estimated in sorted(meters):
        for node, calibrations in material.calibrations.items():
            idle_powers = [idle.get("domains", {}).get(domain, {}) for idle in calibrations]
            powers = [si(power.get(name), "W") for power in idle_powers for name in ("mean_power_w", "sd_power_w")]
            where = f"{domain} of node {node}" if node else domain
            rows.append([where, instrument, source, "estimated" if estimated else "measured", *powers])
    header = ["domain", "instrument", "quantity read", "measured or estimated"]
    if material.imported:
        return Table("instruments", "Domains, and what read them", header, [row[: len(header)] for row in rows])
    header += ["idle power before", "standard deviation before", "idle power after", "standard deviation after"]
    return Table("instruments", "Domains, what reads them, and their power at rest", header, rows)


def meters_table(material: Material) -> Table | None:
    """Return a table with one row per channel, of what the meters showed of known loads; None if not characterised."""
    rows = [
        _channel_row(channel, node)
        for node, (idle, _) in material.calibrations.items()
        if idle.get("characterisation")
        for channel in idle["characterisation"]["channels"]
    ]
    characterised = any(idle.get("characterisation") for idle, _ in material.calibrations.values())
    caption = "What the meters show here of known loads, before the runs"
    return Table("meters", caption, _METER_COLUMNS, rows) if characterised else None


def _channel_row(measured: Mapping[str, Any], node: str) -> list[str]:
    channel, late, windows = measured["channel"], measured["lateness"], measured["shortest_window_s"]
    unit = "J" if channel["quantity"] == "energy_j" else "W"
    values = [
        *((measured["update_period"], "s"), (measured["resolution"], unit)),
        *((late["lag"], "s"), (late["average"], "s")),
    ]
    return [
        f"{channel['domain']} of node {node}" if node else channel["domain"],
        *(channel[name] for name in ("instrument", "quantity")),
        *(Measured(**value).words(unit) for value, unit in values),
        *(_shortest_window(windows, share) for share in ("0.01", "0.05")),
        "; ".join(measured["problems"]) or "yes",
    ]


def _shortest_window(windows: Mapping[str, float | None], share: str) -> str:
    if share not in windows:
        return UNKNOWN
    return si(windows[share], "s") if known(windows[share]) else "none up to an hour"


def sampling_facts(material: Material) -> Facts:
    """Describe the sampling, and how idle power was measured."""
    if material.imported:
        return _facts_of_logs(material)
    summaries = [record["sampler"] for record in material.records if record["sampler"]]
    rates = [summary["rate_per_s"] for summary in summaries if known(summary.get("rate_per_s"))]
    facts = [("Sampling requested", f"every {si(material.plan['settings']['instruments']['period_s'], 's')}")]
    if rates:
        missed = sum(summary.get("missed_reads") or 0 for summary in summaries)
        reads = sum(summary.get("reads") or 0 for summary in summaries)
        low, high = significant(min(rates)), significant(max(rates))
        facts.append(
            ("Sampling achieved", f"{low} to {high} reads per second; {missed} of {reads + missed} reads missed")
        )
    facts += _parts(material)
    if known(material.idle.get("duration_s")):
        after = (
            "and after them"
            if all(after for _, after in material.calibrations.values())
            else ("and not after them: the uncertainty of net energy holds no drift of idle power")
        )
        facts.append(("Idle power", f"measured for {material.idle['duration_s']:.0f} s before the runs {after}"))
    if disturbed := _idle_disturbances(material):
        facts.append(("Idle power was disturbed", "; ".join(disturbed)))
    if drifts := _idle_drifts(material):
        facts.append(("Idle power changed", f"{'; '.join(drifts)}: the uncertainty of net energy holds it"))
    return facts


def _parts(material: Material) -> Facts:
    """State the parts of the machine that totals cover."""
    parts = material.totals["parts"].dropna().unique()
    return [("Energy is", "; in other runs ".join(f"that of {part}" for part in parts))] if len(parts) else []


def _facts_of_logs(material: Material) -> Facts:
    """Describe the sampling of runs that were read from logs, as far as the logs have it."""
    idle = material.plan["settings"]["files"]["baseline"]
    at_rest = "; ".join(f"{domain} {_idle_power(power)}" for domain, power in idle.items())
    unknown = {(name, reason) for record in material.records for name, reason in record.get("unknown", {}).items()}
    fields = [
        f"{name.removesuffix('_per_s').removesuffix('_s').replace('_', ' ')} ({reason})"
        for name, reason in sorted(unknown)
    ]
    return [
        *_parts(material),
        ("Power at rest", at_rest or "unknown, so that net energy is unknown"),
        ("Unknown", "; ".join(fields) or "nothing"),
    ]


def _idle_power(power: Mapping[str, Any]) -> str:
    spread = power["sd_power_w"]
    return f"{power['mean_power_w']:g} W" + ("" if spread is None else f" ± {spread:g} W") + ", stated by the study"


def _idle_disturbances(material: Material) -> list[str]:
    """List what other processes did while idle power was measured."""
    return [
        f"{when}{_on(node)}, {cause}"
        for node, calibrations in material.calibrations.items()
        for when, idle in zip(("before the runs", "after them"), calibrations, strict=True)
        for cause in (idle.get("witness") or {}).get("disturbed") or []
    ]


def _idle_drifts(material: Material) -> list[str]:
    """List domains with idle power that changed over the runs by more than its spreads explain."""
    drifts = []
    for node, (before, after) in material.calibrations.items():
        for domain, power in before.get("domains", {}).items():
            power_after = after.get("domains", {}).get(domain, {})
            values = [one.get(name) for name in ("mean_power_w", "sd_power_w") for one in (power, power_after)]
            if not all(known(value) for value in values):
                continue
            mean_before, mean_after, *spreads = values
            if abs(mean_after - mean_before) > _DRIFT_SPREADS * math.hypot(*spreads):
                drifts.append(f"{domain}{_on(node)} from {si(mean_before, 'W')} to {si(mean_after, 'W')}")
    return drifts


def _on(node: str) -> str:
    """Return a node in words that follow others; nothing where the study has none."""
    return f" on node {node}" if node else ""
