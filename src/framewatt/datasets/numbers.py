"""Handwritten numbers of different lengths, to be read digit by digit: made of the digits that scikit-learn carries.

Source of the digits: see `digits`. Each is used once, so that no digit is in two numbers, or in both splits.
"""

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.digits import DigitsShare
from framewatt.datasets.options import Count, Positive, Seed
from framewatt.datasets.ragged import IGNORED, padded
from framewatt.datasets.record import about
from framewatt.datasets.selection import chosen
from framewatt.datasets.sequences import Sequences

_GREY_LEVELS = 16


def make(
    *,
    longest: Positive,
    test_fraction: DigitsShare,
    seed: Seed,
    train_samples: Count | None = None,
    test_samples: Positive | None = None,
) -> Sequences:
    """Numbers of 1 to `longest` digits: a token is a digit's 64 pixels, its tag which digit it is.

    Args:
        longest: digits of the longest number.
        test_fraction: share of the digits that are kept for testing.
        seed: of the split and of the lengths.
        train_samples: how many training numbers to keep; None keeps all.
        test_samples: how many test numbers to keep; None keeps all.

    Raises:
        FramewattError: there are fewer numbers than requested.
    """
    # Imported here because only the rule that makes the data has scikit-learn.
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    pixels = (digits.data / _GREY_LEVELS).astype(np.float32)
    x_train, x_test, y_train, y_test = train_test_split(
        pixels, digits.target.astype(np.int64), test_size=test_fraction, random_state=seed, stratify=digits.target
    )
    rng = np.random.default_rng(seed)
    train = _numbers(x_train, y_train, longest, rng)
    test = _numbers(x_test, y_test, longest, rng)
    of_train = chosen(len(train[2]), train_samples, "train_samples of the numbers")
    of_test = chosen(len(test[2]), test_samples, "test_samples of the numbers")
    return Sequences(
        train[0][of_train],
        train[1][of_train],
        test[0][of_test],
        test[1][of_test],
        class_count=len(digits.target_names),
        about=about("grey from 0 to 1, 64 pixels a digit; a number's digits follow each other, padded with 0"),
        main="digits",
        task="tagging",
        lengths_train=train[2][of_train],
        lengths_test=test[2][of_test],
    )


def _numbers(
    pixels: NDArray[np.float32], labels: NDArray[np.int64], longest: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of random lengths from digits in their order, the last as long as digits are left.

    Returns:
        Pixels, shape (n, longest, 64); labels, shape (n, longest), IGNORED where padded; lengths, shape (n,).
    """
    ends = np.cumsum(rng.integers(1, longest + 1, len(labels)))
    ends = np.append(ends[ends < len(labels)], len(labels))
    lengths = np.diff(ends, prepend=0)
    return padded(pixels, lengths, longest, 0.0), padded(labels, lengths, longest, IGNORED), lengths
