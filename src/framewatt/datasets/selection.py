"""Selects the samples of a data set that are used, and splits off those for training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError

Labelled = tuple[NDArray[Any], NDArray[np.int64]]
"""Samples, and their classes."""


def chosen(count: int, samples: int | None, what: str, seed: int | None = None) -> NDArray[np.int64]:
    """Return the indices of the samples that are used.

    Args:
        count: how many there are.
        samples: how many are wanted; None is all.
        what: what they are, for the message.
        seed: seed of a random order, for files that are sorted by class; None keeps their order.

    Returns:
        shape (samples,), without repeats.

    Raises:
        FramewattError: there are fewer than wanted.
    """
    if samples is not None and samples > count:
        raise FramewattError(f"{what}: there are {count}, and config/datasets.yaml wants {samples}. Use fewer.")
    order = np.arange(count) if seed is None else np.random.default_rng(seed).permutation(count)
    return order[:samples]


def first(data: Labelled, samples: int | None, what: str) -> Labelled:
    """Return the first samples and their labels (see `chosen`)."""
    indices = slice(len(chosen(len(data[1]), samples, what)))
    return data[0][indices], data[1][indices]


def joined(parts: Sequence[Labelled]) -> Labelled:
    """Samples and labels of several files, one after the other."""
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def first_share_trains(data: Labelled, train_share: float) -> tuple[Labelled, Labelled]:
    """Split into a training set (the beginning) and a test set (the end).

    Args:
        data: samples and labels.
        train_share: share of the samples that train, rounded to whole samples.

    Raises:
        FramewattError: one of the two would be empty.
    """
    count = len(data[1])
    border = round(train_share * count)
    if not 0 < border < count:
        raise FramewattError(
            f"train_share: {train_share} of {count} samples is not possible. Use some to train, some to test."
        )
    return (data[0][:border], data[1][:border]), (data[0][border:], data[1][border:])
