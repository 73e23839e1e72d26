"""Energy of a window of a trace, with its uncertainty (pure functions of arrays).

A counter gives cumulative joules, a gauge gives watts. Energy at the edges of a window is interpolated
linearly between the samples on both sides. Failed reads are NaN: they are bridged by the good samples around
them and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from framewatt.coverage import LONG_GAP_PERIODS, Nanoseconds, Values, coverage, good_samples, judge_gaps, segment

SHORTEST_WINDOW_PERIODS = 20
"""A window of fewer update periods of its meter is flagged (design, section 5.7)."""

UNIFORM = 12**-0.5
"""Standard deviation of a uniform distribution, as a share of its width (JCGM 100:2008, 4.3.7)."""


@dataclass(frozen=True)
class WindowEnergy:
    """What a meter says of a window.

    Attributes:
        energy_j: joules, or None where the window is invalid.
        uncertainty_j: standard uncertainty of `energy_j` in joules, or None.
        mean_power_w: watts, or None.
        samples: good samples inside the window, edges included.
        failed_reads: reads inside the window that failed and were bridged.
        largest_gap_s: longest time between two good samples that touch the window, in seconds.
        reasons: why the window is invalid; empty where it is valid.
        flags: what a reader should know although the number stands.
    """

    energy_j: float | None
    uncertainty_j: float | None
    mean_power_w: float | None
    samples: int
    failed_reads: int
    largest_gap_s: float | None
    reasons: tuple[str, ...] = field(default=())
    flags: tuple[str, ...] = field(default=())


def counter_energy(
    time_ns: Nanoseconds,
    counter_j: Values,
    start_ns: int,
    end_ns: int,
    *,
    update_period_s: float,
    period_s: float = 0.0,
    resolution_j: float = 0.0,
    wrap_j: float | None = None,
    max_power_w: float | None = None,
) -> WindowEnergy:
    """Energy between two instants from a cumulative counter.

    A gap inside the window costs nothing, since the counter goes on; one that holds an edge leaves open which side of
    the edge its joules belong to.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        counter_j: shape (n,), joules, NaN where the read failed.
        start_ns: start of the window, nanoseconds.
        end_ns: end of the window, nanoseconds, after `start_ns`.
        update_period_s: seconds between two updates of the counter.
        period_s: seconds between two readings as planned.
        resolution_j: joules of the counter's last digit.
        wrap_j: joules at which the counter starts again from 0; None where it never does.
        max_power_w: watts that the domain cannot exceed; where given, a step that would take more makes the window
            invalid, and so does a gap long enough for more than one wrap.

    Raises:
        ValueError: `end_ns` is not after `start_ns`, or the times do not ascend.
    """
    t, value, failed = good_samples(time_ns, counter_j, start_ns, end_ns)
    gap_s, inside, reasons = coverage(t, start_ns, end_ns)
    if reasons:
        return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
    steps, reasons = _steps(t, value, update_period_s + period_s, wrap_j, max_power_w)
    if wrap_j is not None and max_power_w and gap_s is not None and gap_s * max_power_w >= wrap_j:
        reasons += (f"more than one wrap possible in a gap of {gap_s:.3g} s",)
    edges = sorted({segment(t, start_ns), segment(t, end_ns)})
    widths_s = np.diff(t)[edges] * 1e-9
    gap_reasons, flags = judge_gaps(widths_s, (end_ns - start_ns) * 1e-9, max(period_s, update_period_s), "at an edge")
    reasons += gap_reasons
    if reasons:
        return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
    cumulative = np.concatenate(([0.0], np.cumsum(steps)))
    at_start, at_end = np.interp([start_ns, end_ns], t, cumulative)
    energy = float(at_end - at_start)
    # An edge falls anywhere between two updates, or two readings, so its joules are uncertain by their power x period.
    power_w = steps[edges] / np.maximum(widths_s, 1e-9)
    unsure_s = np.maximum(update_period_s, widths_s)
    if start_ns == t[0] and end_ns == t[-1]:
        # Both edges are readings, as those of a total are: only the counter's own update is left.
        power_w = steps[[0, -1]] / np.maximum(np.diff(t)[[0, -1]] * 1e-9, 1e-9)
        unsure_s = np.full(2, update_period_s)
    widths_j = [*(power_w * unsure_s), resolution_j, resolution_j]
    uncertainty = float(np.linalg.norm(np.array(widths_j) * UNIFORM))
    return _result(energy, uncertainty, start_ns, end_ns, inside, failed, gap_s, update_period_s, flags)


def gauge_energy(
    time_ns: Nanoseconds,
    power_w: Values,
    start_ns: int,
    end_ns: int,
    *,
    update_period_s: float,
    period_s: float = 0.0,
) -> WindowEnergy:
    """Energy between two instants from power samples: the trapezoid rule over all of them.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        power_w: shape (n,), watts, NaN where the read failed.
        start_ns: start of the window, nanoseconds.
        end_ns: end of the window, nanoseconds, after `start_ns`.
        update_period_s: seconds between two updates of the gauge.
        period_s: seconds between two readings as planned.

    Raises:
        ValueError: `end_ns` is not after `start_ns`, or the times do not ascend.
    """
    t, value, failed = good_samples(time_ns, power_w, start_ns, end_ns)
    gap_s, inside, reasons = coverage(t, start_ns, end_ns)
    if (value < 0).any():
        reasons += ("negative power",)
    if reasons:
        return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
    within = (t > start_ns) & (t < end_ns)
    edges = np.interp([start_ns, end_ns], t, value)
    nodes_ns = np.concatenate(([start_ns], t[within], [end_ns]))
    nodes_w = np.concatenate((edges[:1], value[within], edges[1:]))
    widths_s = np.diff(nodes_ns) * 1e-9
    period_s = max(period_s, update_period_s)
    reasons, flags = judge_gaps(widths_s, (end_ns - start_ns) * 1e-9, period_s, "between readings")
    if reasons:
        return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
    energy = float(np.sum(widths_s * (nodes_w[1:] + nodes_w[:-1]) / 2))
    # Between two samples a power that stepped may have done so anywhere: half the step, uniformly. In a gap it may have
    # been whatever it was in the rest of the window.
    swing_w = np.where(widths_s > LONG_GAP_PERIODS * period_s, np.ptp(nodes_w), np.abs(np.diff(nodes_w)))
    edge_widths = nodes_w[[0, -1]] * update_period_s
    uncertainty = float(np.hypot(np.linalg.norm(swing_w * widths_s), np.linalg.norm(edge_widths)) * UNIFORM)
    return _result(energy, uncertainty, start_ns, end_ns, inside, failed, gap_s, update_period_s, flags)


def combine(parts: Sequence[WindowEnergy], duration_s: float) -> WindowEnergy:
    """One window made of several spans (the epochs of a training): joules add, uncertainties in quadrature.

    Args:
        parts: the spans' results, at least one.
        duration_s: seconds of all spans together.
    """
    reasons = tuple(dict.fromkeys(reason for part in parts for reason in part.reasons))
    gaps = [part.largest_gap_s for part in parts if part.largest_gap_s is not None]
    energy = uncertainty = power = None
    if not reasons:
        energy = sum(part.energy_j or 0.0 for part in parts)
        uncertainty = float(np.linalg.norm([part.uncertainty_j or 0.0 for part in parts]))
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
    )


def _steps(
    t: Nanoseconds, value: Values, unsure_s: float, wrap_j: float | None, max_power_w: float | None
) -> tuple[Values, tuple[str, ...]]:
    """Joules between neighbouring readings, a wrap undone, and why they cannot be right, if so.

    The time between two readings may differ by `unsure_s` from that between what they show: a counter is up to an
    update old, and a reading's time is known to within half a planned period (sampling.OnTime).
    """
    steps = np.diff(value)
    backwards = steps < 0
    if backwards.any() and (wrap_j is None or (value > wrap_j).any()):
        return steps, ("counter went back: it was reset",)
    if wrap_j is not None:
        steps = np.where(backwards, steps + wrap_j, steps)
    if max_power_w:
        most = max_power_w * (np.diff(t) * 1e-9 + unsure_s)
        if (steps[backwards] > most[backwards]).any():
            return steps, ("counter went back by other than a wrap: it was reset",)
        if (steps > most).any():
            return steps, (f"counter went up by more than {max_power_w:g} W can: it was reset, or wrapped unseen",)
    return steps, ()


def _result(
    energy: float,
    uncertainty: float,
    start_ns: int,
    end_ns: int,
    inside: int,
    failed: int,
    gap_s: float | None,
    update_period_s: float,
    flags: tuple[str, ...],
) -> WindowEnergy:
    duration_s = (end_ns - start_ns) * 1e-9
    if duration_s < SHORTEST_WINDOW_PERIODS * update_period_s:
        flags += (f"window of {duration_s:.3g} s is shorter than {SHORTEST_WINDOW_PERIODS} update periods",)
    if failed:
        flags += (f"{failed} failed reads bridged",)
    return WindowEnergy(energy, uncertainty, energy / duration_s, inside, failed, gap_s, (), flags)
