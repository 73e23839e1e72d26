"""When operators ran: their spans on one clock, and for how long each kind was active in the intervals of a meter."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    """The operators of a window, on any number of threads or streams.

    Attributes:
        kinds: names of the kinds of operators.
        kind: (n,), the kind of each operator, by its place in `kinds`.
        start_s, end_s: (n,), seconds.
    """

    kinds: tuple[str, ...]
    kind: NDArray[np.int64]
    start_s: Floats
    end_s: Floats

    def within(self, begin_s: float, end_s: float) -> "Timeline":
        """The same, cut to a window; what lies outside is gone."""
        start, end = np.clip(self.start_s, begin_s, end_s), np.clip(self.end_s, begin_s, end_s)
        kept = end > start
        return Timeline(self.kinds, self.kind[kept], start[kept], end[kept])

    @cached_property
    def calls(self) -> NDArray[np.int64]:
        """(kinds,), how many operators of each kind there are."""
        return np.bincount(self.kind, minlength=len(self.kinds))

    @cached_property
    def seconds(self) -> Floats:
        """(kinds,), seconds of each kind; of two at once, both count."""
        found: Floats = np.bincount(self.kind, self.end_s - self.start_s, len(self.kinds)).astype(np.float64)
        return found

    def active(self, edges_s: Floats) -> Floats:
        """Seconds of each kind between edges; of two at once, both count.

        Args:
            edges_s: (k + 1,), ascending.

        Returns:
            (k, kinds).
        """
        found = np.empty((len(edges_s) - 1, len(self.kinds)))
        for place in range(len(self.kinds)):
            of_kind = self.kind == place
            found[:, place] = np.diff(_before(self.start_s[of_kind], edges_s) - _before(self.end_s[of_kind], edges_s))
        return found

    @cached_property
    def shares_s(self) -> Floats:
        """(kinds,), seconds of each kind, where those that run at once share a second equally.

        Together they are the time in which anything runs.
        """
        if not len(self.kind):
            return np.zeros(len(self.kinds))
        at = np.unique(np.concatenate((self.start_s, self.end_s)))
        change = np.zeros(len(at))
        np.add.at(change, np.searchsorted(at, self.start_s), 1)
        np.add.at(change, np.searchsorted(at, self.end_s), -1)
        running = np.cumsum(change)[:-1]
        each = np.where(running > 0, np.diff(at) / np.maximum(running, 1), 0.0)
        gone = np.concatenate(([0.0], np.cumsum(each)))
        share = gone[np.searchsorted(at, self.end_s)] - gone[np.searchsorted(at, self.start_s)]
        found: Floats = np.bincount(self.kind, share, len(self.kinds)).astype(np.float64)
        return found


def _before(starts_s: Floats, edges_s: Floats) -> Floats:
    """Seconds since each of some starts that are over at each edge, together: sum of max(edge - start, 0)."""
    ordered = np.sort(starts_s)
    total = np.concatenate(([0.0], np.cumsum(ordered)))
    count = np.searchsorted(ordered, edges_s)
    found: Floats = count * edges_s - total[count]
    return found
