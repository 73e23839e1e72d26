"""Shapes of load: power by time, as a cumulative energy that is exact at any instant."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
STEP_S = 0.001


@dataclass(frozen=True)
class Load:
    """Power that is constant within every millisecond.

    Attributes:
        power_w: shape (n,), watts in each millisecond from second 0.
        window_s: start and end of the window that is asked for.
    """

    power_w: Values
    window_s: tuple[float, float]

    def energy_to(self, second: Values | float) -> Values:
        """Joules from second 0, shape as `second`; beyond the ends power goes on as it was there."""
        cumulative = np.concatenate(([0.0], np.cumsum(self.power_w * STEP_S)))
        edges = np.arange(len(cumulative)) * STEP_S
        inside = np.interp(second, edges, cumulative)
        before = np.minimum(second, 0.0) * self.power_w[0]
        after = np.maximum(np.asarray(second) - edges[-1], 0.0) * self.power_w[-1]
        return np.asarray(inside + before + after)

    def power_at(self, second: Values) -> Values:
        """Watts at instants."""
        index = np.clip((np.asarray(second) / STEP_S).astype(np.int64), 0, len(self.power_w) - 1)
        return np.asarray(self.power_w[index])

    @property
    def right_j(self) -> float:
        """Joules of the window."""
        start, end = self.energy_to(np.array(self.window_s))
        return float(end - start)


def _levels(rng: np.random.Generator, n: int, least_s: float, most_s: float, low: float, high: float) -> Values:
    """Levels that change at random instants."""
    power, filled = np.empty(n), 0
    while filled < n:
        length = max(1, round(rng.uniform(least_s, most_s) / STEP_S))
        power[filled : filled + length] = rng.uniform(low, high)
        filled += length
    return power


def constant(rng: np.random.Generator, n: int, window: slice) -> Values:
    """One level."""
    return np.full(n, rng.uniform(0.2, 1.0))


def steps(rng: np.random.Generator, n: int, window: slice) -> Values:
    """Another level every half to five seconds."""
    return _levels(rng, n, 0.5, 5.0, 0.1, 1.0)


def bursts(rng: np.random.Generator, n: int, window: slice) -> Values:
    """Two levels in turns of 50 ms to 2 s, as batches with copies between them."""
    period, share = rng.uniform(0.05, 2.0), rng.uniform(0.2, 0.8)
    phase = (np.arange(n) * STEP_S / period + rng.random()) % 1
    return np.where(phase < share, 1.0, rng.uniform(0.1, 0.5))


def ramp(rng: np.random.Generator, n: int, window: slice) -> Values:
    """A steady rise or fall over all of it."""
    low, high = sorted(rng.uniform(0.1, 1.0, 2))
    rising = np.linspace(low, high, n)
    return rising if rng.random() < 0.5 else rising[::-1].copy()


def random_walk(rng: np.random.Generator, n: int, window: slice) -> Values:
    """A walk with a pull to its middle, correlated over a tenth to two seconds."""
    keep = np.exp(-STEP_S / rng.uniform(0.1, 2.0))
    noise = rng.normal(size=n) * 0.12 * np.sqrt(1 - keep**2)
    power, now = np.empty(n), 0.0
    for i, change in enumerate(noise):
        now = keep * now + change
        power[i] = now
    return np.maximum(0.05, 0.6 + power)


def load_is_window(rng: np.random.Generator, n: int, window: slice) -> Values:
    """Idle, and a load that begins and ends with the window, with a little noise of its own."""
    power = np.full(n, 0.15)
    power[window] = _levels(rng, window.stop - window.start, 0.01, 0.05, 0.9, 1.0)
    return power


SHAPES: dict[str, Callable[[np.random.Generator, int, slice], Values]] = {
    "constant": constant,
    "steps": steps,
    "bursts": bursts,
    "ramp": ramp,
    "random walk": random_walk,
    "load = window": load_is_window,
}


def draw(shape: str, rng: np.random.Generator, most_w: float, before_s: float = 6.0, after_s: float = 4.0) -> Load:
    """A load of a shape with a window of 2.1 to 30 s somewhere in it.

    Args:
        shape: one of SHAPES.
        rng: draws all that is by chance.
        most_w: watts at full load.
        before_s: seconds of trace before the window.
        after_s: seconds behind it.
    """
    length_s = float(np.exp(rng.uniform(np.log(2.1), np.log(30.0))))
    start_s = before_s + rng.random()
    n = round((start_s + length_s + after_s) / STEP_S)
    window = slice(round(start_s / STEP_S), round((start_s + length_s) / STEP_S))
    power = SHAPES[shape](rng, n, window) * most_w
    return Load(power, (window.start * STEP_S, window.stop * STEP_S))
