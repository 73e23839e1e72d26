"""A corpus as a data set for language modelling: one stream of tokens, cut into segments that follow each other."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.segments import Tokens, fields_of

_AT_ONCE = 1 << 20
"""Tokens that are renumbered at once, so that a corpus is not in memory twice."""


def stream_arrays(train: Tokens, test: Tokens, *, segment: int, vocabulary: int, about: Mapping[str, Any]) -> Arrays:
    """Segments of `segment` tokens; the label of a token is the one after it.

    A model gets the tokens (`input_ids`) and their labels (`targets`), both of shape (n, segment), int64. In training,
    what remains behind the last whole segment is left out, and counted. The last test segment may be shorter, so that
    every test token but the first is predicted once.

    Args:
        train: the text to learn from, shape (t,), int64, ids from 0; segments are views of it.
        test: the text to predict, in the same form.
        segment: tokens.
        vocabulary: how many ids there are.
        about: what the data record says beyond this.

    Raises:
        FramewattError: segments have no token, a stream is too short for one, or a token is not in the vocabulary.
    """
    both = (("training", train), ("test", test))
    for name, stream in both:
        if stream.dtype != np.int64 or stream.ndim != 1:
            raise FramewattError(f"{name} tokens: found shape {stream.shape}, {stream.dtype}; allowed: (n,) int64")
    fields = fields_of(train, test, segment)
    for name, stream in both:
        low, high = int(stream.min()), int(stream.max())
        if low < 0 or high >= vocabulary:
            raise FramewattError(f"{name} tokens: found ids {low} to {high}; allowed: 0 to {vocabulary - 1}")
    counted = {
        "vocabulary": vocabulary,
        "train_tokens": len(train),
        "test_tokens": len(test),
        "train_tokens_left_out": len(train) - fields["x_train"].size - 1,
    }
    return Arrays(**fields, class_count=vocabulary, about={**about, **counted}, task="language_modelling")


def by_frequency(tokens: Tokens, vocabulary: int) -> NDArray[np.int64]:
    """New ids by falling frequency, as an adaptive softmax wants them; among equals the smaller id comes first.

    Args:
        tokens: shape (n,), int64, ids from 0.
        vocabulary: how many ids there are.

    Returns:
        The new id of each old one, shape (vocabulary,), int64.
    """
    order = np.argsort(-np.bincount(tokens, minlength=vocabulary), kind="stable")
    ranks = np.empty(vocabulary, np.int64)
    ranks[order] = np.arange(vocabulary)
    return ranks


def renumber(tokens: Tokens, ranks: NDArray[np.int64]) -> None:
    """Give tokens their new ids, in place."""
    for start in range(0, len(tokens), _AT_ONCE):
        tokens[start : start + _AT_ONCE] = ranks[tokens[start : start + _AT_ONCE]]
