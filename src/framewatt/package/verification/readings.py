"""Traces that are another run's: the same readings at the same distances."""

import hashlib
from collections.abc import Iterator

import numpy as np

from framewatt.meters.trace import Trace

_FEW = 50
"""Readings below which two runs may have the same by chance."""


class Seen:
    """The traces that were seen so far."""

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}

    def problems(self, trace: Trace, where: str) -> Iterator[str]:
        """Says so where the readings of a trace, and their distances in time, are all those of one seen before.

        Args:
            trace: of a run.
            where: which run.
        """
        if len(trace.value) < _FEW:
            return
        steps = np.diff(np.nan_to_num(np.asarray(trace.value, dtype=np.float64), nan=-1.0)).round(6)
        distances = np.diff(np.asarray(trace.monotonic_ns, dtype=np.int64))
        digest = hashlib.sha256(steps.tobytes() + distances.tobytes()).hexdigest()
        if digest in self._runs:
            yield f"{where}: its trace holds the readings of {self._runs[digest]}"
        self._runs.setdefault(digest, where)
