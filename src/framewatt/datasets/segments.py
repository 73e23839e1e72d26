"""A stream of tokens cut into segments: each has its tokens, and as targets the token after each of them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.ragged import IGNORED, flat, padded

Tokens = NDArray[np.int64]

TARGETS = "targets"
"""Name of the models' second input, the tokens to be predicted."""

FILES = ("tokens_train", "tokens_test")
"""Names of the streams in a file of arrays."""


def fields_of(train: Tokens, test: Tokens, segment: int) -> dict[str, Any]:
    """The fields of Arrays that a training stream and a test stream give; of training, views without a copy.

    In training, what remains behind the last whole segment is left out. Of the test stream, every token but the first
    is a target once; the last segment may be shorter.

    Args:
        train: shape (t,), int64.
        test: the same.
        segment: how many tokens a segment has.

    Raises:
        FramewattError: segments have no token, or a stream is too short for one.
    """
    if segment < 1:
        raise FramewattError(f"segment: found {segment}; allowed: 1 or more tokens")
    if len(test) < 2:
        raise FramewattError(f"test tokens: found {len(test)}; allowed: 2 or more, the second one to be predicted")
    if len(train) <= segment:
        raise FramewattError(f"training tokens: found {len(train)}; allowed: {segment + 1} or more, for one segment")
    count = (len(train) - 1) // segment
    x_train, y_train = (train[first : first + count * segment].reshape(count, segment) for first in (0, 1))
    whole, rest = divmod(len(test) - 1, segment)
    lengths = np.array([segment] * whole + [rest] * (rest > 0), np.int64)
    return {
        "x_train": x_train,
        "y_train": y_train,
        "more_train": {TARGETS: y_train},
        "lengths_train": np.full(count, segment),
        "x_test": padded(test[:-1], lengths, segment, 0),
        "y_test": padded(test[1:], lengths, segment, IGNORED),
        "more_test": {TARGETS: padded(test[1:], lengths, segment, 0)},
        "lengths_test": lengths,
        "segment": segment,
    }


def streams_of(fields: Mapping[str, Any]) -> dict[str, Tokens]:
    """The streams that segments were cut from, by their names in a file; of training without a copy.

    Args:
        fields: of Arrays, by name, as `fields_of` gives them.

    Raises:
        FramewattError: they are not what `fields_of` cut from one stream.
    """
    x, y = fields["x_train"], fields["y_train"]
    rows = len(x) > 0 and x.flags.c_contiguous and y.flags.c_contiguous
    if not (rows and _address(y) - _address(x) == x.itemsize):
        raise FramewattError("data set: found training segments that are not cut from one stream in memory")
    # The targets lie one token further in the same memory, so that one token more is there.
    train = as_strided(x, (x.size + 1,), (x.itemsize,))
    of_test = (fields[name] for name in ("x_test", "y_test", "lengths_test"))
    return dict(zip(FILES, (train, _joined(*of_test)), strict=True))


def problems(fields: Mapping[str, Any], classes: int | None) -> Iterator[str]:
    """Where the fields of Arrays are no segments of streams, and what would be right; nothing of training is read.

    Args:
        fields: of Arrays, by name.
        classes: how many tokens there are to choose from.
    """
    segment = fields["segment"]
    if classes is None:
        yield "segments of tokens without class_count; allowed: the size of their vocabulary"
        return
    for split in ("train", "test"):
        x, y, more, lengths = (fields[f"{name}_{split}"] for name in ("x", "y", "more", "lengths"))
        if list(more) != [TARGETS] or lengths is None:
            yield f"inputs {list(more)} beside segments, or no lengths; allowed: {TARGETS}, and lengths"
            return
        arrays = (x, y, more[TARGETS])
        if any(values.dtype != np.int64 or values.shape != (len(lengths), segment) for values in arrays):
            shapes = ", ".join(f"{values.shape} {values.dtype}" for values in arrays)
            yield f"segments of shape {shapes}; allowed: ({len(lengths)}, {segment}) int64 of all three"
            return
    of_test = (fields["x_test"], fields["y_test"], fields["more_test"][TARGETS], fields["lengths_test"])
    yield from _of_test(*of_test, classes)
    if not (fields["lengths_train"] == segment).all():
        yield f"training segments that are not whole; allowed: {segment} tokens in each"


def _of_test(x: Tokens, y: Tokens, targets: Tokens, lengths: Tokens, classes: int) -> Iterator[str]:
    inside = np.arange(x.shape[1]) < lengths[:, None]
    if not len(lengths) or lengths.min() < 1 or lengths.max() > x.shape[1]:
        yield f"test segments of {lengths.tolist()[:3]} tokens; allowed: one or more of 1 to {x.shape[1]}"
        return
    for name, ids in (("tokens", x[inside]), (TARGETS, y[inside])):
        if not 0 <= ids.min() <= ids.max() < classes:
            yield f"{name} {ids.min()} to {ids.max()}; allowed: 0 to {classes - 1}"
    if not (np.array_equal(targets, np.where(inside, y, 0)) and (y[~inside] == IGNORED).all()):
        yield f"{TARGETS} that are not the labels, with 0 for {IGNORED} where padded"
    if not (x[:, 1:] == y[:, :-1])[inside[:, 1:]].all():
        yield "labels that are not the token after each; allowed: these"


def _joined(x: Tokens, y: Tokens, lengths: Tokens) -> Tokens:
    tokens, after = flat(x, lengths), flat(y, lengths)
    if not np.array_equal(tokens[1:], after[:-1]) or (lengths[:-1] != x.shape[1]).any():
        raise FramewattError("data set: found test segments that do not follow each other in one stream")
    joined: Tokens = np.append(tokens, after[-1:])
    return joined


def _address(values: Tokens) -> int:
    return int(values.__array_interface__["data"][0])
