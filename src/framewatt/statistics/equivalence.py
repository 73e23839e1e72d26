"""Whether two models are as accurate as each other: shown by a test, not by the want of a difference."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from framewatt.statistics.proportions import independent_equivalence, paired_equivalence


@dataclass(frozen=True)
class TestSets:
    """What is known of the test samples behind the accuracies of cells.

    Attributes:
        right: by cell, shape (samples,), bool: which samples of its test set it got right.
        samples: by cell, how many samples its test set has, where `right` does not tell.
        weights: by cell, whose weights it runs: cells of the same name are one model, as it was trained and exported.
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
    """What is known of the difference of two accuracies.

    Attributes:
        p: of the two one-sided tests; None where nothing can be tested.
        note: in words, what was tested, or why nothing was.
        same: whether they are one model that answered every sample alike, of which nothing need be tested.
    """

    p: float | None
    note: str
    same: bool = False


def equivalence(first: tuple[str, float], second: tuple[str, float], tested: TestSets, margin: float) -> Equivalence:
    """Test two cells for equal accuracy by the samples that they were tested on.

    The same weights that get the same samples right are equal, however few these are: an export, another batch size.
    Else by the same samples where both kept which they got right (Tango), else by the size of the test set, as if
    either had had its own. Runs that score alike say nothing: a model with given weights scores a test set the same way
    every time.

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
        return Equivalence(paired_equivalence(*right, margin), f"on the same {len(right[0])} samples")
    sizes = tested.size(one), tested.size(other)
    if sizes[0] is None or sizes[1] is None:
        return Equivalence(None, "size of the test set unknown")
    if sizes[0] != sizes[1]:
        return Equivalence(None, f"test sets of {sizes[0]} and {sizes[1]} samples")
    p = independent_equivalence(accuracy, beside, sizes[0], margin)
    return Equivalence(p, f"by the size of a test set of {sizes[0]} samples")
