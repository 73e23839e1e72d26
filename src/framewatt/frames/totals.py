"""The total of a window: the sum of those domains that do not overlap."""

from collections.abc import Mapping
from typing import Any

from framewatt.energy.mirrors import DIE

TOTAL = "total"
"""Domain that sums the others: all measured ones, or the estimate where nothing was measured."""

_INSIDE = ("cpu:core", "cpu:uncore")
"""Prefixes of domains that lie inside a package and are never added to it."""

_WHOLES = ("external:", "cpu:psys")
"""Prefixes of domains that include others, the largest first; they are never added to those."""


COUNT, LEAVE_OUT = "count", "leave_out"
"""Levels of `statistics.unused_gpus`: whether a GPU that a run did not use is part of its total."""


def domains_of(domains: Mapping[str, Mapping[str, Any]], unused: str = COUNT) -> list[dict[str, Any]]:
    """Columns of each domain of a window, after those of their total.

    Args:
        domains: a window's energies by domain, as in a run record.
        unused: whether the total counts GPUs that the run did not use: count or leave_out. Where nothing else is
            metered, it does.
    """
    each: list[dict[str, Any]] = [{"domain": name, "parts": name, **energy} for name, energy in sorted(domains.items())]
    counted = [one for one in each if not (unused == LEAVE_OUT and one.get("unused"))]
    return [_total(counted or each), *each]


def _parts(domains: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The domains that add up to the total without overlap; a measured total holds no estimate (design, 5.4)."""
    measured = [d for d in domains if not d["estimated"] and not d["domain"].startswith(_INSIDE)]
    apart = _without_dies([d for d in measured if not d["domain"].startswith(_WHOLES)])
    if any(d["domain"].startswith("cpu:") for d in apart):
        return apart
    wall, psys = ([d for d in measured if d["domain"].startswith(whole)] for whole in _WHOLES)
    # A graphics card has its own power supply lines, which psys does not measure.
    return wall[:1] or psys[:1] + apart or domains


def _without_dies(domains: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The domains without dies of a package that is metered as a whole; without the whole if only its dies count."""
    dropped: set[str] = set()
    for whole in domains:
        dies = [d for d in domains if d["domain"].startswith(f"{whole['domain']}{DIE}")]
        alone = dies and all(die["valid"] for die in dies) and not whole["valid"]
        dropped |= {d["domain"] for d in ([whole] if alone else dies)}
    return [d for d in domains if d["domain"] not in dropped]


def _total(domains: list[dict[str, Any]]) -> dict[str, Any]:
    """Sum of the domains that do not overlap."""
    parts = _parts(domains)
    if len(parts) == 1:
        return parts[0] | {"domain": TOTAL}
    total: dict[str, Any] = {
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
