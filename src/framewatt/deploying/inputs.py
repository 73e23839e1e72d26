"""Inputs of the model, as a study file says them: from the ONNX file, from the user's samples, or from INPUTS."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.own import LABELS
from framewatt.deploying.request import Request

USUAL_BATCHES = (1, 8, 32)


@dataclass(frozen=True)
class Taken:
    """What the model takes.

    Attributes:
        inputs: entries of `models.<name>.inputs` of a study.
        batches: batch sizes to compare.
        fixed: the batch size that the model fixes, or None.
        labelled: whether the samples have labels.
    """

    inputs: list[dict[str, Any]]
    batches: tuple[int, ...]
    fixed: int | None
    labelled: bool


def taken(request: Request, declared: Sequence[Mapping[str, Any]] | None) -> Taken:
    """What the model takes, and at which batch sizes.

    Args:
        request: with `data`, `axes`, `inputs` and `batches`.
        declared: inputs that the ONNX file declares (see prepare.onnx_inputs); None of a factory.

    Raises:
        FramewattError: a size is missing, or what was given does not fit the model.
    """
    _check_used(request, declared is not None)
    samples, labelled, count = _samples(request.data) if request.data else ({}, False, None)
    usual = tuple(size for size in USUAL_BATCHES if count is None or size <= count)
    if too_large := [size for size in request.batches if count is not None and size > count]:
        raise FramewattError(f"BATCH: found {too_large[0]}; allowed: up to {count}, the samples of {request.data}")
    if declared is None:
        given = {name: (str(kind), shape) for name, (kind, shape) in (samples or request.inputs).items()}
        if not given:
            raise FramewattError(
                "INPUTS: found none, of a model that a function makes; allowed: INPUTS=image=3x224x224 (one sample, "
                "without the batch), or DATA=samples.npz"
            )
        return Taken(_entries(given), request.batches or usual, None, labelled)
    fixed = _fixed_batch(request, declared)
    found = {str(one["name"]): (str(one["type"]), _shape(request, one, samples)) for one in declared}
    _check_given(request, declared)
    return Taken(_entries(found), request.batches or ((fixed,) if fixed else usual), fixed, labelled)


def _check_used(request: Request, is_file: bool) -> None:
    """Make sure that nothing that was asked for would be ignored.

    Raises:
        FramewattError: sizes are told twice, or of a model that needs none.
    """
    if request.data and (request.axes or request.inputs):
        option = "AXES" if request.axes else "INPUTS"
        raise FramewattError(f"{option}: found one beside DATA; allowed: none, since {request.data} has the sizes")
    if request.axes and not is_file:
        raise FramewattError("AXES: found one, of a model that a function makes; allowed: INPUTS, or DATA")


def _entries(found: Mapping[str, tuple[str, tuple[int, ...]]]) -> list[dict[str, Any]]:
    return [{"name": name, "shape": list(shape), "type": kind} for name, (kind, shape) in found.items()]


def _fixed_batch(request: Request, declared: Sequence[Mapping[str, Any]]) -> int | None:
    """The batch size that all inputs fix; None where they leave it open.

    Raises:
        FramewattError: an input has no axis, they fix different sizes, or BATCH asks for another one.
    """
    if bare := [one["name"] for one in declared if not one["shape"]]:
        raise FramewattError(
            f"{request.model}: input {bare[0]}: found no axis; allowed: inputs whose first axis is the batch"
        )
    sizes = {one["shape"][0] for one in declared if isinstance(one["shape"][0], int)}
    if len(sizes) > 1:
        raise FramewattError(
            f"{request.model}: found inputs with first axes of {', '.join(map(str, sorted(sizes)))}; allowed: inputs "
            "whose first axis is the batch"
        )
    fixed = next(iter(sizes), None)
    if fixed and (others := [size for size in request.batches if size != fixed]):
        raise FramewattError(f"BATCH: found {others[0]}; allowed: {fixed}, which {request.model} fixes")
    return fixed


def _shape(
    request: Request, declared: Mapping[str, Any], samples: Mapping[str, tuple[str, tuple[int, ...]]]
) -> tuple[int, ...]:
    """Shape of a sample of one input: the file's sizes, and of open axes those of DATA, else of AXES."""
    name, axes = declared["name"], declared["shape"][1:]
    if request.data:
        if name not in samples:
            raise FramewattError(
                f"{request.data}: found {', '.join(samples) or 'no arrays'}; allowed: an array for each input of "
                f"{request.model}, also {name}"
            )
        kind, shape = samples[name]
        fits = len(shape) == len(axes) and all(
            not isinstance(axis, int) or axis == size for axis, size in zip(axes, shape, strict=True)
        )
        if not fits or kind != declared["type"]:
            wanted = ", ".join(["n", *(str(axis or "any") for axis in axes)])
            raise FramewattError(
                f"{request.data}: {name}: found shape {('n', *shape)}, {kind}; allowed: ({wanted}), {declared['type']}"
            )
        return shape
    names = [axis_name(declared, number) for number in range(1, len(axes) + 1)]
    open_axes = [word for word, axis in zip(names, axes, strict=True) if not isinstance(axis, int)]
    if missing := [word for word in open_axes if word not in request.axes]:
        said = ",".join(f"{word}={request.axes.get(word, '…')}" for word in open_axes)
        raise FramewattError(
            f"{request.model}: input {name}: found no size of its axis {missing[0]}; allowed: AXES={said}, or "
            "DATA=samples.npz"
        )
    return tuple(axis if isinstance(axis, int) else request.axes[word] for word, axis in zip(names, axes, strict=True))


def axis_name(declared: Mapping[str, Any], number: int) -> str:
    """Name of an axis of an input: the file's, or `<input>.<number>` where it has none."""
    told = declared["shape"][number]
    return told if isinstance(told, str) else f"{declared['name']}.{number}"


def _check_given(request: Request, declared: Sequence[Mapping[str, Any]]) -> None:
    """Make sure that AXES names only axes that the model leaves open, and INPUTS nothing.

    Raises:
        FramewattError: it does not.
    """
    open_axes = {
        axis_name(one, number)
        for one in declared
        for number, axis in enumerate(one["shape"])
        if number and not isinstance(axis, int)
    }
    if unknown := [name for name in request.axes if name not in open_axes]:
        allowed = ", ".join(sorted(open_axes)) or "none, since the file has all sizes"
        raise FramewattError(f"AXES: found {unknown[0]}; allowed: {allowed}")
    if request.inputs:
        raise FramewattError(
            f"INPUTS: found {', '.join(request.inputs)}; allowed: none, since {request.model} has them"
        )


def _samples(path: Path) -> tuple[dict[str, tuple[str, tuple[int, ...]]], bool, int]:
    """Type and shape of a sample by array, whether there are labels, and how many samples there are."""
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: (str(content[name].dtype), content[name].shape) for name in content.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise FramewattError(f"{path}: found no arrays: {error}; allowed: an .npz of plain arrays") from error
    bare = [name for name, (_, shape) in arrays.items() if not shape]
    if bare or not arrays:
        raise FramewattError(f"{path}: found {bare[0] if bare else 'nothing'}; allowed: arrays of samples")
    count = min(shape[0] for _, shape in arrays.values())
    found = {name: (kind, shape[1:]) for name, (kind, shape) in arrays.items() if name != LABELS}
    return found, LABELS in arrays, count
