"""Reads pickles of containers, text, numbers and arrays of numbers only; anything else is refused.

Unpickling can call any function that the file names. Here the few names that such files need are mapped to functions of
this module, which only make arrays of numbers.
"""

import pickle  # restricted below
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError

_NUMBER_TYPE = re.compile(r"[<>|=]?[biuf][1248]")
_EMPTY_ARRAY: Any = np.empty(0).__reduce__()[0]
"""numpy's own function for the empty array that a pickle then fills."""


def read_plain_pickle(path: Path) -> Any:
    """Read a pickle of containers, text, numbers and arrays of numbers, without calling functions that it names.

    Text of Python 2 comes as bytes.

    Raises:
        FramewattError: the file is truncated or damaged, or names anything else.
    """
    with path.open("rb") as file:
        try:
            return _PlainUnpickler(file, encoding="bytes").load()
        except FramewattError as error:
            raise FramewattError(f"{path}: {error}") from error
        except Exception as error:  # a damaged pickle may fail in any way
            raise FramewattError(
                f"{path}: found no whole pickle ({type(error).__name__}: {error}); "
                "allowed: the original file; get it again"
            ) from error


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """The replacement for a name in the file."""
        try:
            return _NAMES[module, name]
        except KeyError:
            raise FramewattError(
                f"found {module}.{name} in a pickle; "
                "allowed: containers, text and arrays of numbers; get the file again"
            ) from None


def _array(_subtype: object, _shape: object, _typecode: object) -> NDArray[Any]:
    """An empty array; its state follows in the file."""
    array: NDArray[Any] = _EMPTY_ARRAY(np.ndarray, (0,), b"b")
    return array


def _number_type(name: str | bytes, align: object = False, copy: object = True) -> np.dtype[Any]:
    """A numeric dtype; an array of objects could hold anything."""
    text = name.decode("ascii") if isinstance(name, bytes) else name
    if not _NUMBER_TYPE.fullmatch(text):
        raise FramewattError(f"found an array of {text!r} in a pickle; allowed: numbers; get the file again")
    return np.dtype(text, bool(align), bool(copy))


def _bytes(text: str, encoding: str) -> bytes:
    """How protocol 2 writes the bytes of Python 3."""
    return text.encode(encoding)


_NAMES: Mapping[tuple[str, str], Callable[..., Any] | None] = {
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy._core.multiarray", "_reconstruct"): _array,
    ("numpy", "ndarray"): None,  # named only as the first argument of `_reconstruct`
    ("numpy", "dtype"): _number_type,
    ("_codecs", "encode"): _bytes,
}
