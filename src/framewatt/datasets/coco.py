"""Photographs with objects, as COCO publishes them, or any others that are annotated in its form.

Source: T.-Y. Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014.
"""

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.paths import problem_of_name
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.coco_annotations import Instances, Listed, read_instances
from framewatt.datasets.coco_objects import COUNTED, Object, joined, on_image
from framewatt.datasets.objects import Objects
from framewatt.datasets.options import Count, Limits, Positive, Seed
from framewatt.datasets.preprocessing import MASKS, PREPROCESSINGS, WORDS, Image, Shape, placing
from framewatt.datasets.record import about
from framewatt.datasets.selection import chosen
from framewatt.host.machine import usable_processors


@dataclass(frozen=True)
class _Part:
    """The images of a split.

    Attributes:
        instances: what its file lists.
        chosen: the images that are used, in their order.
        paths: their files.
    """

    instances: Instances
    chosen: list[Listed]
    paths: list[Path]


def make(
    folder: Path,
    *,
    test: Sequence[str],
    size: Annotated[int, Limits(32, 4096)],
    masks: bool,
    train: Sequence[str] | None = None,
    resize: Shape = "fit",
    preprocessing: Literal["unit", "torch", "caffe", "tf"] = "unit",
    train_samples: Count | None = None,
    test_samples: Positive | None = None,
    seed: Seed = 0,
) -> AnnotatedImages:
    """Photographs as squares of one size, with the boxes, and if wanted the masks, of the objects on them.

    Classes are numbered from 0 in the order of the categories' ids; COCO leaves some ids out. Images without an
    annotation stay. Crowds stay, and are marked. Boxes are cut at the edges of their images. What is left of a box or a
    mask may be nothing, as of one outside its image or of one too thin for a pixel of the square: such annotations are
    left out, and counted, and so are polygons of fewer than three points.

    Args:
        folder: with all of them.
        test: names of the file of annotations and of the folder of images to test with, each relative to `folder`.
        size: pixels of the squares' sides.
        masks: whether the task is segmentation, with a mask of each object, or detection, in which masks are not read.
        train: as `test`, to learn from; None leaves the training set empty.
        resize: `fit` keeps proportions, and pads right and below with 0; `stretch` does not.
        preprocessing: values, a name in `PREPROCESSINGS`; torchvision's detectors take `unit`, and what their backbones
            take is `torch`.
        train_samples: number of training images to take at random; None takes all.
        test_samples: the same for the test set.
        seed: seed of the choice and the order.

    Raises:
        FramewattError: a file is missing, elsewhere or damaged, annotations are wrong, or two images, also of
            both splits, have the same file.
    """
    testing = _part("test", *_places(folder, "test", test), test_samples, seed)
    training = _Part(testing.instances, [], [])
    if train is not None:
        training = _part("train", *_places(folder, "train", train), train_samples, seed)
    return _arrays(training, testing, folder, size, resize, preprocessing, masks=masks)


def read_files(
    annotations: Path, images: Path, *, size: int, resize: Shape, preprocessing: str, masks: bool
) -> AnnotatedImages:
    """Photographs to test with, and none to learn from, wherever their annotations are; see `make`.

    Args:
        annotations: the file.
        images: the folder.
        size: pixels of the squares' sides.
        resize: as of `make`.
        preprocessing: as of `make`.
        masks: as of `make`.

    Raises:
        FramewattError: as `make`.
    """
    file, folder = (path.resolve() for path in (annotations, images))
    testing = _part("test", file, folder, None, 0)
    root = Path(os.path.commonpath([file.parent, folder]))
    nothing = _Part(testing.instances, [], [])
    return _arrays(nothing, testing, root, size, resize, preprocessing, masks=masks)


def _arrays(
    training: _Part, testing: _Part, root: Path, size: int, resize: Shape, preprocessing: str, *, masks: bool
) -> AnnotatedImages:
    """Both splits as a data set; names of files are those below `root`."""
    _check_together(training, testing)
    fields: dict[str, Any] = {}
    counted: dict[str, Any] = {}
    for split, part in {"train": training, "test": testing}.items():
        images, objects, counts = _filled(part, size, resize, preprocessing, masks=masks)
        fields |= {f"x_{split}": images, f"y_{split}": objects}
        counted[f"{split}_annotations"] = {what: counts[what] for what in COUNTED}
    categories = testing.instances.categories
    words = [WORDS[resize].format(size), PREPROCESSINGS[preprocessing][1], "not turned by EXIF", *([MASKS] * masks)]
    files = dict.fromkeys(part.instances.path for part in (training, testing))
    facts = about(
        "; ".join(words),
        read=[*files, *training.paths, *testing.paths],
        root=root,
        decoder=decoder(),
        class_names=list(categories.values()),
        category_ids=list(categories),
        **counted,
    )
    task = "segmentation" if masks else "detection"
    return AnnotatedImages(**fields, class_count=len(categories), about=facts, task=task)


def _places(folder: Path, split: str, names: Sequence[str]) -> tuple[Path, Path]:
    """Return where the annotations and the images of a split are."""
    if len(names) != 2 or (problem := next(filter(None, map(problem_of_name, names)), None)):
        value = f"{list(names)}, {problem}" if len(names) == 2 else str(list(names))
        raise FramewattError(
            f"{split}: {value} is not possible. Use names of a file of annotations and of a folder of images."
        )
    return folder / names[0], folder / names[1]


def _part(split: str, file: Path, images: Path, samples: int | None, seed: int) -> _Part:
    """Return the images of a split that are used, and where they are."""
    instances = read_instances(file)
    if not images.is_dir():
        raise FramewattError(f"{images}: there is no such folder. Put the images there that {file.name} lists.")
    indices = chosen(len(instances.images), samples, f"{split}_samples", seed)
    listed = [instances.images[index] for index in indices]
    return _Part(instances, listed, [within(images, one.file_name) for one in listed])


def _check_together(training: _Part, testing: _Part) -> None:
    train, test = training.instances, testing.instances
    if train.categories != test.categories:
        raise FramewattError(
            f"{train.path}: it has other categories than in {test.path}. Use the same ids and names in both."
        )
    known: set[Path] = set()
    for path in (*training.paths, *testing.paths):
        if path.resolve() in known:
            raise FramewattError(
                f"{path}: it is the file of two images, to learn from or to test with. Give each image its own file."
            )
        known.add(path.resolve())


def _filled(
    part: _Part, size: int, resize: Shape, preprocessing: str, *, masks: bool
) -> tuple[Image, Objects, Counter[str]]:
    """Return the images of a split, shape (n, 3, size, size), what is on them, and what was left out."""
    images = np.zeros((len(part.chosen), 3, size, size), np.float32)
    kinds = {category: kind for kind, category in enumerate(part.instances.categories)}
    ready = PREPROCESSINGS[preprocessing][0]

    def fill(index: int) -> tuple[list[Object], Counter[str]]:
        """One image, written directly into the result, and what is on it."""
        listed = part.chosen[index]
        placed = placing(listed.size, size, resize)
        height, width = placed.inner
        pixels = ready(placed.pixels(decoded(part.paths[index], listed.size)))
        images[index, :, :height, :width] = pixels.transpose(2, 0, 1)
        return on_image(listed, placed, kinds, masks=masks)

    with ThreadPoolExecutor(usable_processors()) as pool:
        filled = list(pool.map(fill, range(len(images))))
    objects = joined([objects for objects, _ in filled], size, masks=masks)
    return images, objects, sum((counts for _, counts in filled), Counter())


_DEEP = ("I", "F")
"""How modes of more than eight bits a colour begin, which Pillow would cut off."""


def within(folder: Path, name: str) -> Path:
    """Return a file of a folder.

    Args:
        folder: which may itself be a link.
        name: the file's, relative to the folder.

    Raises:
        FramewattError: it is not there, is no file, or is elsewhere, by its name or by a link.
    """
    path = folder / name
    try:
        problem = problem_of_name(name)
        if problem is None and not path.resolve().is_relative_to(folder.resolve()):
            problem = "a link out of the folder"
        there = problem is None and path.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise FramewattError(
            f"{folder}: it has {name[:100]!r}, which names no file. Use files in that folder."
        ) from error
    if problem is not None:
        raise FramewattError(f"{folder}: it has {name[:100]!r}, {problem}. Use files in that folder.")
    if not there:
        raise FramewattError(f"{path}: there is no such file. Get every image that the annotations list.")
    return path


def decoded(path: Path, size: tuple[int, int]) -> Any:
    """Return an image as a Pillow image, RGB. It is not rotated, since annotations refer to the pixels as stored.

    Args:
        path: JPEG or PNG of eight bits a colour; grey and CMYK are converted.
        size: (height, width) by its annotations, which is checked before a pixel is decoded.

    Raises:
        FramewattError: it is of another size, is damaged, or is no such image.
    """
    # Imported here because only the rule that makes the data has Pillow.
    import PIL.Image

    height, width = size
    try:
        with PIL.Image.open(path, formats=("JPEG", "PNG")) as image:
            if image.size != (width, height):
                raise FramewattError(
                    f"{path}: it has {image.size[0]}x{image.size[1]} pixels, its annotations {width}x{height}. "
                    "Get the image again, neither turned nor scaled."
                )
            if image.mode.startswith(_DEEP):
                raise FramewattError(f"{path}: it has pixels of mode {image.mode}. Use eight bits a colour.")
            return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError) as error:
        raise FramewattError(f"{path}: the image is damaged: {error}. Get it again, as JPEG or PNG.") from error


def decoder() -> str:
    """Return the decoding library with its version, since another version may decode a JPEG to other pixels."""
    import PIL

    return f"Pillow {PIL.__version__}"
