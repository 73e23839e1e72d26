"""What ran in the intervals of a meter, for the model of powers, also where several operators ran at once.

A *set* is what runs at once: two calls of `a` and one of `b`, say. What a machine draws for it need not be the sum of
what it draws for each: see framewatt.profiling.powers.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, hstack

from framewatt.profiling.timeline import Floats, Timeline

_BRIEF = 0.003
"""A set that ran for less than this share of a window is brief; so is all that ran at once in it, and is left out."""

_LEVELS = (2, 3, 4)
"""How many calls run at once; sets of more are with those of the last."""

_REQUESTED_UNLIKE, _REQUESTED_UNKNOWN = 0.1, 0.5
"""Relative standard uncertainty of the power that a kind requests while others run, compared with what it draws alone;
and the same where no reading shows it."""

_WHOLE = 0.9
"""Share of an interval, or of a window, from which on it is one of operators at once."""

_MOVES, _MOVES_MIXED = 0.01, 0.05
"""Least relative standard deviation of power in such intervals at which it counts as following what runs.

The second number is for windows where hardly any interval has a single set, so that only a fit can separate the powers
of sets. In `make simulate`, with a 100 ms meter, the power of machines with three streams follows by 6.5 to 19 %
without a limit, and by 0.4 to 4.4 % at a limit that they reach most of the time."""

_PURE = 0.25
"""Share of such intervals with a single set from which on they show what sets draw."""

_LEAST_SHARE = 0.02
"""A kind with less power than this share of the largest power gets joules as if it had that much."""

_OWN, _LEVEL = -1, -2
"""These stand instead of the kind of a column that belongs to no kind."""


@dataclass(frozen=True)
class Shared:
    """What kinds get of the joules of sets.

    Attributes:
        energy_j: (kinds,).
        by_kind: (kinds, kinds), joules for a watt of each kind's power.
        by_column: (kinds, c), joules for a watt of each column.
        covariance: (kinds, kinds), of what the readings do not show: what brief sets draw, and which kind requested it.
    """

    energy_j: Floats
    by_kind: Floats
    by_column: Floats
    covariance: Floats


@dataclass(frozen=True)
class Overlaps:
    """Sets of operators that ran at once.

    What a set draws on top of the powers of its kinds is the sum of its columns: one for how many run, one for each
    kind next to that many, and its own if it is not brief.

    Attributes:
        seconds: (k, sets), of each set in each interval.
        calls: (sets, kinds), how many of each kind are in it.
        brief: (sets,), which are brief.
        of: (sets, c), how many times each column is drawn in it.
        column_kind: (c,), the kind of a column; below 0 where it is of none.
    """

    seconds: csr_matrix
    calls: csr_matrix
    brief: NDArray[np.bool_]
    of: csr_matrix
    column_kind: NDArray[np.int64]

    @property
    def column_level(self) -> NDArray[np.bool_]:
        """(c,), which columns are those of how many run."""
        levels: NDArray[np.bool_] = self.column_kind == _LEVEL
        return levels

    @property
    def columns(self) -> csr_matrix:
        """(k, c), seconds of each column in each interval."""
        return csr_matrix(self.seconds @ self.of)

    @cached_property
    def seconds_of_kinds(self) -> Floats:
        """(kinds,), seconds of each kind while others ran."""
        seconds: Floats = self.calls.T @ _sums(self.seconds, 0)
        return seconds

    @cached_property
    def brief_s2(self) -> Floats:
        """(k,), sum of squared seconds of brief sets in each interval."""
        return _sums(self.seconds[:, self.brief].power(2), 1)

    @classmethod
    def from_timeline(cls, line: Timeline, edges_s: Floats) -> "Overlaps | None":
        """Return the sets of two and more operators; None if they are brief together.

        Args:
            line: the operators, cut to the intervals' window.
            edges_s: (k + 1,), ascending.
        """
        start_s, end_s, level, mark = _together(line)
        least_s = _BRIEF * (edges_s[-1] - edges_s[0])
        if (end_s - start_s).sum() < least_s:
            return None
        _, first, which = np.unique(mark, return_index=True, return_inverse=True)
        in_set = csr_matrix((np.ones(len(which)), (range(len(which)), which)))
        seconds = csr_matrix(seconds_in(edges_s, start_s, end_s) @ in_set)
        calls = _calls(line, start_s[first])
        brief = _sums(seconds, 0) < least_s
        return cls(seconds, calls, brief, *_columns(calls, brief, np.clip(level[first], _LEVELS[0], _LEVELS[-1])))

    def still_w(self, length_s: Floats, energy_j: Floats) -> float:
        """Return the power of a machine that draws the same whatever runs at once, as at its limit; else 0.

        It is also 0 where operators often run alone, since the readings then show what each draws.

        Args:
            length_s: (k,), of each interval.
            energy_j: (k,), in each.
        """
        together_s = _sums(self.seconds, 1)
        whole = together_s >= _WHOLE * length_s
        if together_s.sum() < _WHOLE * length_s.sum() or not whole.any():
            return 0.0
        drawn_w, lasts_s = energy_j[whole] / length_s[whole], length_s[whole]
        ran = np.column_stack((np.ones(len(drawn_w)), (self.seconds[whole] @ self.calls).toarray() / lasts_s[:, None]))
        fitted_w = ran @ np.linalg.lstsq(ran, drawn_w, rcond=None)[0]
        # Readings fluctuate by themselves, and a fit follows that a little: only what it follows beyond is movement.
        by_chance = (ran.shape[1] - 1) / max(len(drawn_w) - ran.shape[1], 1)
        moved_w2 = fitted_w.var() - by_chance * (drawn_w - fitted_w).var()
        of_one_s = self.seconds[whole].max(axis=1).toarray().ravel()
        moves = _MOVES if (of_one_s >= _WHOLE * lasts_s).mean() >= _PURE else _MOVES_MIXED
        return float(drawn_w.mean()) if moved_w2 < (moves * drawn_w.mean()) ** 2 else 0.0

    def shared(self, kind_w: Floats, column_w: Floats, spread_w: float, still_w: float = 0.0) -> Shared:
        """Return the joules of the sets, shared in proportion to what kinds draw alone.

        Args:
            kind_w: (kinds,), powers of kinds.
            column_w: (c,), of columns.
            spread_w: how much sets differ.
            still_w: from the method of that name; above 0, readings do not show what a kind requests.
        """
        request_w = np.maximum(kind_w, max(_LEAST_SHARE * kind_w.max(), 1e-9))
        requested_w = self.calls @ request_w
        share = csr_matrix(diags(1 / requested_w) @ self.calls @ diags(request_w))
        lasts_s = _sums(self.seconds, 0)
        more_j = lasts_s * (self.of @ column_w)
        energy_j = lasts_s * (self.calls @ kind_w) + more_j
        # Of a machine that is still, all that it draws may be the floor's, or theirs.
        unlike_j = lasts_s * still_w if still_w else more_j
        unlike = (
            (_REQUESTED_UNKNOWN if still_w else _REQUESTED_UNLIKE)
            * self._per_requested_watt(share, unlike_j / requested_w)
            * request_w
        )
        brief_j = np.where(self.brief, lasts_s * spread_w, 0.0)
        return Shared(
            share.T @ energy_j,
            self._per_requested_watt(share, energy_j / requested_w) * (kind_w >= request_w)
            + (share.T @ diags(lasts_s) @ self.calls).toarray(),
            (share.T @ diags(lasts_s) @ self.of).toarray(),
            (share.T @ diags(brief_j**2) @ share).toarray() + unlike @ unlike.T,
        )

    def _per_requested_watt(self, share: csr_matrix, per_s: Floats) -> Floats:
        """(kinds, kinds), additional joules that a kind gets for each additional watt that a kind requests."""
        joules: Floats = np.diag(self.calls.T @ per_s) - (share.T @ diags(per_s) @ self.calls).toarray()
        return joules


def seconds_in(edges_s: Floats, start_s: Floats, end_s: Floats) -> csr_matrix:
    """(k, n), seconds of n spans in each interval.

    Args:
        edges_s: (k + 1,), ascending.
        start_s: (n,), within them.
        end_s: (n,), likewise.
    """
    first = np.searchsorted(edges_s, start_s, side="right") - 1
    last = np.searchsorted(edges_s, end_s, side="left") - 1
    count = last - first + 1
    span = np.repeat(np.arange(len(start_s)), count)
    interval = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    seconds = np.minimum(end_s[span], edges_s[interval + 1]) - np.maximum(start_s[span], edges_s[interval])
    return csr_matrix((seconds, (interval, span)), (len(edges_s) - 1, len(start_s)))


def _sums(matrix: csr_matrix, axis: int) -> Floats:
    sums: Floats = np.asarray(matrix.sum(axis=axis)).ravel()
    return sums


def _together(line: Timeline) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.uint64]]:
    """Return the spans with two and more operators: start, end, how many, and a number that identifies the set."""
    at_s = np.unique(np.concatenate((line.start_s, line.end_s)))
    start, end = np.searchsorted(at_s, line.start_s), np.searchsorted(at_s, line.end_s)
    level = np.cumsum(np.bincount(start, minlength=len(at_s)) - np.bincount(end, minlength=len(at_s)))
    # A sum of numbers drawn for the kinds: two sets have the same one in 2**64 cases.
    drawn = np.random.default_rng(0).integers(0, 2**64, len(line.kinds), dtype=np.uint64)
    change = np.zeros(len(at_s), np.uint64)
    np.add.at(change, start, drawn[line.kind])
    np.subtract.at(change, end, drawn[line.kind])
    mark = np.cumsum(change, dtype=np.uint64)
    several = np.flatnonzero(level > 1)
    return at_s[several], at_s[several + 1], level[several], mark[several]


def _calls(line: Timeline, at_s: Floats) -> csr_matrix:
    """(times, kinds), how many operators of each kind run from some times on."""
    columns = []
    for kind in range(len(line.kinds)):
        of_kind = line.kind == kind
        started, over = (
            np.searchsorted(np.sort(edge[of_kind]), at_s, side="right") for edge in (line.start_s, line.end_s)
        )
        columns.append(csr_matrix((started - over).astype(np.float64)[:, None]))
    return csr_matrix(hstack(columns))


def _columns(
    calls: csr_matrix, brief: NDArray[np.bool_], level: NDArray[np.int64]
) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Return which columns sets have, and the kind of each column."""
    sets, kinds = calls.shape
    parts, of_kind = [], []
    for one in _LEVELS:
        here = (level == one).astype(np.float64)
        parts += [csr_matrix(here[:, None]), diags(here) @ calls]
        of_kind += [_LEVEL, *range(kinds)]
    own = np.flatnonzero(~brief)
    parts.append(csr_matrix((np.ones(len(own)), (own, range(len(own)))), (sets, len(own))))
    of_kind += [_OWN] * len(own)
    every = csr_matrix(hstack(parts))
    drawn = np.flatnonzero(_sums(every, 0))
    return csr_matrix(every[:, drawn]), np.array(of_kind)[drawn]


_MOST_PRODUCTS = 20_000_000
"""Most products of two entries of a row that are stored, in 240 MB. With more, rows are multiplied each time."""


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
        symmetric: Floats = upper + np.triu(upper, 1).T
        return symmetric


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
        """(k, 1 + kinds + c), seconds of the floor, of each kind, and of what sets draw more (Overlaps)."""
        plain = csr_matrix(np.column_stack((self.length_s, self.ran_s)))
        return plain if self.overlaps is None else csr_matrix(hstack((plain, self.overlaps.columns)))

    def adding(self) -> "Design":
        """Return the same design, as if powers added."""
        return replace(self, overlaps=None)

    @classmethod
    def from_timeline(cls, line: Timeline, edges_s: Floats) -> "Design":
        """Return the design of operators that are cut to the intervals' window.

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
            Overlaps.from_timeline(line, edges_s),
        )
