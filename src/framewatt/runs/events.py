"""Starts and ends of windows, as the measured process writes them."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def is_primary(window: str) -> bool:
    """Return whether a run is measured by a window: by `steady` in inference, by each epoch in training."""
    return window == "steady" or window.startswith("epoch-")


class Events:
    """Starts and ends of windows, written as they happen so that those before a crash are kept.

    Args:
        file: a text file, open for appending, since other processes of the run may append to it.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.path = Path(file.name)

    def mark(self, window: str, edge: str, monotonic_ns: int) -> None:
        """Write an edge (`start` or `end`) of a window, at a timestamp that was read before."""
        self._file.write(json.dumps({"window": window, "edge": edge, "monotonic_ns": monotonic_ns}) + "\n")
        self._file.flush()

    @contextmanager
    def window(self, name: str) -> Iterator[None]:
        """Write the edges of a window around the body of the `with` statement."""
        self.mark(name, "start", time.monotonic_ns())
        yield
        self.mark(name, "end", time.monotonic_ns())
