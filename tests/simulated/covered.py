"""How often a window's uncertainty covers its error, by meter and shape of load."""

from dataclasses import dataclass

import numpy as np

from framewatt.energy.accounts import energy_of
from simulated.loads import draw
from simulated.meters import SimulatedMeter


@dataclass(frozen=True)
class Covered:
    """What many windows of one meter under one shape of load came to.

    Attributes:
        share: of the windows whose error is at most twice their standard uncertainty.
        error_j: root mean square of the errors.
        uncertainty_j: root mean square of the uncertainties.
        invalid: windows that were refused.
    """

    share: float
    error_j: float
    uncertainty_j: float
    invalid: int


def cover(simulated: SimulatedMeter, shape: str, windows: int, seed: int = 1) -> Covered:
    """Measure windows of 2.1 to 30 s whose energy is known.

    Args:
        simulated: the meter.
        shape: one of SHAPES.
        windows: how many.
        seed: of all that is by chance.
    """
    rng = np.random.default_rng(seed)
    errors, uncertainties, invalid = [], [], 0
    for _ in range(windows):
        load = draw(shape, rng, simulated.most_w)
        start_ns, end_ns = (round(edge * 1e9) for edge in load.window_s)
        found = energy_of(simulated.channel, *simulated.read(load, rng), start_ns, end_ns)
        if found.energy_j is None or found.uncertainty_j is None:
            invalid += 1
        else:
            errors.append(found.energy_j - load.right_j)
            uncertainties.append(found.uncertainty_j)
    error, uncertainty = np.abs(errors), np.array(uncertainties)
    return Covered(
        float(np.mean(error <= 2 * uncertainty)),
        float(np.sqrt(np.mean(error**2))),
        float(np.sqrt(np.mean(uncertainty**2))),
        invalid,
    )
