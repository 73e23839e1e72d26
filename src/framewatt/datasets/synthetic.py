"""Random samples of a given shape, for machines without the real data: energy and time are valid, accuracy is not.

Their names in config/datasets.yaml must begin with `synthetic`, so that every table and figure shows what they are.
"""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images, Texts
from framewatt.datasets.options import Count, Limits, Positive, Seed
from framewatt.datasets.record import about

_Inputs = tuple[NDArray[Any], dict[str, NDArray[np.int64]]]

_SHORTEST_SHARE = 0.1
_MOST_VALUES = 10**12
_SPECIAL_TOKENS = 1
"""Id 0 is padding, as in BERT's vocabulary."""


def make(
    *,
    shape: list[Positive],
    classes: Positive,
    train_samples: Count,
    test_samples: Positive,
    seed: Seed,
    vocabulary: Annotated[int, Limits(_SPECIAL_TOKENS + 1)] | None = None,
) -> Images | Texts:
    """Samples and labels drawn uniformly and independently, so that nothing can be learned.

    Args:
        shape: of one sample: [channels, height, width] of an image with values from 0 to 1, or [length] of a text.
        classes: number of classes.
        train_samples: number of training samples.
        test_samples: number of test samples.
        seed: seed of all samples and labels.
        vocabulary: number of token ids (id 0 is padding); None makes images. Lengths of texts are drawn uniformly from
            a tenth of `shape` to all of it.

    Raises:
        FramewattError: the shape is neither an image's nor a text's, or too large for any memory.
    """
    if len(shape) != (3 if vocabulary is None else 1):
        raise FramewattError(f"shape: {shape} is not possible. Use [channels, height, width], or [length] of texts.")
    if (values := max(train_samples, test_samples) * math.prod(shape)) > _MOST_VALUES:
        raise FramewattError(f"shape: {values} values in a split are too many. Use at most {_MOST_VALUES}.")
    random = np.random.default_rng(seed)

    def samples(count: int) -> _Inputs:
        if vocabulary is None:
            return random.random((count, *shape), np.float32), {}
        return _texts(random, count, shape[0], vocabulary)

    x_train, more_train = samples(train_samples)
    x_test, more_test = samples(test_samples)
    y_train, y_test = (random.integers(classes, size=count) for count in (train_samples, test_samples))
    what = "random values from 0 to 1"
    if vocabulary is not None:
        what = f"random token ids below {vocabulary}, then padding with 0"
    facts = about(what, synthetic=True, seed=seed)
    if vocabulary is None:
        return Images(x_train, y_train, x_test, y_test, class_count=classes, about=facts)
    return Texts(x_train, y_train, x_test, y_test, more_train, more_test, class_count=classes, about=facts)


def _texts(random: np.random.Generator, count: int, length: int, vocabulary: int) -> _Inputs:
    """Token ids with their mask and types."""
    lengths = random.integers(max(1, round(_SHORTEST_SHARE * length)), length, size=count, endpoint=True)
    mask = (np.arange(length) < lengths[:, None]).astype(np.int64)
    ids = random.integers(_SPECIAL_TOKENS, vocabulary, size=(count, length)) * mask
    return ids, {"attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
