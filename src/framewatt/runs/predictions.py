"""Which test samples a run classified correctly, in a file next to its record: a header line, then one bit per sample.

The header holds the number of samples. Header and file size are checked on reading; nothing is executed or unpickled.
"""

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.study.records import Predictions

NAME = "right.bits"
"""Name of the file."""

_AGAIN = "Restore the file, or delete it and its record, and run again."

Answers = NDArray[np.bool_]
"""One bool per test sample, in the order of the data set."""


def as_bytes(right: Answers) -> bytes:
    """Content of the file: the header line, then eight samples per byte, the first one in the highest bit."""
    return _head(right.size) + np.packbits(right).tobytes()


def predictions_entry(right: Answers) -> Predictions:
    """Return the file's entry in the run record: `samples`, how many of them are correct, and the file's SHA-256."""
    digest = hashlib.sha256(as_bytes(right)).hexdigest()
    return {"samples": int(right.size), "right": int(right.sum()), "sha256": digest}


def read_right(path: Path, recorded: Predictions) -> Answers:
    """Read the predictions of a run.

    Args:
        path: the file.
        recorded: `predictions` of the run's record.

    Raises:
        FramewattError: the file is missing, is no plain file, or does not match the record.
    """
    content = _content_of(path, len(_head(recorded["samples"])) + -(-recorded["samples"] // 8))
    head = _head(recorded["samples"])
    if not content.startswith(head):
        raise FramewattError(f"{path}: the file does not start with {head.decode().strip()!r}. {_AGAIN}")
    if hashlib.sha256(content).hexdigest() != recorded["sha256"]:
        raise FramewattError(f"{path} was changed after its record was written (checksum differs). {_AGAIN}")
    bits = np.unpackbits(np.frombuffer(content, np.uint8, offset=len(head))).astype(bool)
    right, rest = bits[: recorded["samples"]], bits[recorded["samples"] :]
    if rest.any():
        raise FramewattError(f"{path}: there are bits after the last of {recorded['samples']} samples. {_AGAIN}")
    if int(right.sum()) != recorded["right"]:
        raise FramewattError(
            f"{path}: {int(right.sum())} right answers are not the recorded {recorded['right']}. {_AGAIN}"
        )
    return right


def _head(samples: int) -> bytes:
    return f"framewatt: right answers to {samples} samples\n".encode()


def _content_of(path: Path, size_b: int) -> bytes:
    """Content of a regular file of exactly this size; links are not followed."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise FramewattError(f"{path} cannot be opened: {error.strerror}. {_AGAIN}") from error
    try:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size != size_b:
            raise FramewattError(f"{path}: {facts.st_size} bytes are not a plain file of {size_b} bytes. {_AGAIN}")
        with os.fdopen(file, "rb", closefd=False) as opened:
            return opened.read(size_b)
    finally:
        os.close(file)
