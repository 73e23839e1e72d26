"""Studies whose truth is known: what cells cost, and by which noise it is measured."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RUN_NOISE = BLOCK_NOISE = 0.05
"""Standard deviations of the logarithms of runs, and of what a block's runs have in common."""

CELLS = (2, 7)
BLOCKS = (3, 5, 8, 12, 30)

_DISTURBED = 0.05
_MISSING = 0.1
_DRIFT = 0.3
_STEP = 0.05
_GOES_ON = 0.6
_SLOW = 0.1


def truths(cells: int) -> dict[str, Floats]:
    """What the cells of a group cost, as multiples of the cheapest, which is the first."""
    return {
        "none differ": np.ones(cells),
        "one 3 % cheaper": np.r_[1.0, np.full(cells - 1, 1.03)],
        "spread out": np.array([1.0, 1.02, 1.05, 1.1, 1.2, 1.4, 1.4])[:cells],
    }


@dataclass(frozen=True)
class Noise:
    """A way in which runs scatter.

    Attributes:
        draw: of generator and shape (studies, cells, blocks), logarithms to add to the truth, NaN for a missing run.
        paired: whether runs are blocks.
        step: what a meter's last digit is, as a share of the cheapest; 0 for none.
    """

    draw: Callable[[np.random.Generator, tuple[int, int, int]], Floats]
    paired: bool = True
    step: float = 0.0


def usual(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Run noise and block noise, both normal on logarithms."""
    studies, _, blocks = shape
    return rng.normal(0, RUN_NOISE, shape) + rng.normal(0, BLOCK_NOISE, (studies, 1, blocks))


def _unequal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Cells whose runs scatter by 1 to 15 %, the cheapest by most."""
    scatter = np.linspace(0.15, 0.01, shape[1])[:, None]
    return rng.normal(0, 1, shape) * scatter + rng.normal(0, BLOCK_NOISE, (shape[0], 1, shape[2]))


def _skewed(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Runs that are seldom much dearer and never much cheaper."""
    return RUN_NOISE * (rng.exponential(1, shape) - 1) + rng.normal(0, BLOCK_NOISE, (shape[0], 1, shape[2]))


def _disturbed(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """5 % of runs take 3 to 25 times as much."""
    return usual(rng, shape) + np.where(rng.random(shape) < _DISTURBED, np.log(rng.uniform(3, 25, shape)), 0.0)


def _drifting(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """The last run costs 35 % more than the first; cells are shuffled in each block."""
    _, cells, blocks = shape
    within = rng.permuted(np.broadcast_to(np.arange(cells)[:, None], shape).copy(), axis=1)
    place = (np.arange(blocks) * cells + within) / (cells * blocks)
    return usual(rng, shape) + _DRIFT * place


def _missing(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """A tenth of runs failed."""
    return np.where(rng.random(shape) < _MISSING, np.nan, usual(rng, shape))


def _alone(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Runs that are no blocks."""
    return rng.normal(0, np.hypot(RUN_NOISE, BLOCK_NOISE), shape)


def _going_on(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Noise of a cell, and of whole blocks, that is correlated with that of the block before."""
    studies, _, blocks = shape
    new = rng.normal(0, RUN_NOISE, shape) + rng.normal(0, BLOCK_NOISE, (studies, 1, blocks))
    found = new.copy()
    for block in range(1, blocks):
        found[..., block] = _GOES_ON * found[..., block - 1] + np.sqrt(1 - _GOES_ON**2) * new[..., block]
    return found


def _heavy(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Run noise with the tails of Student's t of 3 degrees of freedom."""
    return RUN_NOISE * rng.standard_t(3, shape) + rng.normal(0, BLOCK_NOISE, (shape[0], 1, shape[2]))


def _rarely_slow(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """A tenth of the first cell's runs take three times as much, the others less, so that its mean is the truth."""
    found = usual(rng, shape)
    slow = rng.random((shape[0], shape[2])) < _SLOW
    found[:, 0] += np.log(3) * (slow - _SLOW)
    return found


NOISES = {
    "normal noise": Noise(usual),
    "unequal noise": Noise(_unequal),
    "skewed noise": Noise(_skewed),
    "5 % of runs disturbed": Noise(_disturbed),
    "drift of 35 %": Noise(_drifting),
    "10 % of runs missing": Noise(_missing),
    "ties: steps of 5 %": Noise(usual, step=_STEP),
    "no blocks (Welch)": Noise(_alone, paired=False),
}
"""The noises of studies, by name."""

BROKEN = {
    "noise goes on from block to block (0.6)": Noise(_going_on),
    "a cell is slow in a tenth of its runs": Noise(_rarely_slow),
    "heavy tails (t of 3)": Noise(_heavy),
}
"""Noises that break what the tests take for granted."""


def logs(noise: Noise, truth: Floats, blocks: int, studies: int, rng: np.random.Generator) -> Floats:
    """Logarithms of what many studies measured: shape (studies, cells, blocks), NaN where a run is missing."""
    found = np.log(truth)[None, :, None] + noise.draw(rng, (studies, len(truth), blocks))
    if not noise.step:
        return found
    return np.log(np.maximum(1, np.round(np.exp(found) / noise.step)) * noise.step)
