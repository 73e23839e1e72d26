"""Sequences of different lengths with a label for every token, as they are stored and as models get them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Samples
from framewatt.datasets.ragged import IGNORED, flat


@dataclass(frozen=True)
class Sequences(Samples):
    """Sequences with a class for every token, padded to the longest.

    Attributes:
        x_train: shape (n, longest, ...), any type.
        y_train: shape (n, longest), int64, a class for every token, IGNORED where padded.
        x_test: shape (m, longest, ...).
        y_test: shape (m, longest), int64.
        more_train: further inputs, shape (n, longest, ...).
        more_test: the same inputs of the test set.
        lengths_train: how many tokens each sequence has, shape (n,), int64; they are stored without padding.
        lengths_test: the same for the test set, shape (m,).
    """

    channels_first: bool = field(default=False, kw_only=True)
    lengths_train: NDArray[np.int64] = field(kw_only=True)
    lengths_test: NDArray[np.int64] = field(kw_only=True)

    def lengths(self, test: bool) -> NDArray[np.int64]:
        """Return how many tokens each sequence of the test set, or of the training set, has, shape (n,)."""
        return self.lengths_test if test else self.lengths_train

    def labels(self, test: bool) -> NDArray[np.int64]:
        """Return the labels of all tokens of the test set, or of the training set, without padding, shape (total,)."""
        return flat(self.y_test if test else self.y_train, self.lengths(test))

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""
        for test in (False, True):
            yield from self._problems_of_split(test)
        yield from self._problems_of_samples()

    def _test_fields(self, rows: NDArray[np.int64], *, test: bool) -> dict[str, Any]:
        return {**super()._test_fields(rows, test=test), "lengths_test": self.lengths(test)[rows]}

    def _problems_of_split(self, test: bool) -> Iterator[str]:
        labels, lengths = self.y_test if test else self.y_train, self.lengths(test)
        longest = labels.shape[1] if labels.ndim == 2 else 0
        if labels.dtype != np.int64 or labels.ndim != 2:
            yield f"labels of sequences have shape {labels.shape}, {labels.dtype}. Use (n, longest) int64"
        elif lengths.dtype != np.int64 or lengths.shape != labels.shape[:1]:
            yield f"lengths have shape {lengths.shape}, {lengths.dtype}. Use {labels.shape[:1]} int64"
        elif len(lengths) and not 1 <= lengths.min() <= lengths.max() <= longest:
            yield f"sequences have {lengths.min()} to {lengths.max()} tokens. Use 1 to {longest}"
        elif not np.array_equal(labels == IGNORED, np.arange(longest) >= lengths[:, None]):
            yield f"labels are {IGNORED} elsewhere than after the ends of sequences. Use it there and nowhere else"
        for name, values in (self.inputs_test if test else self.inputs_train).items():
            if values.shape[1:2] != labels.shape[1:2]:
                yield f"{name} has shape {values.shape}, labels have {labels.shape}. Use as many tokens of both"
