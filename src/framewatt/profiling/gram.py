"""Products of a sparse matrix's columns, summed over its rows with many sets of weights, one after the other."""

import numpy as np
from scipy.sparse import csr_matrix

from framewatt.profiling.timeline import Floats

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
