"""Masks of objects as COCO's tools write them: lengths of runs of 0 and 1 in turn, column by column, the first of 0.

Source: T.-Y. Lin et al., Microsoft COCO, ECCV 2014, and its tools.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode(mask: NDArray[Any]) -> NDArray[np.int64]:
    """The runs of a mask; its inverse is `decode`.

    Args:
        mask: shape (height, width); all but 0 is the object.

    Returns:
        Shape (r,), int64.
    """
    pixels = (np.asarray(mask) != 0).T.ravel()
    ends = np.append(np.flatnonzero(pixels[1:] != pixels[:-1]) + 1, len(pixels))
    runs = np.diff(ends, prepend=0)
    return np.concatenate([[0], runs]).astype(np.int64) if pixels[0] else runs.astype(np.int64)


def decode(runs: NDArray[np.int64], size: tuple[int, int]) -> NDArray[np.uint8]:
    """The mask of runs.

    Args:
        runs: shape (r,), int64, as many pixels as the image has.
        size: (height, width) of the image.

    Returns:
        Shape (height, width), 1 on the object.
    """
    height, width = size
    pixels = np.repeat((np.arange(len(runs)) % 2).astype(np.uint8), runs)
    return pixels.reshape(width, height).T
