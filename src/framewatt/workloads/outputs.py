"""Outputs of models that give several, or none with a row per sample. In no framework of its own.

Only what is not judged may be any of these: a task takes one array with one row per sample.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.tasks import task_of
from framewatt.tasks.contract import Outputs, Step, Task

NUMBERS = "biufc"
"""Kinds of arrays that hold numbers."""


def single_output(returned: Any, data: Arrays) -> Any:
    """Return what a model returned, on the host: one array, or where nothing is judged all arrays of whatever it is.

    Args:
        returned: an array; or arrays in lists, tuples and mappings.
        data: the data set.

    Raises:
        FramewattError: it is not one array, and answers are to be judged.
    """
    if isinstance(returned, np.ndarray):
        return returned
    arrays = tuple(_arrays(returned))
    if len(arrays) == 1:
        return arrays[0]
    if data.unlabelled is not None:
        return arrays
    raise FramewattError(
        f"model: it has {len(arrays)} outputs, and {task_of(data.task).name} needs one tensor of answers. Name the "
        "outputs of an ONNX file in models.<name>.outputs, or set metric: none."
    )


def in_order(task: Task, data: Arrays, outputs: Iterable[Any], steps: Iterable[Step]) -> Outputs:
    """Return outputs of one pass over the test set, one row per sample, as a task has them in order.

    Where nothing is judged and they have no such rows, all their numbers, one after another, shape (n,).

    Args:
        task: of the data set.
        data: the data set.
        outputs: of each step, see `single_output`.
        steps: of the pass.
    """
    parts, taken = list(outputs), list(steps)
    if data.unlabelled is None or _have_rows(parts, taken):
        return task.in_order(parts, taken)
    numbers = [np.ravel(one) for one in _arrays(parts) if one.dtype.kind in NUMBERS]
    return np.concatenate(numbers) if numbers else np.zeros(0, np.float32)


def _have_rows(parts: list[Any], steps: list[Step]) -> bool:
    """Return whether every step gave one array with a row per sample, and rows are alike."""
    return all(
        isinstance(part, np.ndarray) and part.ndim > 0 and len(part) == len(step.indices)
        for part, step in zip(parts, steps, strict=True)
    ) and (len({part.shape[1:] for part in parts}) == 1)


def _arrays(returned: Any) -> Iterator[NDArray[Any]]:
    """Yield all arrays and numbers in lists, tuples and mappings, in their order; nothing of whatever else there is."""
    if isinstance(returned, Mapping):
        returned = list(returned.values())
    if isinstance(returned, list | tuple):
        for one in returned:
            yield from _arrays(one)
    elif isinstance(returned, np.ndarray | np.generic | int | float):
        yield np.asarray(returned)
