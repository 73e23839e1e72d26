"""What ran in the intervals of a meter, as the model of powers needs it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from framewatt.profiling.overlaps import Overlaps, seconds_in
from framewatt.profiling.timeline import Floats, Timeline


@dataclass(frozen=True)
class Design:
    """What ran in the intervals of a meter.

    Attributes:
        length_s: (k,), of each interval.
        ran_s: (k, kinds), seconds of each kind in it.
        long_s: (k, l), seconds of each call that is longer than an interval.
        long_at: (l,), its place among the calls.
        long_kind: (l,), its kind.
        short_s2: (k, kinds), sum of squared seconds of shorter calls.
        overlaps: what ran at once; none where nothing did.
    """

    length_s: Floats
    ran_s: Floats
    long_s: csr_matrix
    long_at: NDArray[np.int64]
    long_kind: NDArray[np.int64]
    short_s2: Floats
    overlaps: Overlaps | None

    @property
    def kinds(self) -> int:
        """How many kinds have a power."""
        return int(self.ran_s.shape[1])

    @property
    def columns(self) -> csr_matrix:
        """(k, 1 + kinds + c), seconds of the floor, of each kind, and of what is drawn beside others (Overlaps)."""
        plain = csr_matrix(np.column_stack((self.length_s, self.ran_s)))
        return plain if self.overlaps is None else csr_matrix(hstack((plain, self.overlaps.columns)))

    def adding(self) -> "Design":
        """The same, as if powers added."""
        return replace(self, overlaps=None)

    @classmethod
    def of(cls, line: Timeline, edges_s: Floats) -> "Design":
        """The design of operators that are cut to the intervals' window.

        Args:
            line: the operators.
            edges_s: (k + 1,), ascending.
        """
        length_s = np.diff(edges_s)
        long = line.end_s - line.start_s > np.median(length_s)
        seconds = seconds_in(edges_s, line.start_s[long], line.end_s[long])
        short = seconds_in(edges_s, line.start_s[~long], line.end_s[~long])
        of_kind = csr_matrix(
            (np.ones(short.shape[1]), (np.arange(short.shape[1]), line.kind[~long])),
            (short.shape[1], len(line.kinds)),
        )
        return cls(
            length_s,
            line.active(edges_s),
            seconds,
            np.flatnonzero(long),
            line.kind[long],
            (short.power(2) @ of_kind).toarray(),
            Overlaps.of_line(line, edges_s),
        )
