"""Equivalence test of two cells' accuracies; a difference that is not significant proves no equality."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from framewatt.statistics.proportions import independent_equivalence, paired_equivalence

ON_THE_SAME = "on the same"
"""How the note of a test begins that is paired by samples."""


@dataclass(frozen=True)
class TestSets:
    """The test samples behind the accuracies of cells, as far as known.

    Attributes:
        right: by cell, shape (samples,), bool: which samples of its test set it classified correctly.
        samples: by cell, size of its test set, where `right` lacks the cell.
        weights: by cell, a name of the weights that it runs: cells with the same name run the same trained weights.
    """

    __test__ = False  # pytest takes the name for that of a test

    right: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    samples: Mapping[str, int] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)

    def size(self, cell: str) -> int | None:
        """Samples of a cell's test set; None where unknown."""
        return len(self.right[cell]) if cell in self.right else self.samples.get(cell)


@dataclass(frozen=True)
class Equivalence:
    """Result of an equivalence test of two accuracies.

    Attributes:
        p: of the two one-sided tests; None where nothing can be tested.
        note: in words, what was tested, or why nothing was.
        same: whether the same weights got the same samples right, so that no test is needed.
    """

    p: float | None
    note: str
    same: bool = False


def equivalence(first: tuple[str, float], second: tuple[str, float], tested: TestSets, margin: float) -> Equivalence:
    """Test two cells for equal accuracy.

    Cells that run the same weights (an export, another batch size) and get the same samples right are equal, however
    small the test set. Otherwise the test is paired over samples where both cells have per-sample results (Tango); else
    it takes the size of the test set alone, as if each cell had had a test set of its own. Repeated runs add nothing: a
    model with given weights scores a test set the same way every time.

    Args:
        first: a cell's name and its share of right answers.
        second: another's.
        tested: their test sets.
        margin: largest difference that counts as none, a share.
    """
    (one, accuracy), (other, beside) = first, second
    if one in tested.right and other in tested.right and len(tested.right[one]) == len(tested.right[other]):
        right = tested.right[one], tested.right[other]
        if tested.weights.get(one, one) == tested.weights.get(other, other) and np.array_equal(*right):
            return Equivalence(None, f"the same weights, the same of {len(right[0])} samples right", same=True)
        return Equivalence(paired_equivalence(*right, margin), f"{ON_THE_SAME} {len(right[0])} samples")
    sizes = tested.size(one), tested.size(other)
    if sizes[0] is None or sizes[1] is None:
        return Equivalence(None, "size of the test set unknown")
    if sizes[0] != sizes[1]:
        return Equivalence(None, f"test sets of {sizes[0]} and {sizes[1]} samples")
    p = independent_equivalence(accuracy, beside, sizes[0], margin)
    return Equivalence(p, f"by the size of a test set of {sizes[0]} samples")
