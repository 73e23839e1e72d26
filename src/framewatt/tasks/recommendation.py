"""Recommendation: which of some items a user chose last. Numpy only, see classification.

Source of the protocol and of both metrics: X. He et al., Neural Collaborative Filtering, WWW 2017.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays, UserItems
from framewatt.datasets.ratings import SHOWN, candidates_of, ranks_of, top
from framewatt.tasks.contract import NOT_NUMBERS, Judged, Metric, Outputs, Task

METRICS = (Metric("hit_rate_10", "HR@10"), Metric("ndcg_10", "NDCG@10"))
"""The share of users to whom their item is shown; the mean of ln 2 / ln (rank + 2), 0 for users to whom it is not."""


class Recommendation(Task):
    """A score for every pair of a user and an item, shape (n, 1); only its order among a user's candidates counts."""

    name = "recommendation"
    unit = "pair"
    metrics = METRICS
    kinds = (UserItems,)

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """Return the number of users: each has one chosen item among the candidates."""
        return int(data["test_samples_per_class"][1])

    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[np.bool_] | None:
        """Return which candidates each user is shown, shape (m,), bool."""
        assert isinstance(data, UserItems)
        scores = _scores(outputs, data)
        return None if scores is None else top(scores, data, SHOWN)

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return hit rate and discounted gain; NaN scores give no order."""
        assert isinstance(data, UserItems)
        scores = _scores(outputs, data)
        if scores is None:
            return self.unjudged(f"outputs of shape {outputs.shape} are not one score a pair")
        if not np.isfinite(scores).all():
            return self.unjudged(NOT_NUMBERS)
        if (each := candidates_of(data)[1]) <= 2 * SHOWN:
            # The middle of these is among the ten: a model that scores all alike would always hit.
            return self.unjudged(
                f"{each} candidates a user; allowed: more than {2 * SHOWN}, of which {SHOWN} are shown"
            )
        ranks = ranks_of(scores, data)
        hit = ranks < SHOWN
        gains = np.where(hit, np.log(2) / np.log(ranks + 2), 0.0)
        return Judged(dict(zip(self.names, (self.recount(hit), float(gains.mean())), strict=True)), None, hit)

    def recount(self, right: NDArray[np.bool_]) -> float:
        """Return the share of users to whom the chosen item is shown."""
        return float(np.mean(right))

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which metrics are unknown."""
        shape = r"outputs of shape \([\d, ]+\) are not one score a pair"
        return rf"{NOT_NUMBERS}|{shape}|\d+ candidates a user; allowed: more than \d+, .*"


def _scores(outputs: Outputs, data: Arrays) -> NDArray[Any] | None:
    return outputs.reshape(-1) if outputs.shape in ((len(data.y_test), 1), (len(data.y_test),)) else None
