"""Twice the stated uncertainty covers the error of a window: every meter at its defaults, every shape of load."""

import pytest
from simulated.covered import cover
from simulated.loads import SHAPES
from simulated.meters import METERS

LEAST_SHARE = 0.93
WIDEST = 8.0
"""Uncertainty over error, root mean squares: what is wider is wider than need be."""

BLIND = ("nvidia-smi 1 Hz, older GPU", "bursts")
"""An instant of power each second, of a load that repeats each second: what it misses, no reading shows."""

WIDE = (
    "perf before 6.0, DRAM of 4 W",
    "nvml averaged power",
    "nvidia-smi 1 Hz, averaging GPU",
    "nvidia-smi 1 Hz, older GPU",
)
"""Where every line is rounded to its second decimal, maybe each the same way, and where nobody knows over which time a
value is a mean, steady power is as uncertain as any."""


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("meter", METERS)
def test_twice_the_uncertainty_covers_the_error(meter: str, shape: str) -> None:
    found = cover(METERS[meter], shape, windows=60)
    assert found.invalid == 0
    assert found.share >= (0.8 if (meter, shape) == BLIND else LEAST_SHARE), found
    if meter not in WIDE:
        assert found.uncertainty_j <= WIDEST * found.error_j, found
