"""Whether two cells are as accurate as each other: shown by a test, not by the want of a difference."""

from dataclasses import dataclass

import numpy as np
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from framewatt.statistics.intervals import Values, is_constant
from framewatt.statistics.power import SMALLEST_N


@dataclass(frozen=True)
class Equivalence:
    """What is known of the difference of two cells.

    Attributes:
        p: of the two one-sided tests; None where there is nothing to test.
        equal: whether they are equal where no test is needed; None where `p` decides, or nothing can.
        note: in words, what decided.
    """

    p: float | None
    equal: bool | None
    note: str


def equivalence(a: Values, b: Values, margin: float, *, paired: bool) -> Equivalence:
    """Two one-sided t-tests (Schuirmann 1987, by statsmodels) of whether means lie within a margin of each other.

    A model with given weights scores a test set the same way in every run: its accuracies have no variance, and what
    they differ by is known. They are then equal, on that test set, if the difference is within the margin.

    Args:
        a: shape (n_a,), an accuracy a run.
        b: shape (n_b,); where `paired`, of the same length, block by block.
        margin: largest difference that counts as none, in the unit of `a`.
        paired: whether runs of a block belong together.
    """
    if min(a.size, b.size) == 0:
        return Equivalence(None, None, "accuracy unknown")
    if is_constant(np.concatenate([a, b])):
        return Equivalence(None, True, "the same number in every run")
    if is_constant(b - a) if paired else is_constant(a) and is_constant(b):
        difference = float(b[0] - a[0])
        return Equivalence(None, abs(difference) <= margin, f"{difference:+.3g} in every run")
    if min(a.size, b.size) < SMALLEST_N:
        return Equivalence(None, None, f"no test: fewer than {SMALLEST_N} runs")
    if paired:
        return Equivalence(float(ttost_paired(a, b, -margin, margin)[0]), None, "TOST, paired")
    return Equivalence(float(ttost_ind(a, b, -margin, margin, usevar="unequal")[0]), None, "TOST, Welch")
