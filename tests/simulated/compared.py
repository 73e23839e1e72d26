"""How often `make compare` says that something changed, or fails, where nothing did and where something did."""

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd

from framewatt.comparing.compared import ALPHA
from framewatt.statistics.changes import MORE
from framewatt.statistics.log_ratios import log_ratio

COMPARISONS = 4000
MARGIN = 0.05


@dataclass(frozen=True)
class Told:
    """Shares of comparisons.

    Attributes:
        changed: in which some cell is said to have changed that has not.
        failed: in which some cell is said to cost over MARGIN more that does not.
        found: in which the one cell that does cost more is said to.
    """

    changed: float
    failed: float
    found: float


def failing(
    comparisons: int, *, cells: int, runs: int, noise: float, session: float = 0.0, slower: float = 0.0, seed: int
) -> Told:
    """Simulate comparisons of two packages, of which one cell may cost more in the second.

    The arithmetic is that of framewatt.statistics.changes, for all comparisons at once.

    Args:
        comparisons: how many.
        cells: that both have.
        runs: of each cell in each package.
        noise: of a run, as a share.
        session: of what all runs of a cell have in common in a package, as a share: memory layout, temperature.
        slower: share by which the first cell costs more in the second package.
        seed: of the noise.
    """
    rng = np.random.default_rng(seed)
    shape = (2, comparisons, cells)
    logs = rng.normal(0, noise, (*shape, runs)) + session * rng.normal(0, 1, (*shape, 1))
    logs[1, :, 0] += np.log1p(slower)
    low, high = log_ratio(logs[1], logs[0], paired=False).within(ALPHA / 2 / cells)
    same = slice(1 if slower else 0, None)
    return Told(
        float(((low > 1) | (high < 1))[:, same].any(axis=1).mean()),
        float((low > 1 + MARGIN)[:, same].any(axis=1).mean()),
        float((low > 1 + MARGIN)[:, 0].mean()) if slower else float("nan"),
    )


def main() -> None:
    """Print a table of cases."""
    rows = []
    for number, (cells, runs, noise, session, slower) in enumerate(
        (
            (5, 5, 0.05, 0.0, 0.0),
            (5, 10, 0.05, 0.0, 0.0),
            (30, 5, 0.05, 0.0, 0.0),
            (5, 2, 0.05, 0.0, 0.0),
            (5, 5, 0.01, 0.0, 0.0),
            (5, 5, 0.01, 0.01, 0.0),
            (5, 5, 0.01, 0.02, 0.0),
            (5, 5, 0.01, 0.05, 0.0),
            (5, 5, 0.01, 0.0, 0.1),
            (5, 5, 0.02, 0.0, 0.1),
            (5, 10, 0.02, 0.0, 0.1),
            (5, 5, 0.05, 0.0, 0.2),
            (5, 10, 0.05, 0.0, 0.2),
            (30, 10, 0.05, 0.0, 0.2),
        )
    ):
        told = failing(COMPARISONS, cells=cells, runs=runs, noise=noise, session=session, slower=slower, seed=number)
        case = {"cells": cells, "runs": runs, "noise": noise, "session": session, "slower": slower}
        rows.append(case | {"changed": told.changed, "failed": told.failed, MORE: told.found})
    sys.stdout.write(pd.DataFrame(rows).to_string(index=False, float_format="%.3f") + "\n")


if __name__ == "__main__":
    main()
