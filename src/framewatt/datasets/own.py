"""Samples for a user's own model: the user's arrays or images, or seeded random values in the model's input shape.

A study calls these data sets `own` and `synthetic`, so that every table and figure shows which one it is.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets import coco
from framewatt.datasets.contract import Arrays, Samples
from framewatt.datasets.options import Limits, Positive
from framewatt.datasets.preprocessing import Shape
from framewatt.datasets.record import about

LABELS = "labels"

_Inputs = dict[str, NDArray[Any]]


def make(
    *,
    inputs: list[dict[str, Any]],
    samples: Positive,
    seed: Annotated[int, Limits(0, 2**64 - 1)],
    layout: Literal["as-is", "NCHW"],
    metric: Literal["accuracy", "box_ap", "mask_ap", "none"],
    arrays: Path | None = None,
    images: Path | None = None,
    annotations: Path | None = None,
    resize: Shape = "fit",
    preprocessing: Literal["unit", "torch", "caffe", "tf"] = "unit",
) -> Arrays:
    """Test samples for every input, and no training samples.

    Args:
        inputs: the model's inputs in order: `name`, `shape` of one sample, `type`, and `below`, the exclusive upper
            bound of random integers.
        samples: how many random samples.
        seed: seed of the random samples.
        layout: `NCHW` where samples of three axes are images, channels first; else `as-is`.
        metric: `accuracy`, where labels are classes and outputs are their scores; `box_ap` or `mask_ap`, where objects
            are to be found on images; else `none`.
        arrays: an .npz with an array for each input by name, and if wanted `labels`; None draws random samples.
        images: a folder of photographs instead, which the one input takes as squares, channels first.
        annotations: what is on them, COCO's instances JSON.
        resize: of photographs, see framewatt.datasets.coco.
        preprocessing: likewise.

    Raises:
        FramewattError: the file is no .npz of plain arrays, lacks an input, or holds other shapes or types; images or
            annotations are missing or wrong.
    """
    if images is not None and annotations is not None:
        size, masks = inputs[0]["shape"][1], metric == "mask_ap"
        how: Any = {"resize": resize, "preprocessing": preprocessing}
        data = coco.read_files(annotations, images, size=size, masks=masks, **how)
        if metric != "none":
            return data
        values, labels, unlabelled, facts = {inputs[0]["name"]: data.x_test}, None, None, data.about
        layout = "NCHW"
    elif arrays is None:
        random = np.random.default_rng(seed)
        values = {entry["name"]: _random(random, samples, entry) for entry in inputs}
        labels, unlabelled = None, "inputs are random and have no labels"
        facts = about("random values: normal, or evenly drawn integers", synthetic=True, seed=seed)
    else:
        values, labels = _read(arrays, inputs)
        unlabelled = "the arrays hold no labels"
        facts = about("as the user's file holds them", read=[arrays], root=arrays.parent)
    if metric == "none":
        labels, unlabelled = None, "the study names no metric"
    nothing = np.zeros(0, np.int64)
    (main, x_test), *more = values.items()
    return Samples(
        *(x_test[:0], nothing, x_test, nothing if labels is None else labels),
        more_train={name: array[:0] for name, array in more},
        more_test=dict(more),
        about=facts,
        main=main,
        unlabelled=unlabelled if labels is None else None,
        channels_first=layout == "NCHW",
    )


def _random(random: np.random.Generator, samples: int, entry: Mapping[str, Any]) -> NDArray[Any]:
    """Random values for an input."""
    shape, dtype = (samples, *entry["shape"]), np.dtype(entry["type"])
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(entry["below"], size=shape).astype(dtype)


def _read(path: Path, inputs: list[dict[str, Any]]) -> tuple[_Inputs, NDArray[np.int64] | None]:
    """Return the arrays of a user's file, and the labels if it has any."""
    try:
        with np.load(path, allow_pickle=False) as content:
            content_by_name = {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise FramewattError(f"{path}: it has no arrays: {error}. Use an .npz of plain arrays.") from error
    for entry in inputs:
        name, shape = entry["name"], tuple(entry["shape"])
        if name not in content_by_name:
            raise FramewattError(f"{path}: it has {', '.join(content_by_name) or 'nothing'}. Add an array {name}.")
        array = content_by_name[name]
        if array.shape[1:] != shape or array.dtype != entry["type"]:
            wanted = ", ".join(map(str, ("n", *shape)))
            raise FramewattError(
                f"{path}: {name}: it has shape {array.shape}, {array.dtype}. Use ({wanted}), {entry['type']}."
            )
        bad = int(np.sum(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))) if array.dtype.kind == "f" else 0
        if bad:
            raise FramewattError(
                f"{path}: {name}: it has NaN or infinity in {bad} of {len(array)} samples. Use finite numbers."
            )
    labels = content_by_name.get(LABELS)
    named = [entry["name"] for entry in inputs] + ([LABELS] if labels is not None else [])
    if len({len(content_by_name[name]) for name in named}) > 1:
        counts = ", ".join(f"{len(content_by_name[name])} of {name}" for name in named)
        raise FramewattError(f"{path}: it has {counts}. Use as many of each.")
    return {entry["name"]: content_by_name[entry["name"]] for entry in inputs}, None if labels is None else _classes(
        path, labels
    )


def _classes(path: Path, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the labels as classes from 0 on; how many there are, only the model knows."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise FramewattError(
            f"{path}: {LABELS}: it has shape {labels.shape}, {labels.dtype}. Use (n,), whole numbers from 0 on."
        )
    if len(labels) and labels.min() < 0:
        raise FramewattError(f"{path}: {LABELS}: it has {labels.min()}. Use whole numbers from 0 on.")
    return labels.astype(np.int64)
