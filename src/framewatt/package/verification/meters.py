"""Check the meters of the runs, how often they were read, and the machine and its idle power."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.energy.idle_power import reported_spread_w
from framewatt.host.machine import lasting, machine_of, session_of
from framewatt.meters import chosen_of, make_meter
from framewatt.meters.contract import WITNESS, Polled
from framewatt.meters.trace import Readings
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.reading import differences, some
from framewatt.planning.placement import NOWHERE
from framewatt.study.study import MeasuredStudy
from framewatt.witness.window import is_seconds

_REPLAY = "replay"


@dataclass(frozen=True)
class _Kind:
    """The form of a meter's readings.

    Attributes:
        domains: names that it meters, a regular expression.
        digit_j: last digit of its joules; None where it has none.
    """

    domains: str
    digit_j: float | None = None


_KINDS = {
    "rapl": _Kind("cpu:.+", 1e-6),
    "pyrapl": _Kind("cpu:.+", 1e-6),
    "perf": _Kind("cpu:.+", 1e-2),
    "nvml": _Kind("gpu:.+", 1e-3),
    "nvidia-smi": _Kind("gpu:.+"),
    "external": _Kind("external:.+"),
    "estimate": _Kind("cpu:estimate"),
}

_OFF_DIGITS = 1e-2
"""Largest difference of a reading from a whole number of its last digit, as a share of that digit (floating point)."""


def meter_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield how the meters differ from the study's, or from those of the idle machine."""
    meters_of_node = {}
    for path in (folder / "instruments.json" for folder in package.calibrations):
        name, record = path.relative_to(package.results).as_posix(), mapping_in(path)
        available = {meter: bool(entry.get("available")) for meter, entry in dict(record.get("available", {})).items()}
        wanted: Any = []
        try:
            wanted = chosen_of(study.settings["instruments"], available)
        except FramewattError as error:
            yield f"{name}: {error}"
        meters_of_node[str(record.get("node", NOWHERE))] = name, {"meters": record.get("meters")}
        yield from some(
            differences(
                {"meters": record.get("meters")}, {"meters": wanted}, by="it states", why="study and machine give"
            ),
            name,
        )
    for run, one in package.records:
        if (node := one.get("node", NOWHERE)) not in meters_of_node:
            yield f"{run.where}: node: the package has no instruments.json of the node {node!r}"
            continue
        name, meters = meters_of_node[node]
        yield from some(differences({"meters": one["meters"]}, meters, why=f"{name} has"), run.where)


def problems_of_channels(trace: Readings, meters: Sequence[str]) -> Iterator[str]:
    """Yield the channels of a measured run that its meters do not have, or with readings of another form.

    Args:
        trace: of the run. A replayed trace has the channels of whatever was recorded.
        meters: names of those that were read.
    """
    if _REPLAY in meters:
        return
    for index, channel in enumerate(trace.channels):
        if channel.instrument == WITNESS:
            continue
        kind = _KINDS.get(channel.instrument)
        if channel.instrument not in meters or kind is None:
            yield f"a channel of {channel.instrument}; the run's meters are {', '.join(meters)}"
            continue
        if not re.fullmatch(kind.domains, channel.domain):
            yield f"a channel of {channel.instrument} meters {channel.domain}, which it cannot"
        if channel.estimated != (channel.instrument == "estimate"):
            yield f"a channel of {channel.instrument} is {'' if channel.estimated else 'not '}marked as an estimate"
        if channel.quantity == "energy_j" and kind.digit_j:
            yield from _off_digits(trace, index, kind.digit_j)


def _off_digits(trace: Readings, index: int, digit_j: float) -> Iterator[str]:
    """Yield a line if a channel has joules with more digits than its meter gives, as an estimate has."""
    value = np.asarray(trace.read_channel(index)[1], dtype=np.float64)
    digits = value[np.isfinite(value)] / digit_j
    off = int(np.count_nonzero(np.abs(digits - np.rint(digits)) > _OFF_DIGITS))
    if off:
        channel = trace.channels[index]
        yield f"{off} readings of {channel.domain} are no whole number of {digit_j:g} J, as {channel.instrument} gives"


_METERS = ("instrument", "source", "estimated")


def machine_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:  # study: as the other checks
    """Yield the records that describe the machine of one session differently, and the wrong baselines."""
    known: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, idle in _calibrations(package):
        yield from _baseline(package, idle, name)
        if idle.get("node", NOWHERE) != (node := _node_in(name)):
            yield f"{name}: node: it states {idle.get('node')!r:.40}, and is in the folder of {node or 'no node'}"
        machine = idle.get("machine") or {}
        where, expected = known.setdefault(str(session_of(machine)), (name, lasting(machine)))
        yield from some(differences(lasting(machine), expected, "machine", by="it states", why=f"{where} has"), name)
        yield from _identity(machine, name)
    for name, machine in _elsewhere(package):
        where, expected = known.setdefault(str(session_of(machine)), (name, lasting(machine)))
        yield from some(differences(lasting(machine), expected, "machine", by="it states", why=f"{where} has"), name)
        yield from _identity(machine, name)
    for run, record in package.records:
        try:
            package.idle_of(record)
        except FramewattError as error:
            yield f"{run.where}: {error}"
            continue
        name, machine = known[str(session_of(record["machine"]))]
        yield from some(differences(lasting(record["machine"]), machine, "machine", why=f"{name} has"), run.where)
        yield from _identity(record["machine"], run.where)


def _identity(machine: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield a line if a machine's identity does not follow from its hardware; before schema 4, none was recorded."""
    if "id" in machine and machine["id"] != machine_of(machine):
        yield f"{where}: machine.id: it states {machine['id']!r:.40}, its hardware gives {machine_of(machine)}"


def _calibrations(package: Opened) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every measurement of idle power, with the name of its file."""
    for folder in package.calibrations:
        for path in sorted(folder.glob("idle*.json")):
            yield path.relative_to(package.results).as_posix(), mapping_in(path)


def _node_in(name: str) -> str:
    """Return the node of a file `calibrate/<node>/idle.json`."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else NOWHERE  # folder, node, file


def _elsewhere(package: Opened) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the other descriptions of machines: those in instruments.json and identity.json, with their file."""
    meters = [folder / "instruments.json" for folder in package.calibrations]
    for name, path in (
        *((path.relative_to(package.results).as_posix(), path) for path in meters),
        ("identity.json", package.data / "identity.json"),
    ):
        machine = mapping_in(path).get("machine") if path.is_file() else None
        if isinstance(machine, dict):
            yield name, machine


def _baseline(package: Opened, idle: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield how a measurement of idle power differs from the study's settings, or from the meters of the runs."""
    wanted = {"idle_s": float(package.settings["calibration"]["idle_s"])}
    given = {"idle_s": idle.get("idle_s")}
    yield from some(differences(given, wanted, by="it states", why="the study file has"), name)
    if not isinstance(idle.get("duration_s"), float) or idle["duration_s"] < wanted["idle_s"]:
        yield f"{name}: duration_s: it states {idle.get('duration_s')}, of {wanted['idle_s']:g} s requested"
    yield from (f"{name}: {line}" for line in problems_of_idle(package, idle))
    witness = idle.get("witness")
    others_cpu_s = witness.get("others_cpu_s") if isinstance(witness, Mapping) else None
    if not (witness is None or isinstance(witness, Mapping)) or not (others_cpu_s is None or is_seconds(others_cpu_s)):
        yield f"{name}: witness: it states others_cpu_s: {others_cpu_s!r:.40}, which is no number of seconds"
    domains = idle.get("domains")
    for domain, entry in domains.items() if isinstance(domains, dict) else ():
        if entry.get("valid") != (not entry.get("reasons")):
            yield f"{name}: {domain}: it states valid: {entry.get('valid')}, with the reasons {entry.get('reasons')}"
        if "spreads" in entry and entry.get("sd_power_w") != reported_spread_w(entry["spreads"]):
            yield f"{name}: {domain}: sd_power_w: it states {entry.get('sd_power_w')}, which its spreads do not give"
    for run, record in package.records:
        session = record.get("node"), session_of(record["machine"])
        if session != (idle.get("node"), session_of(idle.get("machine") or {})):
            continue
        for window in record["windows"].values():
            has = {d: {key: entry.get(key) for key in _METERS} for d, entry in dict(domains or {}).items()}
            expected = {d: _account(energy, has.get(d, {})) for d, energy in window["domains"].items()}
            yield from some(differences(has, expected, "domains", by="it states", why=f"{run.where} has"), name)
            return


def _account(energy: Mapping[str, Any], idle: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source of a domain of a run: that of its idle power, if the run has it too, else the first.

    If a meter fails in a run, or while the machine idles, the next source takes over its domain in that place only.
    """
    accounts = ({**account, "estimated": energy["estimated"]} for account in (energy, *energy["cross_checks"]))
    stated = [{key: account[key] for key in _METERS} for account in accounts]
    return next((account for account in stated if account == idle), stated[0])


_WITHOUT_PACE = ("replay", "external")
"""Meters that read what another program wrote, at a pace that no study sets."""

_MORE, _EDGES = 1.2, 3
"""A meter may be read this much more often than planned, by its own clock, and so many times more at the edges."""

_SLOWER, _SLOWER_S = 10, 1.0
"""How much slower than requested a program's lines may be, as a factor and in seconds: it reads GPU after GPU."""

_ROUNDED = 1e-6


def problems_of_pace(trace: Readings, record: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a measured run's readings are more or less frequent than the study sets.

    Args:
        trace: of the run.
        record: of the run.
        options: the study's `instruments`.
    """
    meters = [name for name in record["meters"] if name not in _WITHOUT_PACE]
    first = {name: _first(trace, name) for name in meters}
    for name, index in first.items():
        if index is not None:
            yield from _as_planned(trace, name, options)
            yield from _often_enough(trace, index, polled=_polled(name, options))
    polled = [index for name, index in first.items() if _polled(name, options)]
    # A meter without a channel was read too, but its reads cannot be counted.
    if record["sampler"] is not None and "replay" not in record["meters"] and None not in polled:
        yield from _counted(trace, [index for index in polled if index is not None], record["sampler"])


def problems_of_idle(package: Opened, idle: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if idle power was read less often than the study sets; its readings are not stored.

    Args:
        package: the package with that record.
        idle: content of its idle.json.
    """
    options = package.settings["instruments"]
    meters = [make_meter(name, options) for name in idle.get("meters", [])]
    sampler = idle.get("sampler") or {}
    if any(meter.name == "replay" for meter in meters) or "sources" not in package.stored_plan:
        return
    duration_s, due = sampler.get("duration_s", 0.0), sampler.get("reads", 0) + sampler.get("missed_reads", 0)
    planned = sum(duration_s / meter.period_s + 1 for meter in meters if isinstance(meter, Polled))
    # Before its end, the process may have been unable to read for a while.
    if duration_s < idle.get("duration_s", 0.0) or not 0.2 * planned - _EDGES <= due <= planned * (1 + _ROUNDED):
        yield f"sampler: it states {due} reads were due in {duration_s:.6g} s, the study file gives {planned:.0f}"


def _first(trace: Readings, instrument: str) -> int | None:
    """Return the index of a meter's first channel: all its channels are read at the same times."""
    return next((i for i, channel in enumerate(trace.channels) if channel.instrument == instrument), None)


def _polled(name: str, options: Mapping[str, Any]) -> bool:
    return isinstance(make_meter(name, options), Polled)


def _as_planned(trace: Readings, name: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the channels that were read at another pace than the study sets."""
    expected = {"period_s": make_meter(name, options).period_s}
    for channel in trace.channels:
        if channel.instrument == name:
            stated = {"period_s": channel.period_s}
            yield from differences(
                stated, expected, f"{name} {channel.domain}", by="its trace states", why="the study gives"
            )


def _often_enough(trace: Readings, index: int, *, polled: bool) -> Iterator[str]:
    """Yield a line if readings are more frequent than planned, or less frequent than a slow program's."""
    channel = trace.channels[index]
    time_ns, value = trace.read_channel(index)
    if len(time_ns) < 2 or not channel.period_s:
        return
    span_s = float(np.ptp(time_ns)) * 1e-9
    good = int(np.count_nonzero(np.isfinite(value)))
    summary = f"{channel.instrument}: {len(time_ns)} readings in {span_s:.6g} s, planned every {channel.period_s:g} s"
    if good > _MORE * span_s / channel.period_s + _EDGES:
        yield f"{summary}: more often than that"
    elif not polled and len(time_ns) < span_s / (_SLOWER * channel.period_s + _SLOWER_S) - _EDGES:
        yield f"{summary}: less often than that"


def _counted(trace: Readings, polled: Sequence[int], sampler: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a trace differs from the counts of the sampling process (sampling.OnTime): on time, or missed."""
    reads, due = 0, 0.0
    for index in polled:
        # The last reading is that at the end of sampling, which is not at the pace.
        time_ns = trace.read_channel(index)[0][:-1]
        reads += len(time_ns)
        period_s = trace.channels[index].period_s
        if len(time_ns) and period_s:
            due += float(np.ptp(time_ns)) * 1e-9 / period_s
    stated, missed = sampler.get("reads"), sampler.get("missed_reads")
    yield from differences({"reads": stated}, {"reads": reads}, "sampler", why="its trace has")
    if not isinstance(missed, int) or reads + missed < due * (1 - _ROUNDED):
        yield f"sampler.missed_reads: the record states {missed}, of {due:.0f} reads that were due {reads} are there"
