"""Energy of many windows of one gauge at once: the same numbers as `windows.gauge_energy`, for traces without trouble.

An epoch's window is short beside its trace, and there are many; integrals that are cumulated once give all of them.
"""

from collections.abc import Sequence

import numpy as np

from framewatt.coverage import LONG_GAP_PERIODS, Nanoseconds, Values
from framewatt.windows import SHORTEST_WINDOW_PERIODS, UNIFORM, WindowEnergy, gauge_energy


def gauge_energies(
    time_ns: Nanoseconds,
    power_w: Values,
    spans: Sequence[tuple[int, int]],
    *,
    update_period_s: float,
    period_s: float = 0.0,
) -> list[WindowEnergy]:
    """Energy of every span, see `windows.gauge_energy`.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        power_w: shape (n,), watts, NaN where the read failed.
        spans: start and end of each window, nanoseconds.
        update_period_s: seconds between two updates of the gauge.
        period_s: seconds between two readings as planned.

    Raises:
        ValueError: a span does not end after its start, or the times do not ascend.
    """
    start_ns, end_ns = np.array(spans, np.int64).reshape(-1, 2).T
    widths_s = np.diff(time_ns) * 1e-9
    clean = (
        len(time_ns) > 1
        and (end_ns > start_ns).all()
        and start_ns.min(initial=time_ns[0]) >= time_ns[0]
        and end_ns.max(initial=time_ns[-1]) <= time_ns[-1]
        and (widths_s > 0).all()
        and widths_s.max() <= LONG_GAP_PERIODS * max(period_s, update_period_s)
        and np.isfinite(power_w).all()
        and (power_w >= 0).all()
    )
    if not clean:
        how = {"update_period_s": update_period_s, "period_s": period_s}
        return [gauge_energy(time_ns, power_w, start, end, **how) for start, end in spans]
    return _clean_energies(np.asarray(time_ns), np.asarray(power_w), widths_s, (start_ns, end_ns), update_period_s)


def _clean_energies(
    t: Nanoseconds, power_w: Values, widths_s: Values, edges_ns: tuple[Nanoseconds, Nanoseconds], update_period_s: float
) -> list[WindowEnergy]:
    """Energies of spans inside a trace that has neither gap nor failed reading."""
    steps_w = np.diff(power_w)
    energy_to = np.concatenate(([0.0], np.cumsum(widths_s * (power_w[1:] + power_w[:-1]) / 2)))
    spread = (steps_w * widths_s) ** 2
    spread_to = np.concatenate(([0.0], np.cumsum(spread)))
    # The segment that holds each edge, the share of it that lies before the edge, and the power there.
    segments = [np.clip(np.searchsorted(t, edge, side="right") - 1, 0, len(t) - 2) for edge in edges_ns]
    shares = [(edge - t[i]) * 1e-9 / widths_s[i] for edge, i in zip(edges_ns, segments, strict=True)]
    powers = [power_w[i] + share * steps_w[i] for i, share in zip(segments, shares, strict=True)]
    before = [
        energy_to[i] + share * widths_s[i] * (power_w[i] + power) / 2
        for i, share, power in zip(segments, shares, powers, strict=True)
    ]
    energy = before[1] - before[0]
    # Cut to a share of its width, a segment has that share of its step too.
    first, last = segments
    same = first == last
    inside = np.where(same, 0.0, spread_to[last] - spread_to[np.minimum(first + 1, last)])
    cut = np.where(
        same,
        (shares[1] - shares[0]) ** 4 * spread[first],
        (1 - shares[0]) ** 4 * spread[first] + shares[1] ** 4 * spread[last],
    )
    edge_j2 = (powers[0] ** 2 + powers[1] ** 2) * update_period_s**2
    uncertainty = np.sqrt(np.maximum(inside, 0) + cut + edge_j2) * UNIFORM
    counts = np.searchsorted(t, edges_ns[1], side="right") - np.searchsorted(t, edges_ns[0], side="left")
    touching = np.searchsorted(t, edges_ns[1], side="left")
    durations_s = (edges_ns[1] - edges_ns[0]) * 1e-9
    found = []
    for n, duration_s in enumerate(durations_s.tolist()):
        short = duration_s < SHORTEST_WINDOW_PERIODS * update_period_s
        told = f"window of {duration_s:.3g} s is shorter than {SHORTEST_WINDOW_PERIODS} update periods"
        joules = float(energy[n])
        found.append(
            WindowEnergy(
                joules,
                float(uncertainty[n]),
                joules / duration_s,
                int(counts[n]),
                0,
                float(widths_s[first[n] : touching[n]].max()),
                (),
                (told,) if short else (),
            )
        )
    return found
