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
from framewatt.datasets.contract import Arrays
from framewatt.datasets.mapped import mapped, write_npz
from framewatt.datasets.ragged import IGNORED, flat, padded

_NAMES = ("x_train", "y_train", "x_test", "y_test")
_LENGTHS = ("lengths_train", "lengths_test")
_MORE = ("more_train", "more_test")
_OWN = ("main", "unlabelled", "channels_first")

_DAMAGED = (
    *(OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error),
    *(ValueError, TypeError, SyntaxError, tokenize.TokenError),
)
"""What the readers of .zip, and those of .npy and JSON in it, raise of bytes that are wrong."""


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write the arrays as an uncompressed .npz, atomically; the same arrays give the same bytes.

    Raises:
        FramewattError: segments are not those of one stream, or pairs not those of one.
    """
    content = _values_of(arrays)
    content["class_count"] = np.int64(arrays.classes)
    content["about"] = np.array(json.dumps(dict(arrays.about), sort_keys=True))
    if arrays.main is not None:
        content["own"] = np.array(json.dumps({name: getattr(arrays, name) for name in _OWN}))
    if arrays.task != Arrays.task:
        content["task"] = np.array(arrays.task)
    if arrays.categories:
        content["categories"] = np.array(arrays.categories, np.int64)

    def write(partial: Path) -> None:
        if arrays.segment is not None or arrays.paired:
            write_npz(partial, content)
            return
        with partial.open("wb") as file:
            np.savez(file, **content)

    write_atomically(path, write)


def _values_of(arrays: Arrays) -> dict[str, Any]:
    """What is stored of samples and labels: of segments their streams, of sequences no padding."""
    if arrays.paired:
        return pairs.stored(vars(arrays))
    if arrays.detected:
        return annotated.stored(vars(arrays))
    if arrays.segment is not None:
        return {**segments.streams_of(vars(arrays)), "segment": np.int64(arrays.segment)}
    content: dict[str, Any] = {name: getattr(arrays, name) for name in _NAMES}
    for group in _MORE:
        content |= {f"{group}/{name}": values for name, values in getattr(arrays, group).items()}
    if arrays.lengths_test is not None:
        content |= _without_padding(content, arrays)
    return content


def load_arrays(path: Path) -> Arrays:
    """Read arrays written by `save_arrays`; nothing in the file is unpickled.

    Streams of tokens, pairs of sentences and images with objects are mapped, not read: neither the file's checksums
    nor the training ids are checked.

    Raises:
        FramewattError: the file is missing, is damaged or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            return Arrays(
                **_fields_of(path, content),
                task=str(content["task"]) if "task" in content else Arrays.task,
                categories=tuple(content["categories"].tolist()) if "categories" in content else (),
                class_count=int(content["class_count"]),
                about=json.loads(str(content["about"])),
                **(json.loads(str(content["own"])) if "own" in content else {}),
            )
    except (*_DAMAGED, FramewattError) as error:
        raise FramewattError(f"{path}: found no data set: {error}; remove the file and run snakemake again") from error


def _fields_of(path: Path, content: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Samples and labels from a file, as `_values_of` gave them."""
    if pairs.FILES[0] in content:
        return pairs.loaded(path, content)
    if annotated.SIZE in content:
        return annotated.loaded(path, content)
    if "segment" in content:
        train, test = (mapped(path, name) for name in segments.FILES)
        return segments.fields_of(train, test, int(content["segment"]))
    more: dict[str, Any] = {
        group: {name.partition("/")[2]: content[name] for name in content if name.startswith(f"{group}/")}
        for group in _MORE
    }
    fields: dict[str, Any] = {name: content[name] for name in _NAMES}
    if _LENGTHS[0] in content:
        lengths = {name: content[name] for name in _LENGTHS}
        fields, more = _with_padding(fields, more, lengths, int(content["longest"]))
    return {**fields, **more}


def _without_padding(content: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The fields of sequences one after another, and their lengths."""
    lengths = {name: getattr(arrays, name) for name in _LENGTHS}
    fields = {name: flat(values, lengths[f"lengths_{_split(name)}"]) for name, values in content.items()}
    return {**fields, **lengths, "longest": np.int64(arrays.y_test.shape[1])}


def _with_padding(
    fields: Mapping[str, Any], more: Mapping[str, Any], lengths: Mapping[str, NDArray[np.int64]], longest: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of sequences padded to the longest, labels with IGNORED and all others with 0."""

    def ready(name: str, values: NDArray[Any]) -> NDArray[Any]:
        fill = IGNORED if name.startswith("y_") else 0
        return padded(values, lengths[f"lengths_{_split(name)}"], longest, fill)

    made = {name: ready(name, values) for name, values in fields.items()}
    others = {group: {key: ready(group, values) for key, values in more[group].items()} for group in more}
    return {**made, **lengths}, others


def _split(name: str) -> str:
    """The split that a field is of: `x_train`, `more_test/…`."""
    return name.partition("/")[0].partition("_")[2]
