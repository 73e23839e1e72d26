"""Uncertainty of the idle machine's power during a run.

The power without the run differs from the calibrated mean for three reasons: the mean is over a finite time, idle power
wanders over times as long as the run, and it drifts between the start and the end of a study.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.files import read_json
from framewatt.host.machine import session_of
from framewatt.study.records import IdleSpread

_FEWEST = 4
_MOST = 128

_TWICE = {4: 1.59, 8: 1.18, 16: 1.07, 32: 1.02, 64: 1.0, 128: 0.99}
"""Half of Student's t for 95 %, by the number of spans that a standard deviation is computed from: scaled by it, twice
the standard deviation covers 95 % (JCGM 100:2008, G.3)."""

MeanPowers = Callable[[Sequence[tuple[int, int]]], Sequence[float | None]]
"""Mean power of every span (start and end in nanoseconds), None where it is unknown."""


def spreads_of(mean_powers: MeanPowers, start_ns: int, end_ns: int, shortest_s: float) -> list[IdleSpread]:
    """Return the standard deviation of the mean power of spans of idle time, by length of the spans.

    Idle power is autocorrelated: its standard error follows not from the number of readings, but from blocks of
    increasing length (Flyvbjerg and Petersen 1989, doi:10.1063/1.457480).

    Args:
        mean_powers: returns the mean power of spans by the meter.
        start_ns: start of the idle time.
        end_ns: end of the idle time.
        shortest_s: shorter spans would show the meter's noise, not the machine's; the longest are always taken.

    Returns:
        by length of span, the longest first: `span_s`, `spans` (how many) and `sd_power_w`; lengths with an unknown
        power are left out.
    """
    spreads: list[IdleSpread] = []
    spans = _FEWEST
    while spans <= _MOST and (not spreads or (end_ns - start_ns) * 1e-9 / spans >= shortest_s):
        edges = np.linspace(start_ns, end_ns, spans + 1).astype(np.int64).tolist()
        powers = mean_powers(list(itertools.pairwise(edges)))
        if all(power is not None for power in powers):
            spread_w = float(np.std(np.array(powers, np.float64), ddof=1))
            spreads.append({"span_s": (end_ns - start_ns) * 1e-9 / spans, "spans": spans, "sd_power_w": spread_w})
        spans *= 2
    return spreads


def reported_spread_w(spreads: Sequence[IdleSpread]) -> float | None:
    """Return the spread to report in watts: over eighths of the idle time, or quarters where eighths are too short."""
    return float(spreads[min(1, len(spreads) - 1)]["sd_power_w"]) if spreads else None


def idle_uncertainty_w(idle: Mapping[str, Any], duration_s: float) -> float | None:
    """Return the standard uncertainty of the power that an idle machine would have drawn during a run, in watts.

    Args:
        idle: a domain's idle power, see calibration.measure_idle; without `spreads` (from a study file or an old
            record) its `sd_power_w` is the result.
        duration_s: of the run.

    Returns:
        None where the spread is unknown.
    """
    spreads = idle.get("spreads")
    if not spreads:
        return None if idle["sd_power_w"] is None else float(idle["sd_power_w"])
    covering = [
        (spread["span_s"], spread["spans"], spread["sd_power_w"] * _TWICE[spread["spans"]]) for spread in spreads
    ]
    # If no span is as short as the run: a mean over a shorter time spreads more, at most as uncorrelated noise does.
    within = [spread for spread in covering if spread[0] <= duration_s]
    shortest_s, _, shortest_w = covering[-1]
    wandering_w = max(within)[2] if within else shortest_w * (shortest_s / duration_s) ** 0.5
    of_mean_w = max(sd_w / spans**0.5 for _, spans, sd_w in covering)
    return float(np.hypot(wandering_w, of_mean_w))


Calibrations = list[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""Idle power of each node before the runs and after them; the second is empty where the study was interrupted."""


def read_calibrations(
    paths: Iterable[str | Path], read: Callable[[Path], Mapping[str, Any]] = read_json
) -> Calibrations:
    """Read the idle power of each node, in the order of the nodes.

    Args:
        paths: idle.json of each node, and idle_after.json in the same folder where there is one.
        read: reads a file.
    """
    folders: dict[Path, dict[str, Mapping[str, Any]]] = {}
    for path in map(Path, paths):
        folders.setdefault(path.parent, {})[path.stem] = read(path)
    return [(calibrations["idle"], calibrations.get("idle_after", {})) for calibrations in folders.values()]


def drifts_w(calibrations: Calibrations) -> dict[str, dict[str, float]]:
    """Return the drift of every node's idle power, by node; that of a study without nodes is of the node ""."""
    return {str(before.get("node", "")): drift_w(before, after) for before, after in calibrations}


def drift_w(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, float]:
    """Return the standard uncertainty of idle power from its drift during a study, in watts by domain.

    Idle power may have been anywhere between both values at any time: this is the root mean square of a uniform
    distribution between 0 and the difference.

    Args:
        before: idle.json, or nothing.
        after: idle_after.json, or nothing; only of the same session of a machine.
    """
    sessions = [session_of(idle.get("machine") or {}) for idle in (before, after)]
    if sessions[0] is None or sessions[0] != sessions[1]:
        return {}
    drifts = {}
    for domain, power in before["domains"].items():
        means = power["mean_power_w"], (after["domains"].get(domain) or {}).get("mean_power_w")
        if None not in means:
            drifts[domain] = abs(means[1] - means[0]) / 3**0.5
    return drifts
