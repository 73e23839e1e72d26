"""Equivalence test of two cells' costs within a margin; a difference that is not significant proves no equality."""

import math

import numpy as np
from scipy import special

from framewatt.statistics.log_ratios import Floats, LogRatio


def p_of_equal(ratio: LogRatio, margin: float) -> Floats:
    """The larger p of two one-sided t-tests on logarithms (Schuirmann 1987): small where costs are equal.

    The bounds of the ratio are 1 / (1 + margin) and 1 + margin, so that swapping the cells gives the same p.

    Args:
        ratio: of pairs of cells.
        margin: largest difference that counts as none, as a share: 0.05 for 5 %.

    Returns:
        p; NaN where the noise is unknown, also where the ratio is the same in every block.
    """
    most = math.log1p(margin)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(ratio.error > 0, ratio.error, np.nan)
        return np.asarray(special.stdtr(ratio.freedom, (np.abs(ratio.mean) - most) / error))
