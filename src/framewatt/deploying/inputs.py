"""Inputs of the model, in the form of a study file: from the ONNX file, from the user's samples, or from INPUTS."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.own import LABELS
from framewatt.deploying.request import Request

DEFAULT_BATCHES = (1, 8, 32)


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
    """Return what the model takes, and at which batch sizes.

    Args:
        request: with `data`, `axes`, `inputs` and `batches`.
        declared: inputs that the ONNX file declares (see prepare.onnx_inputs); None of a factory.

    Raises:
        FramewattError: a size is missing, or what was given does not fit the model.
    """
    _check_used(request, declared is not None)
    samples, labelled, count = _samples(request.data) if request.data else ({}, False, None)
    default = tuple(size for size in DEFAULT_BATCHES if count is None or size <= count)
    if too_large := [size for size in request.batches if count is not None and size > count]:
        raise FramewattError(
            f"BATCH: {too_large[0]} is more than the {count} samples of {request.data}. Use {count} or fewer."
        )
    if declared is None:
        given = {name: (str(kind), shape) for name, (kind, shape) in (samples or request.inputs).items()}
        if not given:
            raise FramewattError(
                "INPUTS: a model that a function makes needs the shapes of its inputs. Use INPUTS=image=3x224x224 (one "
                "sample, without the batch), or DATA=samples.npz."
            )
        return Taken(_entries(given), request.batches or default, None, labelled)
    fixed = _fixed_batch(request, declared)
    inputs = {str(entry["name"]): (str(entry["type"]), _shape(request, entry, samples)) for entry in declared}
    _check_given(request, declared)
    return Taken(_entries(inputs), request.batches or ((fixed,) if fixed else default), fixed, labelled)


def _check_used(request: Request, is_file: bool) -> None:
    """Make sure that no option would be ignored.

    Raises:
        FramewattError: sizes are given twice, or for a model that needs none.
    """
    if request.data and (request.axes or request.inputs):
        option = "AXES" if request.axes else "INPUTS"
        raise FramewattError(f"{option}: {request.data} has the sizes already. Use either {option} or DATA.")
    if request.axes and not is_file:
        raise FramewattError("AXES: the model is made by a function, which has no named axes. Use INPUTS, or DATA.")


def _entries(inputs: Mapping[str, tuple[str, tuple[int, ...]]]) -> list[dict[str, Any]]:
    return [{"name": name, "shape": list(shape), "type": kind} for name, (kind, shape) in inputs.items()]


def _fixed_batch(request: Request, declared: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the batch size that all inputs fix; None where they leave it open.

    Raises:
        FramewattError: an input has no axis, they fix different sizes, or BATCH is another size.
    """
    if bare := [entry["name"] for entry in declared if not entry["shape"]]:
        raise FramewattError(
            f"{request.model}: input {bare[0]} has no axis. Export it with the batch as first axis of every input."
        )
    sizes = {entry["shape"][0] for entry in declared if isinstance(entry["shape"][0], int)}
    if len(sizes) > 1:
        raise FramewattError(
            f"{request.model}: first axes of inputs have the sizes {', '.join(map(str, sorted(sizes)))}. Export it "
            "with the batch as first axis of every input."
        )
    fixed = next(iter(sizes), None)
    if fixed and (others := [size for size in request.batches if size != fixed]):
        raise FramewattError(
            f"BATCH: {request.model} fixes the batch size at {fixed}, so {others[0]} cannot be used. Use BATCH={fixed}."
        )
    return fixed


def _shape(
    request: Request, declared: Mapping[str, Any], samples: Mapping[str, tuple[str, tuple[int, ...]]]
) -> tuple[int, ...]:
    """Return the shape of a sample of one input: sizes of the file, and for open axes those of DATA or AXES."""
    name, axes = declared["name"], declared["shape"][1:]
    if request.data:
        if name not in samples:
            raise FramewattError(
                f"{request.data} has {', '.join(samples) or 'no arrays'}, but no array {name}, which is an input of "
                f"{request.model}. Store an array for each input."
            )
        kind, shape = samples[name]
        fits = len(shape) == len(axes) and all(
            not isinstance(axis, int) or axis == size for axis, size in zip(axes, shape, strict=True)
        )
        if not fits or kind != declared["type"]:
            wanted = ", ".join(["n", *(str(axis or "any") for axis in axes)])
            raise FramewattError(
                f"{request.data}: {name} has the shape {('n', *shape)} and type {kind}. Store it as ({wanted}), "
                f"{declared['type']}."
            )
        return shape
    names = [axis_name(declared, number) for number in range(1, len(axes) + 1)]
    open_axes = [word for word, axis in zip(names, axes, strict=True) if not isinstance(axis, int)]
    if missing := [word for word in open_axes if word not in request.axes]:
        sizes = ",".join(f"{word}={request.axes.get(word, '…')}" for word in open_axes)
        raise FramewattError(
            f"{request.model}: input {name}: the size of its axis {missing[0]} is open. Use AXES={sizes}, or "
            "DATA=samples.npz."
        )
    return tuple(axis if isinstance(axis, int) else request.axes[word] for word, axis in zip(names, axes, strict=True))


def axis_name(declared: Mapping[str, Any], number: int) -> str:
    """Return the name of an axis of an input: from the file, or `<input>.<number>` where it has no name."""
    name = declared["shape"][number]
    return name if isinstance(name, str) else f"{declared['name']}.{number}"


def _check_given(request: Request, declared: Sequence[Mapping[str, Any]]) -> None:
    """Make sure that AXES names only axes that the model leaves open, and that there is no INPUTS.

    Raises:
        FramewattError: AXES names another axis, or there is INPUTS.
    """
    open_axes = {
        axis_name(entry, number)
        for entry in declared
        for number, axis in enumerate(entry["shape"])
        if number and not isinstance(axis, int)
    }
    if unknown := [name for name in request.axes if name not in open_axes]:
        known = f"Use {', '.join(sorted(open_axes))}." if open_axes else "Leave AXES out: the file has all sizes."
        raise FramewattError(f"AXES: {unknown[0]} is not an open axis of {request.model}. {known}")
    if request.inputs:
        raise FramewattError(
            f"INPUTS: {request.model} declares its inputs itself. Leave INPUTS={', '.join(request.inputs)} out."
        )


def _samples(path: Path) -> tuple[dict[str, tuple[str, tuple[int, ...]]], bool, int]:
    """Return type and shape of a sample by array, whether there are labels, and the number of samples."""
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: (str(content[name].dtype), content[name].shape) for name in content.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise FramewattError(f"{path} cannot be read: {error}. Use an .npz of plain arrays.") from error
    bare = [name for name, (_, shape) in arrays.items() if not shape]
    if bare or not arrays:
        raise FramewattError(
            f"{path}: {f'{bare[0]} has no axis' if bare else 'there is no array'}. Store arrays of samples."
        )
    count = min(shape[0] for _, shape in arrays.values())
    samples = {name: (kind, shape[1:]) for name, (kind, shape) in arrays.items() if name != LABELS}
    return samples, LABELS in arrays, count
