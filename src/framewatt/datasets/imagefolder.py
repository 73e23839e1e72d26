"""Images in folders, such as ImageNet's validation set, decoded and preprocessed to arrays in advance."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.datasets.imagelist import ImageList, list_images
from framewatt.datasets.options import Count, Limits, Positive, Seed
from framewatt.datasets.preprocessing import PREPROCESSINGS, Image, resized_centre
from framewatt.datasets.record import LeftOut, about
from framewatt.datasets.selection import chosen
from framewatt.host.machine import usable_processors

_DAMAGED = ("error", "leave_out")

Side = Annotated[int, Limits(1, 65535)]
"""Pixels of a side, as many as a JPEG may have."""


def make(
    *,
    folder: Path,
    preprocessing: str,
    test: str = ".",
    train: str | None = None,
    classes: Positive | None = None,
    test_samples: Positive | None = None,
    train_samples: Count | None = None,
    seed: Seed = 0,
    resize: Side = 256,
    crop: Side = 224,
    damaged: str = "error",
) -> Images:
    """Images as a model's weights expect them.

    Args:
        folder: the source's folder; for the layouts of its parts see `list_images`.
        preprocessing: what the weights expect, a name in `PREPROCESSINGS`.
        test: the test images' folder in `folder`.
        train: the training images' folder in `folder`; None leaves the training set empty.
        classes: number of classes; None takes it from the folder.
        test_samples: number of test images to take at random; None takes all.
        train_samples: the same for the training set.
        seed: seed of the choice and the order.
        resize: pixels of the shorter side before the centre crop.
        crop: pixels of both sides of the centre crop.
        damaged: `error` stops at an image that cannot be decoded; `leave_out` notes it and goes on.

    Raises:
        FramewattError: the folder or an option is wrong, or an image is damaged.
    """
    _check_options(preprocessing, damaged, resize, crop)
    testing = _selected(list_images(folder / test, classes), test_samples, seed, "test_samples")
    training = ImageList([], [], testing.class_count, "none")
    if train is not None:
        training = _selected(list_images(folder / train, classes), train_samples, seed, "train_samples")
    if training.class_count != testing.class_count:
        raise FramewattError(
            f"{folder}: found {training.class_count} classes in {train} and {testing.class_count} in {test}; "
            "allowed: as many; say how many with `classes`"
        )
    decode = _Decode(preprocessing, resize, crop)
    x_train, y_train, left_train = _decoded(training, decode, folder, damaged)
    x_test, y_test, left_test = _decoded(testing, decode, folder, damaged)
    facts = about(
        decode.words,
        read=[*training.paths, *testing.paths],
        root=folder,
        left_out=[*left_train, *left_test],
        layout=testing.layout,
        decoder=decode.library,
    )
    return Images(x_train, y_train, x_test, y_test, class_count=testing.class_count, about=facts)


def _check_options(preprocessing: str, damaged: str, resize: int, crop: int) -> None:
    if preprocessing not in PREPROCESSINGS:
        raise FramewattError(f"preprocessing: found {preprocessing}; allowed: {', '.join(PREPROCESSINGS)}")
    if damaged not in _DAMAGED:
        raise FramewattError(f"damaged: found {damaged}; allowed: {', '.join(_DAMAGED)}")
    if not 0 < crop <= resize:
        raise FramewattError(f"crop: found {crop}; allowed: 1 to resize ({resize})")


def _selected(images: ImageList, samples: int | None, seed: int, what: str) -> ImageList:
    """`samples` images at random, since the folder may be sorted by class."""
    indices = chosen(len(images.paths), samples, what, seed)
    return ImageList(
        [images.paths[i] for i in indices], [images.classes[i] for i in indices], images.class_count, images.layout
    )


@dataclass(frozen=True)
class _Decode:
    """Decodes a file to a model's input."""

    preprocessing: str
    resize: int
    crop: int

    @property
    def words(self) -> str:
        """Description of the preprocessing."""
        return (
            f"shorter side to {self.resize} pixels (bilinear, antialiased), centre of {self.crop}x{self.crop}; "
            f"{PREPROCESSINGS[self.preprocessing][1]}"
        )

    @property
    def library(self) -> str:
        """Decoding library with version, since another version may decode a JPEG to other pixels."""
        import PIL

        return f"Pillow {PIL.__version__}"

    def __call__(self, path: Path) -> Image:
        """The image, shape (3, crop, crop).

        Raises:
            OSError: the file is damaged, or no JPEG or PNG; Pillow raises it for most faults.
        """
        # Imported here because only the rule that makes the data has Pillow.
        import PIL.Image

        try:
            with PIL.Image.open(path, formats=("JPEG", "PNG")) as image:
                pixels = resized_centre(image.convert("RGB"), self.resize, self.crop)
        except (SyntaxError, ValueError, PIL.Image.DecompressionBombError) as error:
            raise OSError(str(error)) from error
        return PREPROCESSINGS[self.preprocessing][0](pixels).transpose(2, 0, 1)


def _decoded(
    images: ImageList, decode: _Decode, root: Path, damaged: str
) -> tuple[NDArray[np.float32], NDArray[np.int64], list[LeftOut]]:
    """The decodable images, their classes, and the others. Each image is written directly into the result."""
    pixels = np.empty((len(images.paths), 3, decode.crop, decode.crop), np.float32)

    def fill(index: int) -> LeftOut | None:
        path = images.paths[index]
        try:
            pixels[index] = decode(path)
        except OSError as error:
            if damaged == "error":
                raise FramewattError(
                    f"{path}: found a damaged image: {error}; allowed: JPEG or PNG; "
                    "replace it, or set damaged: leave_out"
                ) from error
            return LeftOut(path.relative_to(root).as_posix(), " ".join(str(error).split()))
        return None

    with ThreadPoolExecutor(usable_processors()) as pool:
        outcomes = list(pool.map(fill, range(len(images.paths))))
    good = [index for index, outcome in enumerate(outcomes) if outcome is None]
    for place, index in enumerate(good):
        if place != index:
            pixels[place] = pixels[index]
    classes = np.array([images.classes[index] for index in good], np.int64)
    return pixels[: len(good)], classes, [outcome for outcome in outcomes if outcome is not None]
