"""Characterisation of the study's meters on this machine, from before the runs."""

from collections.abc import Mapping
from typing import Any

from framewatt.characterisation.measured import Measured
from framewatt.report.material import Material
from framewatt.report.numbers import UNKNOWN, known, si
from framewatt.report.tables import Table

_HEADER = (
    *("domain", "instrument", "quantity read", "update period", "last digit", "lag", "mean over"),
    *("shortest window for 1 %", "for 5 %", "to be trusted"),
)


def characterised(material: Material) -> Table | None:
    """One row per channel; None where the meters were not characterised.

    Args:
        material: of the report; idle power of a node may hold a `characterisation`.
    """
    found = {
        node: idle["characterisation"]
        for node, (idle, _) in material.calibrations.items()
        if idle.get("characterisation")
    }
    if not found:
        return None
    caption = "What the meters show here of known loads, before the runs"
    rows = [_row(one, node) for node, told in found.items() for one in told["channels"]]
    return Table("meters", caption, _HEADER, rows)


def _row(one: Mapping[str, Any], node: str) -> list[str]:
    channel, late, windows = one["channel"], one["lateness"], one["shortest_window_s"]
    unit = "J" if channel["quantity"] == "energy_j" else "W"
    measured = [(one["update_period"], "s"), (one["resolution"], unit), (late["lag"], "s"), (late["average"], "s")]
    return [
        f"{channel['domain']} of node {node}" if node else channel["domain"],
        *(channel[name] for name in ("instrument", "quantity")),
        *(Measured(**what).words(unit) for what, unit in measured),
        *(_window(windows, share) for share in ("0.01", "0.05")),
        "; ".join(one["problems"]) or "yes",
    ]


def _window(windows: Mapping[str, float | None], share: str) -> str:
    if share not in windows:
        return UNKNOWN
    return si(windows[share], "s") if known(windows[share]) else "none up to an hour"
