"""Schedules of known loads, and the power that they draw: what meters are characterised with."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.signal import lfilter

from framewatt.characterisation.loads import planned
from framewatt.characterisation.schedule import ALL_CORES, GPU, GPU_CLOSED, IDLE, ONE_CORE, Stretch, period_of
from simulated.loads import STEP_S, Load

SHARES = {IDLE: 0.2, ONE_CORE: 0.35, ALL_CORES: 0.9, GPU: 0.9, GPU_CLOSED: 0.1}
"""Power under each load, as a share of the most."""

BEGIN_S = 4.0
_CORRELATED_S = 0.2


def schedule(
    loads: Sequence[str] = (ONE_CORE, ALL_CORES),
    repeats: int = 3,
    step_s: float = 4.0,
    then: Sequence[tuple[str, float]] = (),
) -> list[Stretch]:
    """What `characterise` runs, as if every process were on time.

    Args:
        loads: see loads.planned, as the next two.
        repeats: of each load.
        step_s: seconds of a stretch.
        then: further loads and their seconds.
    """
    stretches, at_s = [], BEGIN_S
    for load, seconds in [*planned(loads, repeats, step_s), *then]:
        period_s = period_of(load)
        busy = None if period_s is None else float(_computes(period_s, round(seconds / STEP_S)).mean())
        stretches.append(Stretch(load, round(at_s * 1e9), round((at_s + seconds) * 1e9), busy=busy))
        at_s += seconds
    return stretches


def _computes(period_s: float, count: int) -> np.ndarray:
    """Whether a square wave computes, in each of so many milliseconds."""
    return (np.arange(count) + 0.5) * STEP_S / period_s % 1 < 0.5


def drawn(
    stretches: Sequence[Stretch],
    most_w: float,
    rng: np.random.Generator,
    noise: float = 0.02,
    shares: Mapping[str, float] = SHARES,
) -> Load:
    """Power under a schedule, with noise that is correlated over a fifth of a second.

    Args:
        stretches: the schedule.
        most_w: watts at full load.
        rng: draws the noise.
        noise: its standard deviation, as a share of `most_w`.
        shares: power under each load, as a share of `most_w`.
    """
    power = np.full(round((stretches[-1].end_ns * 1e-9 + 2) / STEP_S), shares[IDLE])
    for stretch in stretches:
        first, end = round(stretch.start_ns * 1e-9 / STEP_S), round(stretch.end_ns * 1e-9 / STEP_S)
        period_s = period_of(stretch.load)
        if period_s is None:
            power[first:end] = shares[stretch.load]
        else:
            power[first:end] = np.where(_computes(period_s, end - first), shares[GPU], shares[IDLE])
    keep = np.exp(-STEP_S / _CORRELATED_S)
    power += noise * lfilter([np.sqrt(1 - keep**2)], [1, -keep], rng.normal(size=len(power)))
    return Load(np.maximum(power, 0.001) * most_w, (0.0, len(power) * STEP_S))
