"""Data sets as canonical arrays: the same numbers for every framework. For their files see `storing`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets import annotated, pairs, segments
from framewatt.datasets.objects import Objects
from framewatt.datasets.ragged import IGNORED, Ragged, flat

IMAGES = "images"
TOKENS = "input_ids"


@dataclass(frozen=True)
class Arrays:
    """Samples and their classes: images, texts as tokens, or whatever a user's own model takes.

    Attributes:
        x_train: images of shape (n, channels, height, width), float32, ready for a model; or token ids of shape
            (n, length), int64. There may be none of them (n = 0) where a data set only tests.
        y_train: shape (n,), int64, class from 0; of sequences (n, longest), a class a token, IGNORED where padded; of
            images on which objects are to be found, Objects (see framewatt.datasets.objects).
        x_test: as `x_train`, m samples.
        y_test: as `y_train`, m samples.
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
        task: what is asked of a model, a name of framewatt.tasks.
        categories: where samples are ids (user, item), how many there are of each, by column of `x_test`; else empty.
        lengths_train: of sequences, how many tokens each has, shape (n,), int64; they are padded to the longest, and
            stored without padding. None where samples are of one size.
        lengths_test: the same for `x_test`, shape (m,).
        segment: of a stream of tokens cut into segments, how many tokens each has (see framewatt.datasets.streams);
            labels are the tokens after each. The stream is stored once, and its training part is not read where it is
            not looked at. None where samples are no segments.
        pieces: of pairs of sentences (see framewatt.datasets.pairs), the text of each id, with `@@` at its end where a
            word goes on. Samples and labels are Ragged then, of which engines take rows as of an array.
        references: of these, the target sentences of the test set as text, shape (m,).
        takes: names of the inputs that a model takes, of those that there are; None takes all. Not stored.

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
    task: str = "classification"
    categories: tuple[int, ...] = ()
    lengths_train: NDArray[np.int64] | None = None
    lengths_test: NDArray[np.int64] | None = None
    segment: int | None = None
    pieces: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    takes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.paired or self.task == pairs.TASK:
            found = pairs.problems(vars(self), self.class_count)
        elif self.segment is not None:
            found = segments.problems(vars(self), self.class_count)
        elif self.detected or self.task in (annotated.DETECTION, annotated.SEGMENTATION):
            found = annotated.problems(vars(self), self.class_count)
        else:
            found = _problems(self)
        if problem := next(found, None):
            raise FramewattError(f"data set: found {problem}")

    @property
    def paired(self) -> bool:
        """Whether samples are pairs of sentences."""
        return isinstance(self.x_test, Ragged)

    @property
    def detected(self) -> bool:
        """Whether objects are to be found on images."""
        return isinstance(self.y_test, Objects)

    @property
    def classes(self) -> int:
        """Number of classes; 0 where there are no labels."""
        if self.unlabelled is not None:
            return 0
        if self.class_count is not None:
            return self.class_count
        return int(max(labels.max() for labels in (self.y_train, self.y_test) if len(labels))) + 1

    def lengths(self, test: bool) -> NDArray[np.int64]:
        """How many labels each sample of the test set, or of the training set, has, shape (n,).

        1, but for sequences, and for images on which objects are to be found.
        """
        labels = self.y_test if test else self.y_train
        if isinstance(labels, Objects):
            return np.diff(labels.starts)
        known = self.lengths_test if test else self.lengths_train
        return np.ones(len(self.x_test if test else self.x_train), np.int64) if known is None else known

    def labels(self, test: bool) -> NDArray[np.int64]:
        """All labels of the test set, or of the training set, without padding, shape (n,)."""
        labels = self.y_test if test else self.y_train
        known = self.lengths_test if test else self.lengths_train
        if isinstance(labels, Objects):
            return labels.classes
        if isinstance(labels, Ragged):
            return labels.joined()
        if self.segment is not None and not test:
            # All segments are whole: a view, where `flat` would copy the stream.
            return labels.reshape(-1)
        return labels if known is None else flat(labels, known)

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
        return self._taken({self._main_input: self.x_train, **self.more_train})

    @property
    def inputs_test(self) -> dict[str, NDArray[Any]]:
        """All inputs of the test set, as `inputs_train`."""
        return self._taken({self._main_input: self.x_test, **self.more_test})

    def _taken(self, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return inputs if self.takes is None else {name: inputs[name] for name in self.takes}

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
    if (arrays.lengths_train is None) != (arrays.lengths_test is None):
        yield "lengths of the sequences of one split; allowed: of both, or of none"
        return
    for test in (False, True):
        inputs = arrays.inputs_test if test else arrays.inputs_train
        labels = arrays.y_test if test else arrays.y_train
        known = arrays.lengths_test if test else arrays.lengths_train
        if known is not None:
            yield from _of_sequences(inputs, labels, known)
        elif labels.dtype != np.int64 or labels.ndim != 1:
            yield f"labels of shape {labels.shape}, {labels.dtype}; allowed: (n,) int64"
        for name, values in inputs.items():
            if arrays.unlabelled is None and len(values) != len(labels):
                yield f"{len(values)} samples of {name} and {len(labels)} labels; allowed: one label a sample"
        yield from _of_ids(arrays.x_test if test else arrays.x_train, arrays.categories)
        counts = [len(values) for values in inputs.values()]
        if len(set(counts)) > 1:
            yield f"{counts} samples of {', '.join(inputs)}; allowed: as many of each"
        each = arrays.labels(test)
        if len(each) and not 0 <= each.min() <= each.max() < arrays.classes:
            yield f"labels {each.min()} to {each.max()}; allowed: 0 to {arrays.classes - 1}"


def _of_ids(ids: NDArray[Any], categories: tuple[int, ...]) -> Iterator[str]:
    """Where ids are not those of their categories."""
    if not categories:
        return
    if ids.dtype != np.int64 or ids.shape[1:] != (len(categories),):
        yield f"ids of shape {ids.shape}, {ids.dtype}; allowed: (n, {len(categories)}) int64"
    elif len(ids) and not ((ids >= 0) & (ids < categories)).all():
        yield f"ids {ids.min(axis=0).tolist()} to {ids.max(axis=0).tolist()}; allowed: from 0, below {list(categories)}"


def _of_sequences(
    inputs: Mapping[str, NDArray[Any]], labels: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Iterator[str]:
    """Where sequences, their labels and their lengths do not fit together."""
    longest = labels.shape[1] if labels.ndim == 2 else 0
    if labels.dtype != np.int64 or labels.ndim != 2:
        yield f"labels of sequences of shape {labels.shape}, {labels.dtype}; allowed: (n, longest) int64"
    elif lengths.dtype != np.int64 or lengths.shape != labels.shape[:1]:
        yield f"lengths of shape {lengths.shape}, {lengths.dtype}; allowed: {labels.shape[:1]} int64"
    elif len(lengths) and not 1 <= lengths.min() <= lengths.max() <= longest:
        yield f"sequences of {lengths.min()} to {lengths.max()} tokens; allowed: 1 to {longest}"
    elif not np.array_equal(labels == IGNORED, np.arange(longest) >= lengths[:, None]):
        yield f"labels {IGNORED} elsewhere than behind the ends of sequences; allowed: there and nowhere else"
    for name, values in inputs.items():
        if values.shape[1:2] != labels.shape[1:2]:
            yield f"{name} of shape {values.shape} beside labels of shape {labels.shape}; allowed: as many tokens"
