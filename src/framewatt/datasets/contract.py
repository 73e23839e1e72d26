"""Data sets as canonical arrays, the same numbers for every framework: a type for each kind of data.

This module has what all kinds share, and the kinds with samples of one size: `Images`, `Texts`, `UserItems` and
`Samples`. The others have modules of their own: `sequences`, `segments`, `pairs` and `annotated`. `storing` has their
files.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError

IMAGES = "images"
TOKENS = "input_ids"
PAIRS = "pairs"
"""Names of the models' first input: images, token ids, pairs of ids (user, item)."""

SPLITS = ("train", "test")

More = Mapping[str, Any]
"""Further inputs of a split, by the models' names for them and in the models' order; one row per sample."""


@dataclass(frozen=True)
class Arrays(ABC):
    """A data set of any kind: samples and labels of a training set (n rows) and of a test set (m rows).

    Attributes:
        x_train: samples of the training set. There may be none (n = 0) where a data set only tests.
        y_train: their labels.
        x_test: samples of the test set, at least one.
        y_test: their labels.
        class_count: number of classes; None takes it from the labels, which is wrong if a part of a data set lacks
            classes.
        about: what the data record states beyond shapes (see `framewatt.datasets.record`), values of JSON.
        task: name of the task that the data set is for, see framewatt.tasks; None is the default task.
        takes: names of the inputs that a model takes, of those that there are; None takes all. Not stored.

    Raises:
        FramewattError: the arrays do not fit together.
    """

    x_train: Any
    y_train: Any
    x_test: Any
    y_test: Any
    _: KW_ONLY
    class_count: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    takes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if problem := next(self.problems(), None):
            raise FramewattError(f"data set: {problem}.")

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""

    @property
    def unlabelled(self) -> str | None:
        """Why there are no labels at all; None where there are labels."""
        return None

    @property
    def channels_first(self) -> bool:
        """Whether samples of three axes are images (channels, height, width), which some engines transpose."""
        return True

    @property
    def categories(self) -> tuple[int, ...]:
        """Where samples are ids, the number of ids in each column of `x_test`; else empty."""
        return ()

    @property
    def classes(self) -> int:
        """Number of classes; 0 where there are no labels."""
        if self.unlabelled is not None:
            return 0
        if self.class_count is not None:
            return self.class_count
        return int(max(labels.max() for labels in (self.y_train, self.y_test) if len(labels))) + 1

    def lengths(self, test: bool) -> NDArray[np.int64]:
        """Return how many labels each sample of the test set, or of the training set, has, shape (n,)."""
        return np.ones(len(self.x_test if test else self.x_train), np.int64)

    def labels(self, test: bool) -> NDArray[np.int64]:
        """Return all labels of the test set, or of the training set, without padding, shape (total,)."""
        labels: NDArray[np.int64] = self.y_test if test else self.y_train
        return labels

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample: (channels, height, width) of an image, (length,) of a text."""
        return tuple(self.x_test.shape[1:])

    @property
    def layout(self) -> str:
        """Axes of a sample of the first input: `NCHW`, `NL` of a text, `as given` by a user for their own model."""
        return "NCHW" if len(self.input_shape) == 3 else "NL"

    @property
    def main_input(self) -> str:
        """The models' name of the first input."""
        return IMAGES

    @property
    def inputs_train(self) -> dict[str, Any]:
        """All inputs of the training set by name, the first one first."""
        return self._taken({self.main_input: self.x_train, **self.more_inputs(test=False)})

    @property
    def inputs_test(self) -> dict[str, Any]:
        """All inputs of the test set, as `inputs_train`."""
        return self._taken({self.main_input: self.x_test, **self.more_inputs(test=True)})

    def more_inputs(self, test: bool) -> More:
        """Return the inputs after the first one, of the test set or of the training set."""
        return {}

    def with_test_rows(self, rows: NDArray[np.int64], *, test: bool) -> Self:
        """Return the same data set with some samples of the test set, or of the training set, as its test set.

        Args:
            rows: numbers of the samples, shape (k,).
            test: whether they are samples of the test set.
        """
        return replace(self, **self._test_fields(rows, test=test))

    def _test_fields(self, rows: NDArray[np.int64], *, test: bool) -> dict[str, Any]:
        x, y = (self.x_test, self.y_test) if test else (self.x_train, self.y_train)
        return {"x_test": x[rows], "y_test": y[rows]}

    def _taken(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return inputs if self.takes is None else {name: inputs[name] for name in self.takes}

    def _problems_of_samples(self) -> Iterator[str]:
        """Yield what is wrong with the samples of all kinds that hold plain arrays."""
        if len(self.x_test) == 0:
            yield "it has no test sample. Use at least one"
        train, test = (x.shape[1:] for x in (self.x_train, self.x_test))
        if self.x_train.dtype != self.x_test.dtype or train != test:
            yield f"training samples have shape {train}, test samples {test}. Use one shape and one type"
        for test in (False, True):
            inputs = self.inputs_test if test else self.inputs_train
            labels = self.y_test if test else self.y_train
            for name, values in inputs.items():
                if self.unlabelled is None and len(values) != len(labels):
                    yield f"{len(values)} samples of {name} have {len(labels)} labels. Use one label per sample"
            counts = [len(values) for values in inputs.values()]
            if len(set(counts)) > 1:
                yield f"the inputs {', '.join(inputs)} have {counts} samples. Use as many of each"
            each = self.labels(test)
            if len(each) and not 0 <= each.min() <= each.max() < self.classes:
                yield f"labels are {each.min()} to {each.max()}. Use 0 to {self.classes - 1}"

    def _problems_of_single_labels(self) -> Iterator[str]:
        for labels in (self.y_train, self.y_test):
            if labels.dtype != np.int64 or labels.ndim != 1:
                yield f"labels have shape {labels.shape}, {labels.dtype}. Use (n,) int64"


@dataclass(frozen=True)
class Images(Arrays):
    """Images of one size, each with its class.

    Attributes:
        x_train: shape (n, channels, height, width), float32, ready for a model.
        y_train: shape (n,), int64, class from 0.
        x_test: shape (m, channels, height, width), float32.
        y_test: shape (m,), int64.
    """

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""
        if (self.x_test.dtype, self.x_test.ndim) != (np.float32, 4):
            shape = f"{self.x_test.shape}, {self.x_test.dtype}"
            yield f"images have shape {shape}. Use (n, channels, height, width) float32, or another type of data"
        yield from self._problems_of_single_labels()
        yield from self._problems_of_samples()


@dataclass(frozen=True)
class MoreInputs(Arrays):
    """Kinds of data that may have further inputs after the first one.

    Attributes:
        more_train: further inputs of the training set, by the models' names for them, n rows each.
        more_test: the same inputs of the test set, m rows each.
    """

    more_train: More = field(default_factory=dict)
    more_test: More = field(default_factory=dict)

    def more_inputs(self, test: bool) -> More:
        """Return the inputs after the first one, of the test set or of the training set."""
        return self.more_test if test else self.more_train

    def _test_fields(self, rows: NDArray[np.int64], *, test: bool) -> dict[str, Any]:
        more = {name: values[rows] for name, values in self.more_inputs(test).items()}
        return {**super()._test_fields(rows, test=test), "more_test": more}

    def _problems_of_samples(self) -> Iterator[str]:
        if list(self.more_train) != list(self.more_test):
            yield f"inputs are {list(self.more_train)} to train and {list(self.more_test)} to test. Use the same"
        yield from super()._problems_of_samples()


@dataclass(frozen=True)
class Texts(MoreInputs):
    """Texts of one length as token ids, each with its class.

    Attributes:
        x_train: shape (n, length), int64, token ids.
        y_train: shape (n,), int64, class from 0.
        x_test: shape (m, length), int64.
        y_test: shape (m,), int64.
        more_train: further inputs (`attention_mask`, `token_type_ids`), shape (n, length), int64.
        more_test: the same inputs of the test set.
    """

    @property
    def main_input(self) -> str:
        """The models' name of the first input."""
        return TOKENS

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""
        if (self.x_test.dtype, self.x_test.ndim) != (np.int64, 2):
            yield f"texts have shape {self.x_test.shape}, {self.x_test.dtype}. Use (n, length) int64"
        yield from self._problems_of_single_labels()
        yield from self._problems_of_samples()


@dataclass(frozen=True)
class Samples(MoreInputs):
    """Samples of any shape and type under a name of their own, with one class each or without labels.

    Attributes:
        x_train: shape (n, ...), any type.
        y_train: shape (n,), int64, class from 0; no rows where there are no labels.
        x_test: shape (m, ...).
        y_test: shape (m,), int64.
        more_train: further inputs, shape (n, ...).
        more_test: the same inputs of the test set.
        main: the models' name of the first input.
        unlabelled: why there are no labels at all; None where there are labels.
        channels_first: whether samples of three axes are images (channels, height, width), which TensorFlow gets as
            (height, width, channels); other samples are passed unchanged.
    """

    main: str = field(kw_only=True)
    unlabelled: str | None = field(default=None, kw_only=True)
    channels_first: bool = field(default=True, kw_only=True)

    @property
    def main_input(self) -> str:
        """The models' name of the first input."""
        return self.main

    @property
    def layout(self) -> str:
        """Axes of a sample of the first input: `NCHW` of an image, else `as given`."""
        return "NCHW" if self.channels_first and len(self.input_shape) == 3 else "as given"

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""
        yield from self._problems_of_single_labels()
        yield from self._problems_of_samples()


@dataclass(frozen=True)
class UserItems(Samples):
    """Pairs of ids (user, item), each with class 1 where the user chose the item and 0 where not.

    Attributes:
        x_train: shape (n, 2), int64, numbers of users and of items, each from 0.
        y_train: shape (n,), int64.
        x_test: shape (m, 2), int64: user by user, as many candidates of each, one of them chosen.
        y_test: shape (m,), int64.
        categories: number of users and of items.
    """

    main: str = field(default=PAIRS, kw_only=True)
    channels_first: bool = field(default=False, kw_only=True)
    categories: tuple[int, ...] = field(default=(), kw_only=True)

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right."""
        for ids in (self.x_train, self.x_test):
            if ids.dtype != np.int64 or ids.shape[1:] != (len(self.categories),):
                yield f"ids have shape {ids.shape}, {ids.dtype}. Use (n, {len(self.categories)}) int64"
            elif len(ids) and not ((ids >= 0) & (ids < self.categories)).all():
                low, high = ids.min(axis=0).tolist(), ids.max(axis=0).tolist()
                yield f"ids are {low} to {high}. Use ids from 0, below {list(self.categories)}"
        yield from super().problems()
