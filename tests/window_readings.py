"""Readings of a counter and of a gauge, and the energy of a window of them."""

import numpy as np

from framewatt.energy.counter_windows import counter_energies
from framewatt.energy.gauge_windows import gauge_energies
from framewatt.meters.contract import COUNTER, GAUGE, Channel

S = 1_000_000_000


def times(*seconds: float) -> np.ndarray:
    """Seconds as nanoseconds."""
    return np.array([round(s * S) for s in seconds], dtype=np.int64)


def every(step: float, end: float) -> np.ndarray:
    """0, step, 2 step, … up to `end`, in nanoseconds."""
    return times(*np.arange(0, end + step / 2, step))


def gauge(
    t: np.ndarray, watts: np.ndarray, start: float, end: float, period: float = 0.01, planned: float = 1.0, **options
):
    channel = Channel("m", "gpu:0", "power_w", GAUGE, period, period_s=planned, **options)
    (found,) = gauge_energies(channel, t, watts, [(round(start * S), round(end * S))])
    return found


def counter(
    t: np.ndarray, joules: np.ndarray, start: float, end: float, period: float = 0.001, planned: float = 1.0, **options
):
    channel = Channel("m", "cpu:package-0", "energy_j", COUNTER, period, period_s=planned, **options)
    (found,) = counter_energies(channel, t, joules, [(round(start * S), round(end * S))])
    return found
