"""What ran in the intervals of a meter, as the model of powers needs it, and products of that sparse matrix."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from framewatt.profiling.overlaps import Overlaps, seconds_in
from framewatt.profiling.timeline import Floats, Timeline

_MOST_PRODUCTS = 20_000_000
"""So many products of two entries of a row are kept, in 240 MB; of more, rows are multiplied anew."""


class Gram:
    """Sums of products of columns.

    Args:
        columns: (k, c).
    """

    def __init__(self, columns: csr_matrix) -> None:
        self._columns, self._count = columns, columns.shape[1]
        entries = np.diff(columns.indptr).astype(np.int64)
        self._dense = columns.toarray() if (entries**2).sum() > _MOST_PRODUCTS else None
        if self._dense is None:
            self._keep(entries)

    def _keep(self, entries: np.ndarray) -> None:
        columns = self._columns
        row = np.repeat(np.arange(len(entries)), entries)
        # Each entry with each of its row, once.
        times = entries[row]
        one = np.repeat(np.arange(len(row)), times)
        other = np.arange(times.sum()) + np.repeat(columns.indptr[row] - np.cumsum(times) + times, times)
        once = columns.indices[one] <= columns.indices[other]
        one, other = one[once], other[once]
        place = columns.indices[one].astype(np.int64) * self._count + columns.indices[other]
        self._places, where = np.unique(place, return_inverse=True)
        product = columns.data[one] * columns.data[other]
        self._products = csr_matrix((product, (where, row[one])), (len(self._places), len(entries)))

    def weighted(self, weight: Floats) -> Floats:
        """(c, c), sum over rows of weight * column * column.

        Args:
            weight: (k,), of each row.
        """
        if self._dense is not None:
            full: Floats = (self._dense * weight[:, None]).T @ self._dense
            return full
        flat = np.zeros(self._count**2)
        flat[self._places] = self._products @ weight
        upper = flat.reshape(self._count, self._count)
        found: Floats = upper + np.triu(upper, 1).T
        return found


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
