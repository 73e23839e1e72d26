"""Ratings as a data set for recommendation: pairs to learn from, and each user's last item among candidates.

Source of the protocol (leave one out, negatives drawn): X. He et al., Neural Collaborative Filtering, WWW 2017.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import UserItems

SHOWN = 10
"""Items that a user is shown: what HR@10 and NDCG@10 count."""


def candidates_of(data: UserItems) -> tuple[int, int]:
    """Users of the test set, and candidates of each: they follow each other, as many of each, one of them chosen.

    Raises:
        FramewattError: they do not.
    """
    users = int(data.y_test.sum())
    each = len(data.y_test) // users if users else 0
    if users and users * each == len(data.y_test):
        chosen = data.y_test.reshape(users, each).sum(axis=1)
        owners = data.x_test[:, 0].reshape(users, each)
        if (chosen == 1).all() and (owners == owners[:, :1]).all():
            return users, each
    raise FramewattError("data set: candidates are in no order. Use them user by user, as many of each, one chosen.")


def ranks_of(scores: NDArray[Any], data: UserItems) -> NDArray[np.float64]:
    """Return the rank of each user's chosen item, from 0 for the highest score.

    Of candidates with the chosen one's score, half count as higher: a model that scores all alike ranks it in the
    middle, and not first or last ("realistic rank", M. Berrendorf et al., On the Ambiguity of Rank-Based Evaluation of
    Entity Alignment and Link Prediction Methods, 2020).

    Args:
        scores: of every candidate, shape (m,), in the order of the test set.
        data: the data set.

    Returns:
        shape (users,).

    Raises:
        FramewattError: see `candidates_of`.
    """
    shape = candidates_of(data)
    each, chosen = scores.reshape(shape), data.y_test.reshape(shape).astype(bool)
    reached = each[chosen][:, None]
    higher: NDArray[np.int64] = (each > reached).sum(axis=1)
    # The chosen one itself is among those that are equal.
    ranks: NDArray[np.float64] = higher + ((each == reached).sum(axis=1) - 1) / 2
    return ranks


def top(scores: NDArray[Any], data: UserItems, count: int) -> NDArray[np.bool_]:
    """Which candidates a user is shown: the `count` of highest score, earlier ones first where scores are equal.

    Returns:
        shape (m,), in the order of the test set.
    """
    each = scores.reshape(candidates_of(data))
    order = np.argsort(-each, axis=1, kind="stable")[:, :count]
    shown = np.zeros(each.shape, np.bool_)
    np.put_along_axis(shown, order, True, axis=1)
    return shown.reshape(-1)


Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """Who rated what, in the order of a file.

    Attributes:
        users: shape (n,), int64, any numbers.
        items: the same.
        times: the same, in any unit.
    """

    users: Ids
    items: Ids
    times: Ids


def leave_one_out(
    ratings: Ratings, *, fewest_ratings: int, negatives: int, candidates: int, seed: int, about: Mapping[str, Any]
) -> UserItems:
    """Return the last item of each user to be found among items that the user never rated; all others to learn from.

    Stars are not looked at: whatever was rated was chosen. Of an item that a user rated more than once the first rating
    counts. Negatives are drawn once, so that every framework learns from the same ones. Those to learn from are drawn
    from all that the user did not rate before the last item: were that one left out, too, a model could tell it by its
    never having been a negative.

    Args:
        ratings: at least one user's.
        fewest_ratings: users with fewer are left out, and counted in the record; at least 2.
        negatives: pairs (user, item not rated) a rating.
        candidates: items that are ranked next to the chosen one, without repeats.
        seed: of all draws.
        about: what the data record states beyond this.

    Returns:
        Pairs (user, item) numbered from 0, shape (n, 2), int64; labels 1 of ratings and 0 of negatives.

    Raises:
        FramewattError: too few ratings are wanted, no user has enough, or a user has rated too many items.
    """
    if fewest_ratings < 2:
        raise FramewattError(f"fewest_ratings: {fewest_ratings} is too small. Use 2 or more: one is for the test.")
    rows, counted = _with_enough_ratings(ratings, fewest_ratings)
    users, user = np.unique(ratings.users[rows], return_inverse=True)
    items, item = np.unique(ratings.items[rows], return_inverse=True)
    sizes = (len(users), len(items))
    rated = np.bincount(user, minlength=sizes[0])
    if sizes[1] - rated.max() < candidates:
        raise FramewattError(
            f"candidates: {candidates} are too many: a user rated all but {sizes[1] - rated.max()} items. "
            "Use at most as many."
        )
    last = np.append(user[1:] != user[:-1], True)
    draw = np.random.default_rng(seed)
    learnt = np.column_stack([user[~last], item[~last]])
    chosen = np.column_stack([user[last], item[last]])
    known = _keys(learnt, sizes[1])
    owners = np.repeat(learnt[:, 0], negatives)
    others = _not_in(known, owners, sizes[1], draw)
    ranked = _distinct(np.union1d(known, _keys(chosen, sizes[1])), sizes, candidates, draw)
    each = candidates + 1
    tested = np.column_stack([chosen[:, 1], ranked]).reshape(-1)
    arrays = UserItems(
        np.concatenate([learnt, np.column_stack([owners, others])]),
        np.repeat([1, 0], [len(learnt), len(owners)]),
        np.column_stack([np.repeat(np.arange(sizes[0]), each), tested]),
        np.tile(np.arange(each) == 0, sizes[0]).astype(np.int64),
        class_count=2,
        task="recommendation",
        categories=sizes,
    )
    details = {"users": sizes[0], "items": sizes[1], "ratings": len(user), **counted, **_by_popularity(arrays)}
    return replace(arrays, about={**about, **details})


def _with_enough_ratings(ratings: Ratings, fewest: int) -> tuple[Ids, dict[str, int]]:
    """Return the rows of users with enough ratings, by user and time, without repeats; and how many were left out."""
    order = np.lexsort((np.arange(len(ratings.users)), ratings.times, ratings.users))
    pairs = np.column_stack([ratings.users[order], ratings.items[order]])
    _, first = np.unique(pairs, axis=0, return_index=True)
    once = order[np.sort(first)]
    users, place, count = np.unique(ratings.users[once], return_inverse=True, return_counts=True)
    enough = count >= fewest
    if not enough.any():
        raise FramewattError(f"ratings: all {len(users)} users have fewer than {fewest}. Use one or more with as many.")
    counted = {"repeated_ratings": len(order) - len(once), "users_left_out": int((~enough).sum())}
    return once[enough[place]], counted


def _keys(pairs: Ids, items: int) -> Ids:
    """Pairs as numbers, sorted."""
    keys: Ids = np.sort(pairs[:, 0] * items + pairs[:, 1])
    return keys


def _are_in(keys: Ids, wanted: Ids) -> NDArray[np.bool_]:
    """Which numbers are among sorted ones."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    present: NDArray[np.bool_] = keys[places] == wanted
    return present


def _not_in(known: Ids, users: Ids, items: int, draw: np.random.Generator) -> Ids:
    """For each user an item that makes no known pair; a user may get one twice."""
    drawn: Ids = draw.integers(items, size=len(users))
    wrong = np.flatnonzero(_are_in(known, users * items + drawn))
    while len(wrong):
        drawn[wrong] = draw.integers(items, size=len(wrong))
        wrong = wrong[_are_in(known, users[wrong] * items + drawn[wrong])]
    return drawn


def _distinct(known: Ids, sizes: tuple[int, int], count: int, draw: np.random.Generator) -> Ids:
    """For each user `count` different items that make no known pair, shape (users, count)."""
    users, items = sizes
    owners = np.repeat(np.arange(users), count)
    drawn = _not_in(known, owners, items, draw)
    while True:
        keys = owners * items + drawn
        _, first = np.unique(keys, return_index=True)
        again = np.setdiff1d(np.arange(len(keys)), first)
        if not len(again):
            return drawn.reshape(users, count)
        drawn[again] = _not_in(known, owners[again], items, draw)


def _by_popularity(arrays: UserItems) -> dict[str, float]:
    """Return what a ranking by how often an item is rated reaches: a model that has learnt of users ranks better."""
    ratings = arrays.x_train[arrays.y_train == 1]
    popular = np.bincount(ratings[:, 1], minlength=arrays.categories[1])
    ranks = ranks_of(popular[arrays.x_test[:, 1]], arrays)
    return {"popularity_hit_rate_10": float((ranks < SHOWN).mean())}
