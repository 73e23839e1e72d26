"""Operators in turn are given what each costs alone, on a simulated counter: see tests/measured.

The counter is the estimate's: 1 W a processor at rest and 5 W at work, in whole ticks of 10 ms.
"""

import numpy as np
import pytest

from framewatt.energy.accounts import energy_of
from framewatt.meters.contract import COUNTER, Channel
from framewatt.profiling.joules import BETWEEN, WindowTime, intervals_of, join
from framewatt.profiling.timeline import Timeline

S = 1_000_000_000
TICK_S = 0.01
PROCESSORS, IDLE_W, BUSY_W = 2, 1.0, 5.0
CHANNEL = Channel(
    "estimate",
    "cpu:estimate",
    "energy_j",
    COUNTER,
    TICK_S,
    estimated=True,
    resolution=TICK_S * (BUSY_W - IDLE_W),
    period_s=TICK_S,
)
OPERATORS = {"two sines": 2, "sine": 1, "sleep": 0}
"""How many processors each keeps busy."""

ALONE_S, ALTERNATING_S = 2.0, 12.0
BEFORE_S = 0.2


def read(edges_s: np.ndarray, busy: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return times and joules of a counter that is read every 10 ms, a little late.

    Args:
        edges_s: shape (n + 1,), seconds at which the number of busy processors changes.
        busy: shape (n,), busy processors in between.
        rng: draws how late each reading is.
    """
    due_s = np.arange(edges_s[0] - BEFORE_S, edges_s[-1] + BEFORE_S, TICK_S)
    time_s = np.sort(due_s + rng.exponential(2e-4, len(due_s)))
    worked_s = np.interp(time_s, edges_s, np.concatenate(([0.0], np.cumsum(np.diff(edges_s) * busy))))
    ticks = np.floor(worked_s / TICK_S)
    joules = PROCESSORS * time_s * IDLE_W + ticks * TICK_S * (BUSY_W - IDLE_W)
    return np.round((time_s + 100) * S).astype(np.int64), joules


def alone_w(name: str, rng: np.random.Generator) -> tuple[float, float]:
    """Return the watts while one operator is repeated, and their standard uncertainty."""
    start_s = rng.random()
    readings = read(np.array([start_s, start_s + ALONE_S]), np.array([OPERATORS[name]]), rng)
    energy = energy_of(CHANNEL, *readings, round((100 + start_s) * S), round((100 + start_s + ALONE_S) * S))
    assert energy.energy_j is not None
    assert energy.uncertainty_j is not None
    return energy.energy_j / ALONE_S, energy.uncertainty_j / ALONE_S


@pytest.mark.parametrize("seed", range(5))
def test_each_has_its_own_cost(seed: int) -> None:
    rng, names = np.random.default_rng(seed), tuple(OPERATORS)
    lasts_s = rng.uniform(0.005, 0.04, round(ALTERNATING_S / 0.0225))
    kind = rng.integers(0, len(names), len(lasts_s))
    edges_s = np.concatenate(([0.0], np.cumsum(lasts_s)))
    readings = read(edges_s, np.array(list(OPERATORS.values()))[kind], rng)
    window = WindowTime([(100 * S, round((100 + edges_s[-1]) * S))])
    line = Timeline(names, kind, *(window.seconds_at(edge) for edge in (edges_s[:-1], edges_s[1:])))
    joined = join(line, intervals_of(CHANNEL, *readings, window, 0.0))
    costs = dict(
        zip(joined.names, zip(joined.energy_j, joined.uncertainty_j, joined.seconds, strict=True), strict=True)
    )
    assert joined.energy_j.sum() == pytest.approx(joined.total_j)
    assert costs[BETWEEN][2] < 1e-6 * edges_s[-1]
    for name, busy in OPERATORS.items():
        joules, unsure_j, seconds = costs[name]
        watts, unsure_w = alone_w(name, rng)
        assert watts == pytest.approx(PROCESSORS * IDLE_W + busy * (BUSY_W - IDLE_W), abs=2 * unsure_w)
        assert unsure_j < 0.25 * joules, name
        assert abs(joules / seconds - watts) < 3 * np.hypot(unsure_j / seconds, unsure_w), name
