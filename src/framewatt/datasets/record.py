"""The data record: what a file of arrays holds and where it comes from."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.files import read_json
from framewatt.datasets import annotated
from framewatt.datasets.contract import Arrays
from framewatt.datasets.sources import RECORD


def origin_of(source: str, folder: Path) -> dict[str, Any]:
    """Where a source's files come from; the name of a user's folder is left out, since the record is published.

    Args:
        source: its name.
        folder: its files.
    """
    record = folder / RECORD
    if record.is_file():
        return {"from": "download", **read_json(record)}
    return {"from": "local folder", "source": source, "files": None, "files_reason": "handed over by the user"}


def record_of(
    name: str, definition: Mapping[str, Any], sha256: str, arrays: Arrays, origins: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The record of a data set.

    Args:
        name: of the arrays.
        definition: how they were made.
        sha256: of their file.
        arrays: the arrays.
        origins: of each source (see `origin_of`).
    """
    return {
        "dataset": name,
        "definition": dict(definition),
        "sha256": sha256,
        "input_shape": list(arrays.input_shape),
        "inputs": {name: str(values.dtype) for name, values in arrays.inputs_test.items()},
        "classes": arrays.classes or None,
        **({} if arrays.unlabelled is None else {"classes_reason": arrays.unlabelled}),
        "train_samples": len(arrays.x_train),
        "test_samples": len(arrays.x_test),
        **({} if arrays.task == Arrays.task else {"task": arrays.task}),
        **_labels_of(arrays),
        **arrays.about,
        "origins": [dict(origin) for origin in origins],
    }


def _labels_of(arrays: Arrays) -> dict[str, Any]:
    """How many samples there are of each class; of sequences their tokens and how many of each class.

    Of images on which objects are to be found, the objects. Of segments of a stream their tokens alone, of pairs of
    sentences the longest source: a class is a word, or a piece of one.
    """
    if arrays.paired:
        return {"longest": max(arrays.x_train.shape[1], arrays.x_test.shape[1])}
    if arrays.detected:
        return annotated.counted(vars(arrays), arrays.classes)
    if arrays.segment is not None:
        units = {f"{split}_units": int(arrays.lengths(split == "test").sum()) for split in ("train", "test")}
        return {"longest": arrays.segment, **units}
    train, test = (arrays.labels(test=test) for test in (False, True))
    what = "samples"
    sequences: dict[str, Any] = {}
    if arrays.lengths_test is not None:
        what = "tokens"
        longest = arrays.y_test.shape[1]
        sequences = {"longest": longest, "train_units": len(train), "test_units": len(test)}
    return {
        **sequences,
        f"train_{what}_per_class": _per_class(train, arrays.classes),
        f"test_{what}_per_class": _per_class(test, arrays.classes),
    }


def _per_class(labels: np.ndarray, classes: int) -> list[int]:
    return [int(count) for count in np.bincount(labels, minlength=classes)]
