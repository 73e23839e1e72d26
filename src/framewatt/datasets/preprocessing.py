"""Preprocessing of images as a model's weights expect it, and as the model zoos document it.

The geometry is torchvision's for weights trained on ImageNet: the shorter side to `resize` pixels, bilinear with
antialiasing (Pillow's way), then the centre. keras.applications documents only the pixel values, and Gluon uses the
same values as torchvision.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Image = NDArray[np.float32]

_TORCH_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_TORCH_STD = np.array([0.229, 0.224, 0.225], np.float32)
_CAFFE_BGR_MEAN = np.array([103.939, 116.779, 123.68], np.float32)


def unit_range(pixels: Pixels) -> Image:
    """0 to 255 becomes 0 to 1, any shape."""
    return pixels.astype(np.float32) / np.float32(255)


def _torch(pixels: Pixels) -> Image:
    return (unit_range(pixels) - _TORCH_MEAN) / _TORCH_STD


def _caffe(pixels: Pixels) -> Image:
    return pixels[..., ::-1].astype(np.float32) - _CAFFE_BGR_MEAN


def _tf(pixels: Pixels) -> Image:
    return pixels.astype(np.float32) / np.float32(127.5) - np.float32(1)


PREPROCESSINGS: Mapping[str, tuple[Callable[[Pixels], Image], str]] = {
    "unit": (unit_range, "RGB from 0 to 1"),
    "torch": (_torch, "RGB from 0 to 1, less the mean and over the deviation of ImageNet (torchvision, Gluon)"),
    "caffe": (_caffe, "BGR from 0 to 255, less the mean of ImageNet (keras.applications.resnet)"),
    "tf": (_tf, "RGB from -1 to 1 (keras.applications.mobilenet_v2)"),
}
"""By name of the mode in keras.applications: a function of pixels of shape (height, width, RGB), and its
description."""


def resized_centre(image: Any, resize: int, crop: int) -> Pixels:
    """Centre crop of an image after scaling its shorter side to `resize` pixels.

    Args:
        image: a Pillow image, RGB.
        resize: length of the shorter side, at least `crop`.
        crop: length of both sides of the crop.

    Returns:
        shape (crop, crop, 3).
    """
    # Imported here because only the rule that makes the data has Pillow.
    from PIL.Image import Resampling

    width, height = image.size
    shorter = min(width, height)
    size = (resize * width // shorter, resize * height // shorter)
    left, top = (round((length - crop) / 2) for length in size)
    small = image.resize(size, Resampling.BILINEAR) if size != image.size else image
    return np.asarray(small.crop((left, top, left + crop, top + crop)))
