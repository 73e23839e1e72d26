"""Accuracies of cells on one test set: whether two are equal within a margin, and the objectives that use them.

A difference that is not significant proves no equality.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import special
from statsmodels.stats.proportion import tost_proportions_2indep

from framewatt.runs.predictions import NAME, Answers, read_right
from framewatt.runs.verdict import counts
from framewatt.study.records import RunRecord
from framewatt.study.runtimes import RUNTIMES

OBJECTIVES = {"energy": "energy_per_sample_j", "latency": "latency_p95_s", "throughput": "time_per_sample_s"}
"""Objectives, each with its quantity; smaller is better."""

BEST, NOT_APART, NOT_LESS, WORSE = "least", "not told apart", "not less", "more"
"""Verdicts of a choice in an objective, as deploy.csv stores them: alone in the confidence set of the best; in it with
others; outside of it, where it is only known that the best takes no more; outside of it, and shown to take more."""


def paired_equivalence(first: npt.ArrayLike, second: npt.ArrayLike, margin: float) -> float:
    """Return p of "the accuracies of two models differ by the margin or more", from the samples each got right.

    The larger p of two one-sided score tests of the difference of paired proportions: Tango 1998, Statistics in
    Medicine 17:891-908. Only samples that one model got right and the other wrong separate the two. Their number in the
    test set bounds their true share, so two models that agree on all of a small test set are not thereby equal.

    Args:
        first: shape (n,), bool: whether each sample of the test set was right.
        second: shape (n,), in the same order.
        margin: largest difference that counts as none, a share: 0.01 is one sample in a hundred.

    Raises:
        ValueError: the arrays do not have one shape (n,), n at least 1.
    """
    one, other = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if one.shape != other.shape or one.ndim != 1 or not one.size:
        raise ValueError(f"right answers have shapes {one.shape} and {other.shape}. Give two of one shape (n,).")
    gained, lost = int((one & ~other).sum()), int((~one & other).sum())
    return max(_tango_p(gained, lost, one.size, margin), _tango_p(lost, gained, one.size, margin))


def samples_needed(others: int, margin: float, alpha: float) -> int:
    """Return the size of a test set on which models that answer every sample alike are shown to be equally accurate.

    Args:
        others: models that are compared with one; each test is at `alpha` over their number.
        margin: largest difference of accuracies that counts as none, a share above 0.
        alpha: significance level.
    """
    samples = 1
    while _tango_p(0, 0, samples, margin) > alpha / others:
        samples += 1
    return samples


def _tango_p(gained: int, lost: int, n: int, margin: float) -> float:
    """One-sided p of "the share of `lost` exceeds that of `gained` by the margin or more"."""
    # `share` is the likeliest one of `lost` where the difference, (gained - lost) / n, is exactly delta.
    delta = -margin
    a, b = 2.0 * n, -gained - lost + (2 * n - gained + lost) * delta
    c = -lost * delta * (1 - delta)
    share = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * share + delta * (1 - delta))
    if variance <= 0:
        return 1.0
    return float(special.ndtr(-(gained - lost - n * delta) / math.sqrt(variance)))


def independent_equivalence(first: float, second: float, samples: int, margin: float) -> float:
    """Return p of the hypothesis of `paired_equivalence` where only the size of the test set is known.

    It treats the models as tested on independent samples (two one-sided score tests of two binomial proportions,
    Miettinen and Nurminen 1985, by statsmodels). Models mostly get the same samples right, so their true difference
    varies less than that: the test is conservative.

    Args:
        first: share of right answers.
        second: that of the other model.
        samples: size of the test set.
        margin: largest difference that counts as none, a share.
    """
    right = [share * samples for share in (first, second)]
    low, high = -margin, margin
    if abs(first - second) >= margin:
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        outcome = tost_proportions_2indep(right[0], samples, right[1], samples, low, high, method="score")
    p = float(outcome.pvalue)
    return 1.0 if math.isnan(p) else p


ON_THE_SAME = "on the same"
"""First words of the note of a test that is paired by samples."""


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
        """Return the number of samples of a cell's test set; None where unknown."""
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
    (one, accuracy), (other, other_accuracy) = first, second
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
    p = independent_equivalence(accuracy, other_accuracy, sizes[0], margin)
    return Equivalence(p, f"by the size of a test set of {sizes[0]} samples")


def read_test_sets(records: Mapping[Path, RunRecord], own_models: Collection[str]) -> TestSets:
    """Read the predictions of the first run that counts of every cell; later runs have the same or equivalent weights.

    Args:
        records: run records by their paths, with predictions in the same folder.
        own_models: names of workloads that the study's author supplied, each one model in any format.

    Raises:
        FramewattError: predictions cannot be read, or do not match their record.
    """
    predicted = [
        (record["repetition"], path, record["predictions"], record["cell_id"], record["cell"])
        for path, record in records.items()
        if record.get("predictions") and counts(record)
    ]
    right: dict[str, Answers] = {}
    weights: dict[str, str] = {}
    for _, path, answers, name, cell in sorted(predicted, key=lambda run: run[0]):
        if name not in right:
            right[name] = read_right(path.with_name(NAME), answers)
            own = cell["workload"] in own_models
            weights[name] = "own" if own else RUNTIMES[cell["runtime"]].framework
    return TestSets(right, weights=weights)
