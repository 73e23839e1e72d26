"""Preprocessing of images: their values as a model's weights expect them, and their size.

For weights trained on ImageNet, the geometry is that of torchvision: the shorter side to `resize` pixels, bilinear
with antialiasing (Pillow's way), then the centre. keras.applications documents only the pixel values, and Gluon uses
the values of torchvision. Images with objects, of any size, become squares of one size, with their boxes and masks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

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


Shape = Literal["fit", "stretch"]
"""How an image becomes square: all of it in its own proportions and padded, or pulled out of them."""

WORDS: Mapping[Shape, str] = {
    "fit": "scaled to fit into {0}x{0} pixels (bilinear, antialiased), right of it and below it padded with 0",
    "stretch": "stretched to {0}x{0} pixels (bilinear, antialiased)",
}
"""What is done to an image, by shape; the padding is that of ready values, behind all preprocessing."""

MASKS = "a pixel of a mask is that under its middle"


@dataclass(frozen=True)
class Placing:
    """Where an image is in its square, from the left upper corner on.

    Attributes:
        size: (height, width) of the image.
        inner: (height, width) that it has in the square.
        side: of the square, in pixels.
    """

    size: tuple[int, int]
    inner: tuple[int, int]
    side: int

    def pixels(self, image: Any) -> Pixels:
        """Return the scaled image, shape (inner height, inner width, 3), without padding.

        Args:
            image: a Pillow image of `size`, RGB.
        """
        # Imported here because only the rule that makes the data has Pillow.
        from PIL.Image import Resampling

        height, width = self.inner
        return np.asarray(image.resize((width, height), Resampling.BILINEAR))

    def box(self, left: float, top: float, width: float, height: float) -> NDArray[np.float32]:
        """Return a box, cut at the image's edges, in the square: left, top, right, bottom, shape (4,), float32.

        Where nothing of it is in the image, it ends where it begins, or before.

        Args:
            left: of the image's pixels, as all four.
            top: likewise.
            width: likewise.
            height: likewise.
        """
        (rows, columns), (inner_rows, inner_columns) = self.size, self.inner
        edges = np.clip([left, top, left + width, top + height], 0, [columns, rows, columns, rows])
        scaled = edges * np.tile([inner_columns / columns, inner_rows / rows], 2)
        # Rounding may not take it beyond the edge.
        ends = np.tile(np.array([inner_columns, inner_rows], np.float32), 2)
        placed: NDArray[np.float32] = np.minimum(scaled.astype(np.float32), ends)
        return placed

    @property
    def scale(self) -> float:
        """Pixels of the square that a pixel of the image has."""
        return self.inner[0] * self.inner[1] / (self.size[0] * self.size[1])

    def mask(self, mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return a mask of the image in the square, shape (side, side): each pixel is the one under its middle.

        Args:
            mask: shape `size`, 1 on the object.
        """
        placed = np.zeros((self.side, self.side), np.uint8)
        # Twice the middle of a pixel is whole, so that nothing is rounded.
        rows, columns = (
            (2 * np.arange(inner) + 1) * whole // (2 * inner)
            for inner, whole in zip(self.inner, self.size, strict=True)
        )
        placed[: self.inner[0], : self.inner[1]] = mask[rows[:, None], columns]
        return placed


def placing(size: tuple[int, int], side: int, shape: Shape) -> Placing:
    """Return where an image of a size is in a square.

    Args:
        size: (height, width) of the image, each 1 or more.
        side: of the square, in pixels.
        shape: whether its proportions stay; its longer side is as long as the square's then, and its shorter one is
            rounded to whole pixels, half of one to the even number.
    """
    longer = max(size)
    inner = (side, side) if shape == "stretch" else (_scaled(size[0], side, longer), _scaled(size[1], side, longer))
    return Placing(size, inner, side)


def _scaled(length: int, side: int, longer: int) -> int:
    return max(1, round(length * side / longer))
