"""Images in folders, such as ImageNet's validation set, decoded and preprocessed to arrays in advance.

Their classes come from class folders, or from a label file next to flat images (ILSVRC).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.datasets.options import Count, Limits, Positive, Seed
from framewatt.datasets.preprocessing import PREPROCESSINGS, Image, resized_centre
from framewatt.datasets.record import LeftOut, about
from framewatt.datasets.selection import chosen
from framewatt.host.machine import usable_processors

_SUFFIXES = (".jpg", ".jpeg", ".png")
_DEVKIT = "meta.mat"
_GROUND_TRUTH = "ILSVRC2012_validation_ground_truth.txt"


@dataclass(frozen=True)
class ImageList:
    """Images in order of their names, and their classes.

    Attributes:
        paths: the files.
        classes: class of each, from 0.
        class_count: number of classes.
        layout: how the folder encodes the classes, in words.
    """

    paths: Sequence[Path]
    classes: Sequence[int]
    class_count: int
    layout: str


def list_images(folder: Path, class_count: int | None) -> ImageList:
    """Return the images of a folder.

    Class folders are numbered in order of their names, which for ImageNet's WordNet ids is the order that every
    framework's weights use. A label file holds, for each image in order of its name, its class from 0, alone or after
    the image's name. ILSVRC's own ground truth numbers the classes otherwise; it needs the development kit's meta.mat
    next to it.

    Args:
        folder: holds a folder for each class, or images and one .txt file.
        class_count: number of classes; None counts the class folders, or takes the largest label.

    Raises:
        FramewattError: there are no images, or class folders or labels do not fit.
    """
    if not folder.is_dir():
        raise FramewattError(f"{folder}: there is no such folder. Use class folders, or images with a label file.")
    folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if folders:
        return _from_class_folders(folder, folders, class_count)
    paths = _images_in(folder)
    if not paths:
        raise FramewattError(f"{folder}: it has no images ({', '.join(_SUFFIXES)}). Use some, or class folders.")
    return _from_label_file(folder, paths, class_count)


def _images_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file())


def _from_class_folders(folder: Path, folders: list[Path], class_count: int | None) -> ImageList:
    if class_count is not None and len(folders) != class_count:
        raise FramewattError(
            f"{folder}: it has {len(folders)} class folders. Use {class_count}, since a class is its folder's "
            "place in the order of names; make empty folders for classes without images."
        )
    pairs = [(path, number) for number, one in enumerate(folders) for path in _images_in(one)]
    if not pairs:
        raise FramewattError(f"{folder}: it has no images in its {len(folders)} folders. Use {', '.join(_SUFFIXES)}.")
    return ImageList([path for path, _ in pairs], [number for _, number in pairs], len(folders), "class folders")


def _from_label_file(folder: Path, paths: list[Path], class_count: int | None) -> ImageList:
    files = sorted(folder.glob("*.txt"))
    if len(files) != 1:
        raise FramewattError(f"{folder}: it has {len(files)} label files (*.txt) next to the images. Use one.")
    (file,) = files
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) != len(paths):
        raise FramewattError(f"{file}: it has {len(lines)} labels for {len(paths)} images. Use one for each image.")
    named = {words[0]: words[1] for words in lines if len(words) == 2}
    try:
        classes = [int(named[path.name]) for path in paths] if named else [int(label) for (label,) in lines]
    except (KeyError, ValueError) as error:
        raise FramewattError(
            f"{file}: it has no class for an image: {error}. Use `<name> <class>` or `<class>`."
        ) from error
    layout = f"flat, classes from {file.name}"
    if (folder / _DEVKIT).is_file():
        classes = _translated(folder / _DEVKIT, classes)
        layout += f" by {_DEVKIT}"
    elif file.name == _GROUND_TRUTH:
        raise FramewattError(
            f"{file}: it has ILSVRC's own numbers of classes. Put the development kit's {_DEVKIT} next to it."
        )
    count = max(classes) + 1 if class_count is None else class_count
    wrong = next((number for number in classes if not 0 <= number < count), None)
    if wrong is not None:
        raise FramewattError(f"{file}: it has class {wrong}. Use 0 to {count - 1}.")
    return ImageList(paths, classes, count, layout)


def _translated(devkit: Path, numbers: list[int]) -> list[int]:
    """ILSVRC's class numbers as indices in the order of WordNet ids."""
    # Imported here because only the rule that makes the data has scipy.
    from scipy.io import loadmat

    try:
        synsets = loadmat(devkit, variable_names=["synsets"], squeeze_me=True)["synsets"]
        names = {
            int(number): str(name)
            for number, name, children in zip(
                synsets["ILSVRC2012_ID"], synsets["WNID"], synsets["num_children"], strict=True
            )
            if children == 0
        }
    except Exception as error:  # scipy has no error of its own for a damaged file
        raise FramewattError(f"{devkit}: it has no list of classes: {error}. Use ILSVRC2012's {_DEVKIT}.") from error
    place = {name: index for index, name in enumerate(sorted(names.values()))}
    unknown = next((number for number in numbers if number not in names), None)
    if unknown is not None:
        raise FramewattError(f"{devkit}: it has no class {unknown}. Use 1 to {len(names)}.")
    return [place[names[number]] for number in numbers]


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
            f"{folder}: it has {training.class_count} classes in {train} and {testing.class_count} in {test}. "
            "Give their number with `classes`."
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
        raise FramewattError(f"preprocessing: {preprocessing} is not possible. Use {', '.join(PREPROCESSINGS)}.")
    if damaged not in _DAMAGED:
        raise FramewattError(f"damaged: {damaged} is not possible. Use {', '.join(_DAMAGED)}.")
    if not 0 < crop <= resize:
        raise FramewattError(f"crop: {crop} is not possible. Use 1 to resize ({resize}).")


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
        """Return the image, shape (3, crop, crop).

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
    """Return the decodable images, their classes, and the others. Each image is written directly into the result."""
    pixels = np.empty((len(images.paths), 3, decode.crop, decode.crop), np.float32)

    def fill(index: int) -> LeftOut | None:
        path = images.paths[index]
        try:
            pixels[index] = decode(path)
        except OSError as error:
            if damaged == "error":
                raise FramewattError(
                    f"{path}: the image is damaged: {error}. Replace it by a JPEG or PNG, or set damaged: leave_out."
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
