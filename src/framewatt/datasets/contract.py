"""Data sets as canonical arrays: the same numbers for every framework, in a file that holds no code."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_atomically

_NAMES = ("x_train", "y_train", "x_test", "y_test")
_MORE = ("more_train", "more_test")
_OWN = ("main", "unlabelled", "channels_first")

IMAGES = "images"
TOKENS = "input_ids"


@dataclass(frozen=True)
class Arrays:
    """Samples and their classes: images, texts as tokens, or whatever a user's own model takes.

    Attributes:
        x_train: images of shape (n, channels, height, width), float32, ready for a model; or token ids of shape
            (n, length), int64. There may be none of them (n = 0) where a data set only tests.
        y_train: shape (n,), int64, class from 0.
        x_test: as `x_train`, m samples.
        y_test: shape (m,), int64.
        more_train: further inputs beside token ids, by the models' names for them (`attention_mask`, `token_type_ids`),
            in the models' order; each of shape (n, length), int64. Empty for images.
        more_test: the same for `x_test`.
        class_count: number of classes; None takes it from the labels, which is wrong if a part of a data set lacks
            classes.
        about: what the data record says beyond shapes (see `framewatt.datasets.about`), values of JSON.
        main: name of the input `x_test`; None where it is images or token ids. Named ones may have any shape and type.
        unlabelled: why there are no labels at all; None where there are labels.
        channels_first: whether samples of three axes are images (channels, height, width), which TensorFlow gets as
            (height, width, channels); other samples are passed unchanged.

    Raises:
        FramewattError: the arrays do not fit together.
    """

    x_train: NDArray[Any]
    y_train: NDArray[np.int64]
    x_test: NDArray[Any]
    y_test: NDArray[np.int64]
    more_train: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    more_test: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    class_count: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    main: str | None = None
    unlabelled: str | None = None
    channels_first: bool = True

    def __post_init__(self) -> None:
        problem = next(_problems(self), None)
        if problem:
            raise FramewattError(f"data set: found {problem}")

    @property
    def classes(self) -> int:
        """Number of classes; 0 where there are no labels."""
        if self.unlabelled is not None:
            return 0
        if self.class_count is not None:
            return self.class_count
        return int(max(labels.max() for labels in (self.y_train, self.y_test) if len(labels))) + 1

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample: (channels, height, width) of an image, (length,) of a text."""
        return tuple(self.x_test.shape[1:])

    @property
    def layout(self) -> str:
        """Axes of a sample of the first input: `NCHW`, `NL` of a text, `as given` by a user for their own model."""
        if self.main is not None and not (self.channels_first and len(self.input_shape) == 3):
            return "as given"
        return "NCHW" if len(self.input_shape) == 3 else "NL"

    @property
    def inputs_train(self) -> dict[str, NDArray[Any]]:
        """All inputs of the training set by name: `images`, or `input_ids` followed by those of `more_train`."""
        return {self._main_input: self.x_train, **self.more_train}

    @property
    def inputs_test(self) -> dict[str, NDArray[Any]]:
        """All inputs of the test set, as `inputs_train`."""
        return {self._main_input: self.x_test, **self.more_test}

    @property
    def _main_input(self) -> str:
        if self.main is not None:
            return self.main
        return IMAGES if self.x_test.dtype == np.float32 else TOKENS


def _problems(arrays: Arrays) -> Iterator[str]:
    """Each mismatch between the arrays, and what would be right."""
    x, shape = arrays.x_test, arrays.input_shape
    if arrays.main is None and f"{x.dtype}, {x.ndim}" not in ("float32, 4", "int64, 2"):
        yield f"samples of shape {x.shape}, {x.dtype}; allowed: (n, channels, height, width) float32, (n, length) int64"
    if len(x) == 0:
        yield "no test sample; allowed: at least one"
    if arrays.x_train.dtype != x.dtype or arrays.x_train.shape[1:] != shape:
        yield f"training samples of shape {arrays.x_train.shape[1:]} beside test samples of shape {shape}; allowed: one"
    if list(arrays.more_train) != list(arrays.more_test):
        yield f"inputs {list(arrays.more_train)} to train and {list(arrays.more_test)} to test; allowed: the same"
    for inputs, labels in ((arrays.inputs_train, arrays.y_train), (arrays.inputs_test, arrays.y_test)):
        if labels.dtype != np.int64 or labels.ndim != 1:
            yield f"labels of shape {labels.shape}, {labels.dtype}; allowed: (n,) int64"
        for name, values in inputs.items():
            if arrays.unlabelled is None and len(values) != len(labels):
                yield f"{len(values)} samples of {name} and {len(labels)} labels; allowed: one label a sample"
        counts = [len(values) for values in inputs.values()]
        if len(set(counts)) > 1:
            yield f"{counts} samples of {', '.join(inputs)}; allowed: as many of each"
        if len(labels) and not 0 <= labels.min() <= labels.max() < arrays.classes:
            yield f"labels {labels.min()} to {labels.max()}; allowed: 0 to {arrays.classes - 1}"


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write the arrays as an uncompressed .npz, atomically; the same arrays give the same bytes."""
    content: dict[str, Any] = {name: getattr(arrays, name) for name in _NAMES}
    for group in _MORE:
        content |= {f"{group}/{name}": values for name, values in getattr(arrays, group).items()}
    content["class_count"] = np.int64(arrays.classes)
    content["about"] = np.array(json.dumps(dict(arrays.about), sort_keys=True))
    if arrays.main is not None:
        content["own"] = np.array(json.dumps({name: getattr(arrays, name) for name in _OWN}))

    def write(partial: Path) -> None:
        with partial.open("wb") as file:
            np.savez(file, **content)

    write_atomically(path, write)


def load_arrays(path: Path) -> Arrays:
    """Read arrays written by `save_arrays`; nothing in the file is unpickled.

    Raises:
        FramewattError: the file is missing, is damaged or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            more: dict[str, Any] = {
                group: {name.partition("/")[2]: content[name] for name in content.files if name.startswith(f"{group}/")}
                for group in _MORE
            }
            return Arrays(
                **{name: content[name] for name in _NAMES},
                **more,
                class_count=int(content["class_count"]),
                about=json.loads(str(content["about"])),
                **(json.loads(str(content["own"])) if "own" in content else {}),
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, FramewattError) as error:
        raise FramewattError(f"{path}: found no data set: {error}; remove the file and run snakemake again") from error
