"""What a data set states of itself, and the data record: what a file of arrays holds and where it comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.files import sha256_of_files
from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import Pairs
from framewatt.datasets.segments import Segments
from framewatt.datasets.sequences import Sequences


@dataclass(frozen=True)
class LeftOut:
    """A sample that was changed, or is not in the arrays.

    Attributes:
        file: its name in the source's folder.
        reason: what was wrong with it.
    """

    file: str
    reason: str


def about(
    preprocessing: str,
    *,
    read: Iterable[Path] = (),
    root: Path | None = None,
    synthetic: bool = False,
    left_out: Sequence[LeftOut] = (),
    **details: Any,
) -> dict[str, Any]:
    """Return the facts of a data set beyond its shapes, which its arrays carry into its record.

    Args:
        preprocessing: what was done to the original values, in words.
        read: the original files that were read.
        root: the folder that their names are relative to.
        synthetic: whether the samples are random numbers, not real data.
        left_out: samples that are not in the arrays.
        **details: further JSON values, specific to this kind of data set.
    """
    files = list(read)
    return {
        "synthetic": synthetic,
        "preprocessing": preprocessing,
        "original_files": len(files),
        "original_files_sha256": sha256_of_files(files, root) if files and root else None,
        "original_files_sha256_reason": None if files else "made without files of a source",
        "left_out": [{"file": sample.file, "reason": sample.reason} for sample in left_out],
        **details,
    }


def record_of(
    name: str, definition: Mapping[str, Any], sha256: str, arrays: Arrays, origins: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the record of a data set.

    Args:
        name: of the arrays.
        definition: how they were made.
        sha256: of their file.
        arrays: the arrays.
        origins: of each source (see `sources.origin_of`).
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
        **({} if arrays.task is None else {"task": arrays.task}),
        **_labels_of(arrays),
        **arrays.about,
        "origins": [dict(origin) for origin in origins],
    }


def _labels_of(arrays: Arrays) -> dict[str, Any]:
    """Return how many samples there are of each class; of sequences their tokens and how many of each class.

    Of images with objects, the objects. Of segments of a stream their tokens alone, of pairs of sentences the longest
    source: a class is a word, or a piece of one.
    """
    if isinstance(arrays, Pairs):
        return {"longest": max(arrays.x_train.shape[1], arrays.x_test.shape[1])}
    if isinstance(arrays, AnnotatedImages):
        return arrays.counts()
    if isinstance(arrays, Segments):
        units = {f"{split}_units": int(arrays.lengths(split == "test").sum()) for split in ("train", "test")}
        return {"longest": arrays.segment, **units}
    train, test = (arrays.labels(test=test) for test in (False, True))
    what = "samples"
    sequences: dict[str, Any] = {}
    if isinstance(arrays, Sequences):
        what = "tokens"
        sequences = {"longest": arrays.y_test.shape[1], "train_units": len(train), "test_units": len(test)}
    return {
        **sequences,
        f"train_{what}_per_class": _per_class(train, arrays.classes),
        f"test_{what}_per_class": _per_class(test, arrays.classes),
    }


def _per_class(labels: NDArray[np.int64], classes: int) -> list[int]:
    return [int(count) for count in np.bincount(labels, minlength=classes)]
