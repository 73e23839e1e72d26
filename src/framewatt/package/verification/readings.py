"""Traces that are another run's: the same readings at the same distances."""

import hashlib
from collections.abc import Iterator

import numpy as np

from framewatt.meters.trace import Readings

_FEW = 50
"""Readings below which two runs may have the same by chance."""


class Seen:
    """The traces that were seen so far."""

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}

    def problems(self, trace: Readings, where: str) -> Iterator[str]:
        """Says so where the readings of a trace, and their distances in time, are all those of one seen before.

        Args:
            trace: of a run.
            where: which run.
        """
        count, held = 0, hashlib.sha256()
        for index in range(len(trace.channels)):
            time_ns, value = trace.of(index)
            count += len(value)
            held.update(np.diff(np.nan_to_num(value, nan=-1.0)).round(6).tobytes())
            held.update(np.diff(time_ns).tobytes())
        if count < _FEW:
            return
        digest = held.hexdigest()
        if digest in self._runs:
            yield f"{where}: its trace holds the readings of {self._runs[digest]}"
        self._runs.setdefault(digest, where)
