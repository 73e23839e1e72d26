"""Sequence tagging: a class for every token of a sequence. Numpy only, see classification."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.datasets.sequences import Sequences
from framewatt.tasks.contract import LOWER, NOT_NUMBERS, TEST, Judged, Metric, Outputs, Task

METRICS = (
    Metric("token_error_rate", "Token error rate", LOWER),
    Metric("sequence_error_rate", "Sequence error rate", LOWER),
)
"""Shares of tokens, and of sequences, with a wrong tag; a sequence is right where all of its tokens are."""


class Tagging(Task):
    """One class for each token; outputs are scores, shape (n, longest, classes), also of the padding.

    The first metric is the error rate of tokens, as in handwriting recognition (character error rate): it changes with
    every token, while that of sequences changes with their length.
    """

    name = "tagging"
    unit = "token"
    metrics = METRICS
    kinds = (Sequences,)

    def units_of(self, split: str, data: Arrays, indices: NDArray[np.int64]) -> int:
        """Return the tokens in some sequences."""
        return int(data.lengths(split == TEST)[indices].sum())

    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[np.int64] | None:
        """Return the likeliest class of each token, sequence by sequence, shape (tokens,)."""
        if outputs.ndim != 3 or outputs.shape[:2] != data.y_test.shape:
            return None
        likeliest: NDArray[np.int64] = outputs.argmax(axis=2)[_tokens(data)]
        return likeliest

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return the error rates of tokens and of sequences."""
        predicted = self.predictions(outputs, data)
        if predicted is None or outputs.shape[2] < data.classes:
            return self.unjudged(f"outputs of shape {outputs.shape} are no scores of {data.classes} classes a token")
        tokens = _tokens(data)
        if not np.isfinite(outputs[tokens]).all():
            return self.unjudged(NOT_NUMBERS)
        right = predicted == data.y_test[tokens]
        sequence = np.repeat(np.arange(len(data.y_test)), data.lengths(test=True))
        wrong = np.bincount(sequence, weights=~right, minlength=len(data.y_test)) > 0
        values = (self.recount(right), float(wrong.mean()))
        return Judged(dict(zip(self.names, values, strict=True)), None, right)

    def recount(self, right: NDArray[np.bool_]) -> float:
        """Return the error rate of tokens."""
        return float(np.mean(~right))

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which metrics are unknown."""
        return rf"{NOT_NUMBERS}|outputs of shape \([\d, ]+\) are no scores of \d+ classes a token"


def _tokens(data: Arrays) -> NDArray[np.bool_]:
    """Return where the test set has tokens, shape (n, longest)."""
    return np.arange(data.y_test.shape[1]) < data.lengths(test=True)[:, None]
