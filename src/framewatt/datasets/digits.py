"""Handwritten digits that scikit-learn carries, enlarged to images that the model zoos accept.

Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998
(test part, 1,797 images of 8x8 pixels with 17 grey levels), CC BY 4.0; shipped inside scikit-learn.
"""

from typing import Annotated

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.datasets.options import Count, Limits, Positive, Seed
from framewatt.datasets.record import about
from framewatt.datasets.selection import first

_GREY_LEVELS = 16

DigitsShare = Annotated[float, Limits(0.01, 0.99)]
"""Of 1,797 digits: with it, both splits can have every class, as a stratified split wants."""


def make(
    *,
    image_size: Positive,
    test_fraction: DigitsShare,
    seed: Seed,
    train_samples: Count | None = None,
    test_samples: Positive | None = None,
) -> Images:
    """Return the digits as three-channel images with a fixed, stratified split.

    Args:
        image_size: pixels of a side, a multiple of 8; each original pixel becomes a square.
        test_fraction: share of the images that are kept for testing.
        seed: of the split.
        train_samples: number of training images to keep; None keeps all.
        test_samples: number of test images to keep; None keeps all.

    Raises:
        FramewattError: `image_size` is not a multiple of 8, or there are fewer images than requested.
    """
    # Imported here because only the rule that makes the data has scikit-learn.
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    if image_size % 8:
        raise FramewattError(f"image_size: {image_size} is not possible. Use a multiple of 8.")
    digits = load_digits()
    scale = image_size // 8
    grey = np.kron(digits.images / _GREY_LEVELS, np.ones((scale, scale)))
    images = np.repeat(grey[:, None], 3, axis=1).astype(np.float32)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digits.target.astype(np.int64), test_size=test_fraction, random_state=seed, stratify=digits.target
    )
    return Images(
        *first((x_train, y_train), train_samples, "train_samples of the digits"),
        *first((x_test, y_test), test_samples, "test_samples of the digits"),
        class_count=len(digits.target_names),
        about=about(f"grey from 0 to 1 in three channels, each pixel a square of {scale}x{scale}"),
    )
