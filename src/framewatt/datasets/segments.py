"""A stream of tokens cut into segments that follow each other: each token's label is the token after it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import SPLITS, TOKENS, MoreInputs
from framewatt.datasets.ragged import IGNORED, flat, padded

Tokens = NDArray[np.int64]

TARGETS = "targets"
"""Name of the models' second input, the tokens to be predicted."""

FILES = ("tokens_train", "tokens_test")
"""Names of the streams in a file of arrays."""

_AT_ONCE = 1 << 20
"""Tokens that are renumbered at once, so that a corpus is not in memory twice."""


@dataclass(frozen=True)
class Segments(MoreInputs):
    """Segments of a stream of tokens. The stream is stored once, and training tokens are not read before they are used.

    Attributes:
        x_train: shape (n, segment), int64, token ids; a view of the stream.
        y_train: shape (n, segment), int64, the token after each; a view of the same memory.
        x_test: shape (m, segment), int64, 0 where padded.
        y_test: shape (m, segment), int64, IGNORED where padded.
        more_train: TARGETS: the labels as a model takes them, shape (n, segment), int64.
        more_test: TARGETS: the labels with 0 where padded, shape (m, segment), int64.
        segment: tokens of a segment.
        lengths_test: tokens of each test segment, shape (m,), int64; the last one may be shorter.
    """

    segment: int = field(kw_only=True)
    lengths_test: Tokens = field(kw_only=True)

    @property
    def main_input(self) -> str:
        """The models' name of the first input."""
        return TOKENS

    @cached_property
    def lengths_train(self) -> Tokens:
        """Tokens of each training segment, which are all whole, shape (n,)."""
        return np.full(len(self.x_train), self.segment)

    def lengths(self, test: bool) -> Tokens:
        """Return how many tokens each segment of the test set, or of the training set, has, shape (n,)."""
        return self.lengths_test if test else self.lengths_train

    def labels(self, test: bool) -> Tokens:
        """Return the labels of the test set, or of the training set, without padding, shape (total,)."""
        # All training segments are whole: a view, where `flat` would copy the stream.
        labels: Tokens = flat(self.y_test, self.lengths_test) if test else self.y_train.reshape(-1)
        return labels

    def streams(self) -> dict[str, Tokens]:
        """Return the streams that the segments were cut from, by their names in a file; of training without a copy.

        Raises:
            FramewattError: the segments are not those that `segments_of` cut from one stream.
        """
        x, y = self.x_train, self.y_train
        rows = len(x) > 0 and x.flags.c_contiguous and y.flags.c_contiguous
        if not (rows and _address(y) - _address(x) == x.itemsize):
            raise FramewattError(
                "data set: training segments are not cut from one stream in memory. Make them with segments_of."
            )
        # The targets are one token further in the same memory, which therefore has one token more.
        train = as_strided(x, (x.size + 1,), (x.itemsize,))
        return dict(zip(FILES, (train, _joined(self.x_test, self.y_test, self.lengths_test)), strict=True))

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right; no training token is read."""
        classes = self.class_count
        if classes is None:
            yield "segments of tokens have no class_count. Give the size of their vocabulary"
            return
        for split in SPLITS:
            x, y, more = (getattr(self, f"{name}_{split}") for name in ("x", "y", "more"))
            if list(more) != [TARGETS]:
                yield f"inputs after segments are {list(more)}. Use {TARGETS}"
                return
            arrays, shape = (x, y, more[TARGETS]), (len(self.lengths(split == "test")), self.segment)
            if any(values.dtype != np.int64 or values.shape != shape for values in arrays):
                shapes = ", ".join(f"{values.shape} {values.dtype}" for values in arrays)
                yield f"segments have shapes {shapes}. Use {shape} int64 for all three"
                return
        yield from self._problems_of_test(classes)

    def _problems_of_test(self, classes: int) -> Iterator[str]:
        x, y, targets, lengths = self.x_test, self.y_test, self.more_test[TARGETS], self.lengths_test
        inside = np.arange(x.shape[1]) < lengths[:, None]
        if not len(lengths) or lengths.min() < 1 or lengths.max() > x.shape[1]:
            yield f"test segments have {lengths.tolist()[:3]} tokens. Use one segment or more of 1 to {x.shape[1]}"
            return
        for name, ids in (("tokens", x[inside]), (TARGETS, y[inside])):
            if not 0 <= ids.min() <= ids.max() < classes:
                yield f"{name} are {ids.min()} to {ids.max()}. Use 0 to {classes - 1}"
        if not (np.array_equal(targets, np.where(inside, y, 0)) and (y[~inside] == IGNORED).all()):
            yield f"{TARGETS} are not the labels. Use the labels, with 0 for {IGNORED} where padded"
        if not (x[:, 1:] == y[:, :-1])[inside[:, 1:]].all():
            yield "labels are not the token after each. Use the token after each"

    def _test_fields(self, rows: Tokens, *, test: bool) -> dict[str, Any]:
        return {**super()._test_fields(rows, test=test), "lengths_test": self.lengths(test)[rows]}


def segments_of(train: Tokens, test: Tokens, segment: int) -> dict[str, Any]:
    """Return samples, inputs, labels and lengths of Segments from two streams; of training, views without a copy.

    In training, the tokens after the last whole segment are left out. Every token of the test stream but the first is a
    target once; the last segment may be shorter.

    Args:
        train: shape (t,), int64.
        test: the same.
        segment: how many tokens a segment has.

    Raises:
        FramewattError: segments have no token, or a stream is too short for one segment.
    """
    if segment < 1:
        raise FramewattError(f"segment: {segment} is too small. Use 1 token or more.")
    if len(test) < 2:
        raise FramewattError(f"test tokens: there are {len(test)}. Use 2 or more, since the first is not predicted.")
    if len(train) <= segment:
        raise FramewattError(f"training tokens: there are {len(train)}. Use {segment + 1} or more, for one segment.")
    count = (len(train) - 1) // segment
    x_train, y_train = (train[first : first + count * segment].reshape(count, segment) for first in (0, 1))
    whole, rest = divmod(len(test) - 1, segment)
    lengths = np.array([segment] * whole + [rest] * (rest > 0), np.int64)
    return {
        "x_train": x_train,
        "y_train": y_train,
        "more_train": {TARGETS: y_train},
        "x_test": padded(test[:-1], lengths, segment, 0),
        "y_test": padded(test[1:], lengths, segment, IGNORED),
        "more_test": {TARGETS: padded(test[1:], lengths, segment, 0)},
        "lengths_test": lengths,
        "segment": segment,
    }


def make_segments(
    train: Tokens, test: Tokens, *, segment: int, vocabulary: int, about: Mapping[str, Any], task: str
) -> Segments:
    """Make a data set of two streams of tokens.

    A model gets the tokens (`input_ids`) and their labels (`targets`), both of shape (n, segment), int64. In training,
    the tokens after the last whole segment are left out, and counted.

    Args:
        train: the text to learn from, shape (t,), int64, ids from 0; segments are views of it.
        test: the text to predict, in the same form.
        segment: tokens of a segment.
        vocabulary: how many ids there are.
        about: what the data record states beyond this.
        task: name of the task that the data set is for.

    Raises:
        FramewattError: segments have no token, a stream is too short for one, or a token is not in the vocabulary.
    """
    both = (("training", train), ("test", test))
    for name, stream in both:
        if stream.dtype != np.int64 or stream.ndim != 1:
            raise FramewattError(f"{name} tokens have shape {stream.shape}, {stream.dtype}. Use (n,) int64.")
    fields = segments_of(train, test, segment)
    for name, stream in both:
        low, high = int(stream.min()), int(stream.max())
        if low < 0 or high >= vocabulary:
            raise FramewattError(f"{name} tokens: ids are {low} to {high}. Use 0 to {vocabulary - 1}.")
    counted = {
        "vocabulary": vocabulary,
        "train_tokens": len(train),
        "test_tokens": len(test),
        "train_tokens_left_out": len(train) - fields["x_train"].size - 1,
    }
    return Segments(**fields, class_count=vocabulary, about={**about, **counted}, task=task)


def by_frequency(tokens: Tokens, vocabulary: int) -> Tokens:
    """Return new ids by falling frequency, as an adaptive softmax wants them; among equals the smaller id comes first.

    Args:
        tokens: shape (n,), int64, ids from 0.
        vocabulary: how many ids there are.

    Returns:
        The new id of each old id, shape (vocabulary,), int64.
    """
    order = np.argsort(-np.bincount(tokens, minlength=vocabulary), kind="stable")
    ranks = np.empty(vocabulary, np.int64)
    ranks[order] = np.arange(vocabulary)
    return ranks


def renumber(tokens: Tokens, ranks: Tokens) -> None:
    """Give tokens their new ids, in place."""
    for start in range(0, len(tokens), _AT_ONCE):
        tokens[start : start + _AT_ONCE] = ranks[tokens[start : start + _AT_ONCE]]


def _joined(x: Tokens, y: Tokens, lengths: Tokens) -> Tokens:
    tokens, after = flat(x, lengths), flat(y, lengths)
    if not np.array_equal(tokens[1:], after[:-1]) or (lengths[:-1] != x.shape[1]).any():
        raise FramewattError(
            "data set: test segments do not follow each other in one stream. Make them with segments_of."
        )
    joined: Tokens = np.append(tokens, after[-1:])
    return joined


def _address(values: Tokens) -> int:
    return int(values.__array_interface__["data"][0])
