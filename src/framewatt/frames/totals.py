"""The total of a window: the sum of those domains that do not overlap."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.energy.accounting import NO_POWER
from framewatt.energy.accounts import DIE
from framewatt.study.cell import ON_CUDA
from framewatt.study.factors import NATIVE
from framewatt.study.records import Row, RunRecord, primary_window

TOTAL = "total"
"""Domain that sums the others: all that are metered, and the estimate of processors that are not."""

_INSIDE = ("cpu:core", "cpu:uncore")
"""Prefixes of domains that are parts of a package and are never added to it."""

_GPU = "gpu:"
_WALL = "external:"
_WHOLES = (_WALL, "cpu:psys")
"""Prefixes of domains that include others, the largest first; they are never added to those."""


COUNT, LEAVE_OUT = "count", "leave_out"
"""Levels of `statistics.unused_gpus`: whether a GPU that no run used is part of the totals."""

ESTIMATE = "estimate"
"""Level of `statistics.unmetered`, next to LEAVE_OUT: totals estimate processors without a meter."""

UNCOVERED = "no meter covers the processors, which did all of the work"
"""Why the total of a run does not count if its only meters are of GPUs that it did not use."""


GPU_UNCOVERED = "no meter covers the GPU, which did the work"
"""Why the total of a run on a GPU does not count if it has the energy of processors alone."""

WITHOUT_POWER = (
    "{gpus}: not used, and no meter tells its power; to leave it out: CUDA_VISIBLE_DEVICES or statistics.unused_gpus"
)
"""Why the total of a run does not count if no meter reports the power of one of its GPUs."""


@dataclass(frozen=True)
class Scope:
    """Which parts of the machine the totals of a study cover: the same ones in all of its runs.

    Attributes:
        unused: `statistics.unused_gpus`: COUNT or LEAVE_OUT.
        unmetered: `statistics.unmetered`: ESTIMATE or LEAVE_OUT; None in packages that are older than the key. Their
            totals leave out processors without a meter and each run's unused GPUs.
        gpus: those that some run of the study used, by machine and domain, which LEAVE_OUT leaves in. None is unknown:
            then each run's own use decides.
    """

    unused: str = COUNT
    unmetered: str | None = ESTIMATE
    gpus: frozenset[tuple[str, str]] | None = None

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "Scope":
        """Return the scope that a study's settings name."""
        statistics = settings["statistics"]
        return cls(statistics["unused_gpus"], statistics.get("unmetered"))


OF_A_STUDY = Scope()
"""By the defaults of a study."""


def used_gpus(records: Iterable[RunRecord]) -> frozenset[tuple[str, str]]:
    """Return the GPUs that some run used, by machine and domain.

    Args:
        records: run records.
    """
    return frozenset(
        (machine_in(record), domain)
        for record in records
        if (window := primary_window(record)) is not None
        for domain, energy in window["domains"].items()
        if domain.startswith(_GPU) and not energy.get("unused")
    )


def machine_in(record: RunRecord) -> str:
    """Return a name that distinguishes a record's machine from others of its study."""
    return f"{record.get('node', '')}/{(record['machine'] or {}).get('id', '')}"


def computes_on_gpu(record: RunRecord) -> bool:
    """Return whether a GPU did a record's work: the study's device is a GPU, and so is the provider's."""
    return record["device"] == "cuda" and record["cell"].get("provider", NATIVE) in (NATIVE, *ON_CUDA)


def domains_of(
    domains: Mapping[str, Mapping[str, Any]], scope: Scope = OF_A_STUDY, machine: str = "", *, on_gpu: bool = False
) -> list[Row]:
    """Return the columns of each domain of a window, after those of their total.

    Args:
        domains: a window's energies by domain, as in a run record.
        scope: what the total covers. Where nothing else is metered, it has the GPUs in any case.
        machine: see `machine_in`.
        on_gpu: see `computes_on_gpu`.
    """
    each: list[Row] = [{"domain": name, "parts": name, **energy} for name, energy in sorted(domains.items())]

    def left_out(one: Mapping[str, Any]) -> bool:
        used = scope.gpus is not None and (machine, one["domain"]) in scope.gpus
        return scope.unused == LEAVE_OUT and bool(one.get("unused")) and not used

    return [_total([one for one in each if not left_out(one)] or each, scope, on_gpu), *each]


def _parts(domains: list[Row], scope: Scope) -> list[Row]:
    """Return the domains that add up to the total without overlap; no metered part is estimated (design, 5.5, 5.6)."""
    measured = [d for d in domains if not d["estimated"] and not d["domain"].startswith(_INSIDE)]
    apart = _without_dies([d for d in measured if not d["domain"].startswith(_WHOLES)])
    if any(d["domain"].startswith("cpu:") for d in apart):
        return apart
    wall, psys = ([d for d in measured if d["domain"].startswith(whole)] for whole in _WHOLES)
    if wall or psys:
        # A graphics card has its own power supply lines, which psys does not measure.
        return wall[:1] or psys[:1] + apart
    estimated = [d for d in domains if d["estimated"]] if scope.unmetered == ESTIMATE else []
    return sorted(apart + estimated, key=lambda d: d["domain"]) or domains


def _without_dies(domains: list[Row]) -> list[Row]:
    """Return the domains without dies of a package that is metered as a whole; without the whole if only dies count."""
    dropped: set[str] = set()
    for whole in domains:
        dies = [d for d in domains if d["domain"].startswith(f"{whole['domain']}{DIE}")]
        alone = dies and all(die["valid"] for die in dies) and not whole["valid"]
        dropped |= {d["domain"] for d in ([whole] if alone else dies)}
    return [d for d in domains if d["domain"] not in dropped]


def _total(domains: list[Row], scope: Scope, on_gpu: bool) -> Row:
    """Sum of the domains that do not overlap; it does not count where what did the work is in none of them."""
    parts = _parts(domains, scope)
    total = parts[0] | {"domain": TOTAL} if len(parts) == 1 else _sum(parts)
    if unmetered := [d["domain"] for d in parts if d.get("unused") and NO_POWER in d["reasons"]]:
        return total | {"uncovered": WITHOUT_POWER.format(gpus=", ".join(unmetered))}
    if scope.unmetered is None:
        return total
    if on_gpu and not any(d["domain"].startswith((_GPU, _WALL)) for d in parts):
        return total | {"valid": False, "uncovered": GPU_UNCOVERED}
    idle = parts and all(d["domain"].startswith(_GPU) and d.get("unused") for d in parts)
    return total | {"valid": False, "uncovered": UNCOVERED} if idle else total


def _sum(parts: list[Row]) -> Row:
    total: Row = {
        "domain": TOTAL,
        "parts": " + ".join(d["domain"] for d in parts),
        "instrument": " + ".join(dict.fromkeys(d["instrument"] for d in parts)),
        "estimated": any(d["estimated"] for d in parts),
        "valid": bool(parts) and all(d["valid"] for d in parts),
        "samples": min((d["samples"] for d in parts), default=None),
    }
    for name in ("energy_gross_j", "energy_idle_j", "energy_net_j", "mean_power_w"):
        values = [d[name] for d in parts]
        total[name] = sum(values) if values and all(v is not None for v in values) else None
    for name in ("energy_uncertainty_j", "energy_net_uncertainty_j"):
        values = [d[name] for d in parts]
        known = values and all(v is not None for v in values)
        total[name] = sum(v**2 for v in values) ** 0.5 if known else None
    gaps = [d["largest_gap_s"] for d in parts if d["largest_gap_s"] is not None]
    total["largest_gap_s"] = max(gaps, default=None)
    return total
