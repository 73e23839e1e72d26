"""Rest before a run, until power is back near what the idle machine drew."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from framewatt.energy.accounts import energy_channels, energy_of
from framewatt.meters.trace import Readings
from framewatt.sampling.client import Sampler

_LOOK_S = 1.0
"""Seconds over which power is averaged."""

_STEP_S = 0.25


def wait_for_idle(sampler: Sampler, idle: Mapping[str, Any], band: float, timeout_s: float) -> bool:
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


def excess_over_idle(trace: Readings, idle: Mapping[str, Any]) -> float | None:
    """Excess of the last second's power over idle power, as a share, in the domain with the largest.

    None where unknown: there is no full second of readings yet, or no domain with idle power.

    Args:
        trace: the samples so far.
        idle: the calibration.
    """
    shares = []
    for domain, index in energy_channels(trace.channels).items():
        base = (idle["domains"].get(domain) or {}).get("mean_power_w")
        time_ns, value = trace.of(index)
        time_ns = time_ns[np.isfinite(value)]
        if not base:
            continue
        if not len(time_ns):
            return None
        end_ns = int(time_ns[-1])
        found = energy_of(trace.channels[index], *trace.of(index), end_ns - round(_LOOK_S * 1e9), end_ns)
        if found.mean_power_w is None:
            return None
        shares.append(found.mean_power_w / base - 1)
    return max(shares, default=None)
