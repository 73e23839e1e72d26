"""Arrays in a file that holds no code: nothing in it is unpickled, and the same arrays give the same bytes."""

import json
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_atomically
from framewatt.datasets import annotated, pairs, segments
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.contract import Arrays, Images, MoreInputs, Samples, Texts, UserItems
from framewatt.datasets.mapped import mapped, write_npz
from framewatt.datasets.pairs import Pairs
from framewatt.datasets.ragged import IGNORED, flat, padded
from framewatt.datasets.segments import Segments
from framewatt.datasets.sequences import Sequences

_NAMES = ("x_train", "y_train", "x_test", "y_test")
_LENGTHS = ("lengths_train", "lengths_test")
_MORE = ("more_train", "more_test")
_OWN = ("main", "unlabelled", "channels_first")
_OF_SAMPLES = ("own", "categories")
"""What only files of Samples, and of kinds that are built on them, may hold."""

_DAMAGED = (
    *(OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error),
    *(ValueError, TypeError, SyntaxError, tokenize.TokenError),
)
"""What the readers of .zip, and those of .npy and JSON in it, raise of bytes that are wrong."""


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write the arrays as an uncompressed .npz, atomically; the same arrays give the same bytes.

    Raises:
        FramewattError: segments are not those of one stream, or labels of pairs not in the memory of their targets.
    """
    content = _values_of(arrays)
    content["class_count"] = np.int64(arrays.classes)
    content["about"] = np.array(json.dumps(dict(arrays.about), sort_keys=True))
    if isinstance(arrays, Samples):
        content["own"] = np.array(json.dumps({name: getattr(arrays, name) for name in _OWN}))
    if arrays.task is not None:
        content["task"] = np.array(arrays.task)
    if arrays.categories:
        content["categories"] = np.array(arrays.categories, np.int64)

    def write(partial: Path) -> None:
        if isinstance(arrays, Segments | Pairs):
            write_npz(partial, content)
            return
        with partial.open("wb") as file:
            np.savez(file, **content)

    write_atomically(path, write)


def _values_of(arrays: Arrays) -> dict[str, Any]:
    """Return what is stored of samples and labels: of segments their streams, of sequences no padding."""
    if isinstance(arrays, Pairs | AnnotatedImages):
        return arrays.content()
    if isinstance(arrays, Segments):
        return {**arrays.streams(), "segment": np.int64(arrays.segment)}
    content: dict[str, Any] = {name: getattr(arrays, name) for name in _NAMES}
    if isinstance(arrays, MoreInputs):
        for group in _MORE:
            content |= {f"{group}/{name}": values for name, values in getattr(arrays, group).items()}
    return _without_padding(content, arrays) if isinstance(arrays, Sequences) else content


def load_arrays(path: Path) -> Arrays:
    """Read arrays written by `save_arrays`; nothing in the file is unpickled.

    Streams of tokens, pairs of sentences and images with objects are mapped, not read: neither the file's checksums
    nor the training ids are checked.

    Raises:
        FramewattError: the file is missing, is damaged or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            kind, fields = _kind_in(path, content)
            if surplus := [name for name in _OF_SAMPLES if name in content and not issubclass(kind, Samples)]:
                raise FramewattError(f"{surplus[0]} is not a part of {kind.__name__}. Leave it out")
            return kind(
                **fields,
                task=str(content["task"]) if "task" in content else None,
                class_count=int(content["class_count"]),
                about=json.loads(str(content["about"])),
                **(json.loads(str(content["own"])) if "own" in content else {}),
            )
    except (*_DAMAGED, FramewattError) as error:
        problem = str(error).rstrip(".")
        raise FramewattError(f"{path}: cannot read a data set: {problem}. Remove the file and run again.") from error


def _kind_in(path: Path, content: Mapping[str, NDArray[Any]]) -> tuple[type[Arrays], dict[str, Any]]:
    """Return the kind of data in a file, and its samples and labels as `_values_of` gave them."""
    if pairs.FILES[0] in content:
        return Pairs, pairs.load_pairs(path, content)
    if annotated.SIZE in content:
        return AnnotatedImages, annotated.load_annotated(path, content)
    if "segment" in content:
        train, test = (mapped(path, name) for name in segments.FILES)
        return Segments, segments.segments_of(train, test, int(content["segment"]))
    return _plain_kind_in(content)


def _plain_kind_in(content: Mapping[str, NDArray[Any]]) -> tuple[type[Arrays], dict[str, Any]]:
    """Return the kind of data in a file of plain arrays, which are read, and its samples and labels."""
    fields: dict[str, Any] = {name: content[name] for name in _NAMES}
    more: dict[str, Any] = {
        group: {name.partition("/")[2]: content[name] for name in content if name.startswith(f"{group}/")}
        for group in _MORE
    }
    if _LENGTHS[0] in content:
        lengths = {name: content[name] for name in _LENGTHS}
        return Sequences, _with_padding(fields, more, lengths, int(content["longest"]))
    if "own" not in content:
        return (Texts, {**fields, **more}) if fields["x_test"].dtype == np.int64 else (Images, fields)
    if "categories" in content:
        more["categories"] = tuple(content["categories"].tolist())
    return (UserItems if "categories" in content else Samples), {**fields, **more}


def _without_padding(content: Mapping[str, Any], arrays: Sequences) -> dict[str, Any]:
    """Return the fields of sequences one after another, and their lengths."""
    lengths = {name: getattr(arrays, name) for name in _LENGTHS}
    fields = {name: flat(values, lengths[f"lengths_{_split(name)}"]) for name, values in content.items()}
    return {**fields, **lengths, "longest": np.int64(arrays.y_test.shape[1])}


def _with_padding(
    fields: Mapping[str, Any], more: Mapping[str, Any], lengths: Mapping[str, NDArray[np.int64]], longest: int
) -> dict[str, Any]:
    """Return the fields of sequences padded to the longest, labels with IGNORED and all others with 0."""

    def ready(name: str, values: NDArray[Any]) -> NDArray[Any]:
        fill = IGNORED if name.startswith("y_") else 0
        return padded(values, lengths[f"lengths_{_split(name)}"], longest, fill)

    full = {name: ready(name, values) for name, values in fields.items()}
    others = {group: {key: ready(group, values) for key, values in more[group].items()} for group in more}
    return {**full, **others, **lengths}


def _split(name: str) -> str:
    """Return the split that a field is of: `x_train`, `more_test/…`."""
    return name.partition("/")[0].partition("_")[2]
