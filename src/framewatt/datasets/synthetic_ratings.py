"""Ratings by tastes that are drawn: they can be learnt, and say nothing of any real user.

Their names in config/datasets.yaml must begin with `synthetic`, so that every table and figure shows what they are.
"""

from typing import Annotated

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import UserItems
from framewatt.datasets.options import Limits, Positive, Seed
from framewatt.datasets.ratings import Ratings, leave_one_out
from framewatt.datasets.record import about

_LIKED = 20.0
"""How much likelier a user rates an item of their own taste than another of the same popularity, as a factor."""


def make(
    *,
    users: Positive,
    items: Positive,
    tastes: Positive,
    ratings_per_user: Annotated[int, Limits(2)],
    negatives: Positive,
    candidates: Positive,
    seed: Seed,
) -> UserItems:
    """Every user and item has one of some tastes; users rate items of their own taste more often than others.

    Items differ in popularity, too (as 1 / rank), so that ranking by popularity is better than chance, and knowing the
    users better than that.

    Args:
        users: number of users.
        items: number of items; those that nobody rates are none.
        tastes: number of tastes.
        ratings_per_user: items that each user rates, without repeats, in a random order.
        negatives: see ratings.leave_one_out.
        candidates: see ratings.leave_one_out.
        seed: of all draws.

    Raises:
        FramewattError: users rate more items than there are; see leave_one_out.
    """
    if ratings_per_user > items:
        raise FramewattError(f"ratings_per_user: {ratings_per_user} is not possible. Use at most the {items} items.")
    draw = np.random.default_rng(seed)
    of_user, of_item = draw.integers(tastes, size=users), draw.integers(tastes, size=items)
    popularity = 1 / (1 + draw.permutation(items))
    weights = popularity * np.where(of_user[:, None] == of_item, _LIKED, 1.0)
    # The largest of log(weight) plus Gumbel noise are a weighted draw without repeats, in the order of the draw.
    noisy = np.log(weights) + draw.gumbel(size=weights.shape)
    rated = np.argsort(-noisy, axis=1)[:, :ratings_per_user]
    times = draw.permuted(np.tile(np.arange(ratings_per_user), (users, 1)), axis=1)
    ratings = Ratings(np.repeat(np.arange(users), ratings_per_user), rated.reshape(-1), times.reshape(-1))
    return leave_one_out(
        ratings,
        fewest_ratings=2,
        negatives=negatives,
        candidates=candidates,
        seed=seed,
        about=about(f"drawn ratings of {tastes} tastes", synthetic=True, seed=seed),
    )
