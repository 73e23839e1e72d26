"""Street View House Numbers, cropped digits, from the original .mat files.

Source: Y. Netzer et al., Reading Digits in Natural Images with Unsupervised Feature Learning, 2011;
http://ufldl.stanford.edu/housenumbers. For non-commercial use only, as its authors state.
"""

from pathlib import Path

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.datasets.options import Count, Positive, Share
from framewatt.datasets.preprocessing import unit_range
from framewatt.datasets.record import about
from framewatt.datasets.selection import Labelled, first, first_share_trains, joined

_IMAGE = (32, 32, 3)
_ZERO = 10
"""The label of digit 0 in the files."""


def make(
    *,
    folder: Path,
    extra: bool = False,
    train_share: Share | None = None,
    train_samples: Count | None = None,
    test_samples: Positive | None = None,
) -> Images:
    """SVHN as RGB images of 32x32 pixels from 0 to 1, in the order of the files; the class is the digit.

    Args:
        folder: holds train_32x32.mat and test_32x32.mat.
        extra: whether the easier images of extra_32x32.mat are appended to the training set.
        train_share: None takes the published test set; a share takes that beginning of the published training set to
            train and its end to test, as itu2023 did with 0.9.
        train_samples: number of training images to keep; None keeps all.
        test_samples: number of test images to keep; None keeps all.

    Raises:
        FramewattError: a file is missing, damaged or holds something else.
    """
    names = ["train", *(["extra"] if extra else []), *(["test"] if train_share is None else [])]
    used = [folder / f"{name}_32x32.mat" for name in names]
    parts = [_read(path) for path in used]
    if train_share is None:
        train, test = joined(parts[:-1]), parts[-1]
    else:
        train, test = first_share_trains(joined(parts), train_share)
    train = first(train, train_samples, "train_samples of SVHN")
    test = first(test, test_samples, "test_samples of SVHN")
    return Images(
        unit_range(train[0]),
        train[1],
        unit_range(test[0]),
        test[1],
        class_count=10,
        about=about("RGB from 0 to 1; label 10 is digit 0", read=used, root=folder),
    )


def _read(path: Path) -> Labelled:
    """Images of a file, shape (n, 3, 32, 32), uint8, and their digits, shape (n,), int64."""
    # Imported here because only the rule that makes the data has scipy.
    from scipy.io import loadmat

    if not path.is_file():
        raise FramewattError(f"{path}: there is no such file. Use SVHN's cropped digits (format 2).")
    try:
        content = loadmat(path, variable_names=["X", "y"])
    except Exception as error:  # scipy has no error of its own for a damaged file
        raise FramewattError(
            f"{path}: it is not a readable .mat file of version 5: {error}. Get the file again."
        ) from error
    if "X" not in content or "y" not in content:
        raise FramewattError(f"{path}: it has no X and y. Use SVHN's cropped digits (format 2).")
    images, labels = content["X"], content["y"].ravel()
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[:3] != _IMAGE or images.shape[3] != len(labels):
        raise FramewattError(
            f"{path}: it has X of shape {images.shape}, {images.dtype}, and {len(labels)} labels. "
            "Use (32, 32, 3, n), uint8, and n labels."
        )
    if not np.isin(labels, np.arange(1, _ZERO + 1)).all():
        raise FramewattError(f"{path}: it has labels {labels.min()} to {labels.max()}. Use 1 to {_ZERO}.")
    return images.transpose(3, 2, 0, 1), labels.astype(np.int64) % _ZERO
