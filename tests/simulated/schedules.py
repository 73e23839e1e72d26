"""Schedules of known loads, and the power that they draw: what meters are characterised with."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.signal import lfilter

from framewatt.characterisation.loads import planned
from framewatt.characterisation.schedule import ALL_CORES, GPU, IDLE, ONE_CORE, Stretch
from simulated.loads import STEP_S, Load

SHARES = {IDLE: 0.2, ONE_CORE: 0.35, ALL_CORES: 0.9, GPU: 0.9}
"""Power under each load, as a share of the most."""

BEGIN_S = 4.0
_CORRELATED_S = 0.2


def schedule(loads: Sequence[str] = (ONE_CORE, ALL_CORES), repeats: int = 3, step_s: float = 4.0) -> list[Stretch]:
    """What `characterise` runs, as if every process were on time."""
    stretches, at_s = [], BEGIN_S
    for load, seconds in planned(loads, repeats, step_s):
        stretches.append(Stretch(load, round(at_s * 1e9), round((at_s + seconds) * 1e9)))
        at_s += seconds
    return stretches


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
        power[round(stretch.start_ns * 1e-9 / STEP_S) : round(stretch.end_ns * 1e-9 / STEP_S)] = shares[stretch.load]
    keep = np.exp(-STEP_S / _CORRELATED_S)
    power += noise * lfilter([np.sqrt(1 - keep**2)], [1, -keep], rng.normal(size=len(power)))
    return Load(np.maximum(power, 0.001) * most_w, (0.0, len(power) * STEP_S))
