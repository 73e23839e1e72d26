"""Energy of a window with its uncertainty: what counters and gauges have in common (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from framewatt.meters.contract import Channel

SHORTEST_WINDOW_PERIODS = 20
"""A window of fewer update periods of its meter, or fewer readings, is flagged (design, section 5.7)."""

UNIFORM = 12**-0.5
"""Standard deviation of a uniform distribution, as a share of its width (JCGM 100:2008, 4.3.7)."""


@dataclass(frozen=True)
class WindowEnergy:
    """A window's energy as one channel measured it.

    Attributes:
        energy_j: joules, or None where the window is invalid.
        uncertainty_j: standard uncertainty of `energy_j` in joules, or None.
        mean_power_w: watts, or None.
        samples: good samples inside the window, edges included.
        failed_reads: reads inside the window that failed and were bridged.
        largest_gap_s: longest time between two successive good samples inside or next to the window, in seconds.
        reasons: why the window is invalid; empty where it is valid.
        flags: caveats of a valid number.
        systematic_j: the part of `uncertainty_j` in joules that is the same for all windows of similar loads, such as
            the loss of a slow meter at their start.
    """

    energy_j: float | None
    uncertainty_j: float | None
    mean_power_w: float | None
    samples: int
    failed_reads: int
    largest_gap_s: float | None
    reasons: tuple[str, ...] = field(default=())
    flags: tuple[str, ...] = field(default=())
    systematic_j: float = 0.0


def combine(parts: Sequence[WindowEnergy], duration_s: float) -> WindowEnergy:
    """One window made of several spans (the epochs of a training).

    Energies add up. Random parts of the uncertainties add in quadrature, systematic ones linearly.

    Args:
        parts: the spans' results, at least one.
        duration_s: seconds of all spans together.
    """
    reasons = tuple(dict.fromkeys(reason for part in parts for reason in part.reasons))
    gaps = [part.largest_gap_s for part in parts if part.largest_gap_s is not None]
    energy = uncertainty = power = None
    systematic = sum(part.systematic_j for part in parts)
    if not reasons:
        energy = sum(part.energy_j or 0.0 for part in parts)
        by_chance = sum((part.uncertainty_j or 0.0) ** 2 - part.systematic_j**2 for part in parts)
        uncertainty = float(np.sqrt(max(by_chance, 0.0) + systematic**2))
        power = energy / duration_s
    return WindowEnergy(
        energy,
        uncertainty,
        power,
        sum(part.samples for part in parts),
        sum(part.failed_reads for part in parts),
        max(gaps) if gaps else None,
        reasons,
        tuple(dict.fromkeys(flag for part in parts for flag in part.flags)),
        systematic,
    )


def flags_of(channel: Channel, duration_s: float, failed: int) -> tuple[str, ...]:
    """Flags for a window that is short for its meter, or has failed reads.

    Args:
        channel: the channel that was read.
        duration_s: of the window, seconds.
        failed: reads inside it that failed.
    """
    flags: tuple[str, ...] = ()
    longest_s = max(channel.update_period_s, channel.period_s)
    if duration_s < SHORTEST_WINDOW_PERIODS * longest_s:
        what = "update periods" if channel.update_period_s >= channel.period_s else "readings"
        flags += (f"window of {duration_s:.3g} s is shorter than {SHORTEST_WINDOW_PERIODS} {what}",)
    if duration_s < channel.fit_window_s:
        flags += (f"window of {duration_s:.3g} s is shorter than the {channel.fit_window_s:.3g} s that 5 % take here",)
    if failed:
        flags += (f"{failed} failed reads bridged",)
    return flags


def together(at_start_j: float, at_end_j: float) -> float:
    """Combined error of a window's two edges in joules, from their signed errors.

    If a load begins and ends with the window, both edges change the energy in the same direction and their errors add
    up; otherwise they are independent.
    """
    return float(max(np.hypot(at_start_j, at_end_j), abs(at_end_j - at_start_j)))
