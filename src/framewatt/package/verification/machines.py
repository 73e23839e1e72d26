"""The machine that runs name is the one whose idle power they were compared with."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.energy.idle_power import usual_spread_w
from framewatt.host.machine import lasting, machine_of, session_of
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.pace import problems_of_idle
from framewatt.planning.placement import NOWHERE
from framewatt.study.study import Study
from framewatt.witness.window import is_seconds

_METERS = ("instrument", "source", "estimated")


def problems(package: Opened, study: Study) -> Iterator[str]:  # study: as the other checks
    """Where records of one session of a machine describe it differently, or a baseline is no measurement."""
    known: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, told in _calibrations(package):
        yield from _baseline(package, told, name)
        if told.get("node", NOWHERE) != (node := _node_in(name)):
            yield f"{name}: node: it says {told.get('node')!r:.40}, and lies in the place of {node or 'no node'}"
        machine = told.get("machine") or {}
        where, found = known.setdefault(str(session_of(machine)), (name, lasting(machine)))
        yield from some(differences(lasting(machine), found, "machine", by="it says", why=f"{where} has"), name)
        yield from _identity(machine, name)
    for name, machine in _elsewhere(package):
        where, found = known.setdefault(str(session_of(machine)), (name, lasting(machine)))
        yield from some(differences(lasting(machine), found, "machine", by="it says", why=f"{where} has"), name)
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
        yield f"{where}: machine.id: it says {machine['id']!r:.40}, its hardware gives {machine_of(machine)}"


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
    yield from some(differences(given, wanted, by="it says", why="the study file has"), name)
    if not isinstance(told.get("duration_s"), float) or told["duration_s"] < wanted["idle_s"]:
        yield f"{name}: duration_s: it says {told.get('duration_s')}, of {wanted['idle_s']:g} s asked for"
    yield from (f"{name}: {line}" for line in problems_of_idle(package, told))
    witness = told.get("witness")
    others_cpu_s = witness.get("others_cpu_s") if isinstance(witness, Mapping) else None
    if not (witness is None or isinstance(witness, Mapping)) or not (others_cpu_s is None or is_seconds(others_cpu_s)):
        yield f"{name}: witness: it says others_cpu_s: {others_cpu_s!r:.40}, which is no number of seconds"
    domains = told.get("domains")
    for domain, idle in domains.items() if isinstance(domains, dict) else ():
        if idle.get("valid") != (not idle.get("reasons")):
            yield f"{name}: {domain}: it says valid: {idle.get('valid')}, with the reasons {idle.get('reasons')}"
        if "spreads" in idle and idle.get("sd_power_w") != usual_spread_w(idle["spreads"]):
            yield f"{name}: {domain}: sd_power_w: it says {idle.get('sd_power_w')}, which its spreads do not give"
    for run, record in package.records:
        of = record.get("node"), session_of(record["machine"])
        if of != (told.get("node"), session_of(told.get("machine") or {})):
            continue
        for window in record["windows"].values():
            has = {d: {key: idle.get(key) for key in _METERS} for d, idle in dict(domains or {}).items()}
            found = {d: _account(energy, has.get(d, {})) for d, energy in window["domains"].items()}
            yield from some(differences(has, found, "domains", by="it says", why=f"{run.where} has"), name)
            return


def _account(energy: Mapping[str, Any], idle: Mapping[str, Any]) -> dict[str, Any]:
    """What read a domain of a run: the account that idle power was read from, where the run has it too.

    A meter that fails in a run, or while the machine idles, leaves its domain to the next account there alone.
    """
    accounts = ({**account, "estimated": energy["estimated"]} for account in (energy, *energy["cross_checks"]))
    told = [{key: account[key] for key in _METERS} for account in accounts]
    return next((account for account in told if account == idle), told[0])
