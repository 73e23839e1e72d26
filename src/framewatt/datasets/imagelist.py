"""Which images a folder holds and what their classes are: class folders, or flat images with a label file (ILSVRC)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.errors import FramewattError

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
    """The images of a folder.

    Class folders are numbered in order of their names, which for ImageNet's WordNet ids is the order that every
    framework's weights use. A label file holds, for each image in order of its name, its class from 0, alone or after
    the image's name. ILSVRC's own ground truth numbers the classes otherwise; it needs the development kit's meta.mat
    beside it.

    Args:
        folder: holds a folder for each class, or images and one .txt file.
        class_count: number of classes; None counts the class folders, or takes the largest label.

    Raises:
        FramewattError: there are no images, or class folders or labels do not fit.
    """
    if not folder.is_dir():
        raise FramewattError(f"{folder}: no such folder; allowed: class folders, or images with a label file")
    folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if folders:
        return _from_class_folders(folder, folders, class_count)
    paths = _images_in(folder)
    if not paths:
        raise FramewattError(f"{folder}: found no images ({', '.join(_SUFFIXES)}); allowed: some, or class folders")
    return _from_label_file(folder, paths, class_count)


def _images_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file())


def _from_class_folders(folder: Path, folders: list[Path], class_count: int | None) -> ImageList:
    if class_count is not None and len(folders) != class_count:
        raise FramewattError(
            f"{folder}: found {len(folders)} class folders; allowed: {class_count}, since a class is its folder's "
            "place in the order of names (make empty folders for classes without images)"
        )
    pairs = [(path, number) for number, one in enumerate(folders) for path in _images_in(one)]
    if not pairs:
        raise FramewattError(
            f"{folder}: found no images in its {len(folders)} folders; allowed: {', '.join(_SUFFIXES)}"
        )
    return ImageList([path for path, _ in pairs], [number for _, number in pairs], len(folders), "class folders")


def _from_label_file(folder: Path, paths: list[Path], class_count: int | None) -> ImageList:
    files = sorted(folder.glob("*.txt"))
    if len(files) != 1:
        raise FramewattError(f"{folder}: found {len(files)} label files (*.txt) beside the images; allowed: one")
    (file,) = files
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) != len(paths):
        raise FramewattError(f"{file}: found {len(lines)} labels for {len(paths)} images; allowed: one for each image")
    named = {words[0]: words[1] for words in lines if len(words) == 2}
    try:
        classes = [int(named[path.name]) for path in paths] if named else [int(label) for (label,) in lines]
    except (KeyError, ValueError) as error:
        raise FramewattError(
            f"{file}: found no class for an image: {error}; allowed: `<name> <class>` or `<class>`"
        ) from error
    layout = f"flat, classes from {file.name}"
    if (folder / _DEVKIT).is_file():
        classes = _translated(folder / _DEVKIT, classes)
        layout += f" by {_DEVKIT}"
    elif file.name == _GROUND_TRUTH:
        raise FramewattError(
            f"{file}: found ILSVRC's own numbers of classes; allowed: with the development kit's {_DEVKIT} beside it"
        )
    count = max(classes) + 1 if class_count is None else class_count
    wrong = next((number for number in classes if not 0 <= number < count), None)
    if wrong is not None:
        raise FramewattError(f"{file}: found class {wrong}; allowed: 0 to {count - 1}")
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
        raise FramewattError(f"{devkit}: found no list of classes: {error}; allowed: ILSVRC2012's {_DEVKIT}") from error
    place = {name: index for index, name in enumerate(sorted(names.values()))}
    unknown = next((number for number in numbers if number not in names), None)
    if unknown is not None:
        raise FramewattError(f"{devkit}: found no class {unknown}; allowed: 1 to {len(names)}")
    return [place[names[number]] for number in numbers]
