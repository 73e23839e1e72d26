"""The meters that were read and how often, on the machine whose idle power was calibrated."""

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
    """What readings of a meter look like.

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
"""Share of its last digit by which a reading may be off a whole number of digits, by floating point."""


def meter_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Where the meters are not those that the study asks for, or idled and ran with other ones."""
    told = {}
    for path in (folder / "instruments.json" for folder in package.calibrations):
        name, record = path.relative_to(package.results).as_posix(), mapping_in(path)
        available = {meter: bool(entry.get("available")) for meter, entry in dict(record.get("available", {})).items()}
        wanted: Any = []
        try:
            wanted = chosen_of(study.settings["instruments"], available)
        except FramewattError as error:
            yield f"{name}: {error}"
        told[str(record.get("node", NOWHERE))] = name, {"meters": record.get("meters")}
        yield from some(
            differences(
                {"meters": record.get("meters")}, {"meters": wanted}, by="it states", why="study and machine give"
            ),
            name,
        )
    for run, one in package.records:
        if (node := one.get("node", NOWHERE)) not in told:
            yield f"{run.where}: node: the package has no instruments.json of the node {node!r}"
            continue
        name, meters = told[node]
        yield from some(differences({"meters": one["meters"]}, meters, why=f"{name} has"), run.where)


def problems_of_channels(trace: Readings, meters: Sequence[str]) -> Iterator[str]:
    """Channels of a measured run that its meters do not have, or whose readings are not such a meter's.

    Args:
        trace: of the run. One that is replayed has the channels of whatever was recorded.
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
            yield f"a channel of {channel.instrument} is {'' if channel.estimated else 'not '}said to be an estimate"
        if channel.quantity == "energy_j" and kind.digit_j:
            yield from _off_digits(trace, index, kind.digit_j)


def _off_digits(trace: Readings, index: int, digit_j: float) -> Iterator[str]:
    """Readings of joules that a meter with such a last digit does not give, as an estimate's are."""
    value = np.asarray(trace.read_channel(index)[1], dtype=np.float64)
    digits = value[np.isfinite(value)] / digit_j
    off = int(np.count_nonzero(np.abs(digits - np.rint(digits)) > _OFF_DIGITS))
    if off:
        channel = trace.channels[index]
        yield f"{off} readings of {channel.domain} are no whole number of {digit_j:g} J, as {channel.instrument} gives"


_METERS = ("instrument", "source", "estimated")


def machine_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:  # study: as the other checks
    """Where records of one session of a machine describe it differently, or a baseline is no measurement."""
    known: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, told in _calibrations(package):
        yield from _baseline(package, told, name)
        if told.get("node", NOWHERE) != (node := _node_in(name)):
            yield f"{name}: node: it states {told.get('node')!r:.40}, and lies in the place of {node or 'no node'}"
        machine = told.get("machine") or {}
        where, found = known.setdefault(str(session_of(machine)), (name, lasting(machine)))
        yield from some(differences(lasting(machine), found, "machine", by="it states", why=f"{where} has"), name)
        yield from _identity(machine, name)
    for name, machine in _elsewhere(package):
        where, found = known.setdefault(str(session_of(machine)), (name, lasting(machine)))
        yield from some(differences(lasting(machine), found, "machine", by="it states", why=f"{where} has"), name)
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
    """Where a machine's identity is not that of the hardware that is told; before schema 4, none was told."""
    if "id" in machine and machine["id"] != machine_of(machine):
        yield f"{where}: machine.id: it states {machine['id']!r:.40}, its hardware gives {machine_of(machine)}"


def _calibrations(package: Opened) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every measurement of idle power, by the name of its file."""
    for folder in package.calibrations:
        for path in sorted(folder.glob("idle*.json")):
            yield path.relative_to(package.results).as_posix(), mapping_in(path)


def _node_in(name: str) -> str:
    """The node of a file `calibrate/<node>/idle.json`."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else NOWHERE  # folder, node, file


def _elsewhere(package: Opened) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Other descriptions of machines: where meters were looked for, and where the package was written."""
    meters = [folder / "instruments.json" for folder in package.calibrations]
    for name, path in (
        *((path.relative_to(package.results).as_posix(), path) for path in meters),
        ("identity.json", package.data / "identity.json"),
    ):
        machine = mapping_in(path).get("machine") if path.is_file() else None
        if isinstance(machine, dict):
            yield name, machine


def _baseline(package: Opened, told: Mapping[str, Any], name: str) -> Iterator[str]:
    """Where idle power was not measured as the study asks for it, or by other meters than the runs."""
    wanted = {"idle_s": float(package.settings["calibration"]["idle_s"])}
    given = {"idle_s": told.get("idle_s")}
    yield from some(differences(given, wanted, by="it states", why="the study file has"), name)
    if not isinstance(told.get("duration_s"), float) or told["duration_s"] < wanted["idle_s"]:
        yield f"{name}: duration_s: it states {told.get('duration_s')}, of {wanted['idle_s']:g} s asked for"
    yield from (f"{name}: {line}" for line in problems_of_idle(package, told))
    witness = told.get("witness")
    others_cpu_s = witness.get("others_cpu_s") if isinstance(witness, Mapping) else None
    if not (witness is None or isinstance(witness, Mapping)) or not (others_cpu_s is None or is_seconds(others_cpu_s)):
        yield f"{name}: witness: it states others_cpu_s: {others_cpu_s!r:.40}, which is no number of seconds"
    domains = told.get("domains")
    for domain, idle in domains.items() if isinstance(domains, dict) else ():
        if idle.get("valid") != (not idle.get("reasons")):
            yield f"{name}: {domain}: it states valid: {idle.get('valid')}, with the reasons {idle.get('reasons')}"
        if "spreads" in idle and idle.get("sd_power_w") != reported_spread_w(idle["spreads"]):
            yield f"{name}: {domain}: sd_power_w: it states {idle.get('sd_power_w')}, which its spreads do not give"
    for run, record in package.records:
        of = record.get("node"), session_of(record["machine"])
        if of != (told.get("node"), session_of(told.get("machine") or {})):
            continue
        for window in record["windows"].values():
            has = {d: {key: idle.get(key) for key in _METERS} for d, idle in dict(domains or {}).items()}
            found = {d: _account(energy, has.get(d, {})) for d, energy in window["domains"].items()}
            yield from some(differences(has, found, "domains", by="it states", why=f"{run.where} has"), name)
            return


def _account(energy: Mapping[str, Any], idle: Mapping[str, Any]) -> dict[str, Any]:
    """What read a domain of a run: the account that idle power was read from, where the run has it too.

    A meter that fails in a run, or while the machine idles, leaves its domain to the next account there alone.
    """
    accounts = ({**account, "estimated": energy["estimated"]} for account in (energy, *energy["cross_checks"]))
    told = [{key: account[key] for key in _METERS} for account in accounts]
    return next((account for account in told if account == idle), told[0])


_NO_STUDY_SAYS = ("replay", "external")
"""Meters that read on where others wrote: their lines come as they come."""

_MORE, _EDGES = 1.2, 3
"""A meter may be read this much more often than planned, by its own clock, and so many times more at the edges."""

_SLOWER, _SLOWER_S = 10, 1.0
"""By how much a program's lines may be slower than asked for, as a factor and in seconds: it asks every GPU in turn."""

_ROUNDED = 1e-6


def problems_of_pace(trace: Readings, record: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[str]:
    """Where a measured run's readings are not as often as the study asks for.

    Args:
        trace: of the run.
        record: of the run.
        options: the study's `instruments`.
    """
    meters = [name for name in record["meters"] if name not in _NO_STUDY_SAYS]
    first = {name: _first(trace, name) for name in meters}
    for name, index in first.items():
        if index is not None:
            yield from _as_planned(trace, name, options)
            yield from _often_enough(trace, index, polled=_polled(name, options))
    polled = [index for name, index in first.items() if _polled(name, options)]
    # A meter that has no channel here was read all the same, and left nothing.
    if record["sampler"] is not None and "replay" not in record["meters"] and None not in polled:
        yield from _counted(trace, [index for index in polled if index is not None], record["sampler"])


def problems_of_idle(package: Opened, told: Mapping[str, Any]) -> Iterator[str]:
    """Where idle power was read less often than the study asks for; its readings are not kept.

    Args:
        package: that it is in.
        told: idle.json.
    """
    options = package.settings["instruments"]
    meters = [make_meter(name, options) for name in told.get("meters", [])]
    sampler = told.get("sampler") or {}
    if any(meter.name == "replay" for meter in meters) or "sources" not in package.told_plan:
        return
    duration_s, due = sampler.get("duration_s", 0.0), sampler.get("reads", 0) + sampler.get("missed_reads", 0)
    planned = sum(duration_s / meter.period_s + 1 for meter in meters if isinstance(meter, Polled))
    # At its end, the process may have been kept from reading for a while.
    if duration_s < told.get("duration_s", 0.0) or not 0.2 * planned - _EDGES <= due <= planned * (1 + _ROUNDED):
        yield f"sampler: it states {due} reads were due in {duration_s:.6g} s, the study file gives {planned:.0f}"


def _first(trace: Readings, instrument: str) -> int | None:
    """A meter's first channel: all have the same readings."""
    return next((i for i, channel in enumerate(trace.channels) if channel.instrument == instrument), None)


def _polled(name: str, options: Mapping[str, Any]) -> bool:
    return isinstance(make_meter(name, options), Polled)


def _as_planned(trace: Readings, name: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Channels that say they were read at another pace than the study gives."""
    found = {"period_s": make_meter(name, options).period_s}
    for channel in trace.channels:
        if channel.instrument == name:
            told = {"period_s": channel.period_s}
            yield from differences(
                told, found, f"{name} {channel.domain}", by="its trace states", why="the study gives"
            )


def _often_enough(trace: Readings, index: int, *, polled: bool) -> Iterator[str]:
    """Readings that come more often than planned, or from a program less often than it can be late."""
    channel = trace.channels[index]
    time_ns, value = trace.read_channel(index)
    if len(time_ns) < 2 or not channel.period_s:
        return
    span_s = float(np.ptp(time_ns)) * 1e-9
    good = int(np.count_nonzero(np.isfinite(value)))
    said = f"{channel.instrument}: {len(time_ns)} readings in {span_s:.6g} s, planned every {channel.period_s:g} s"
    if good > _MORE * span_s / channel.period_s + _EDGES:
        yield f"{said}: more often than that"
    elif not polled and len(time_ns) < span_s / (_SLOWER * channel.period_s + _SLOWER_S) - _EDGES:
        yield f"{said}: less often than that"


def _counted(trace: Readings, polled: Sequence[int], sampler: Mapping[str, Any]) -> Iterator[str]:
    """Readings that are not those that the sampling process counted (sampling.OnTime): on time, or missed."""
    reads, due = 0, 0.0
    for index in polled:
        # The last reading is the one at the end, which comes when it comes.
        time_ns = trace.read_channel(index)[0][:-1]
        reads += len(time_ns)
        period_s = trace.channels[index].period_s
        if len(time_ns) and period_s:
            due += float(np.ptp(time_ns)) * 1e-9 / period_s
    told, missed = sampler.get("reads"), sampler.get("missed_reads")
    yield from differences({"reads": told}, {"reads": reads}, "sampler", why="its trace has")
    if not isinstance(missed, int) or reads + missed < due * (1 - _ROUNDED):
        yield f"sampler.missed_reads: the record states {missed}, of {due:.0f} reads that were due {reads} are there"
