"""Where the item that a user chose stands among the candidates of a test set of rankings."""

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
    raise FramewattError("data set: found candidates in no order; allowed: user by user, as many of each, one chosen")


def ranks_of(scores: NDArray[Any], data: UserItems) -> NDArray[np.float64]:
    """The rank of each user's chosen item, from 0 for the highest score.

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
