"""Recommendation: which of some items a user chose last. Numpy only, see classification.

Source of the protocol and of both metrics: X. He et al., Neural Collaborative Filtering, WWW 2017.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.datasets.rankings import SHOWN, candidates_of, ranks_of, top
from framewatt.tasks.contract import Judged, Metric, Outputs, Task

METRICS = (Metric("hit_rate_10", "HR@10"), Metric("ndcg_10", "NDCG@10"))
"""The share of users to whom their item is shown; the mean of ln 2 / ln (rank + 2), 0 for users to whom it is not."""


class Recommendation(Task):
    """A score for every pair of a user and an item, shape (n, 1); only its order among a user's candidates counts."""

    name = "recommendation"
    unit = "pair"
    metrics = METRICS

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """One answer a user: each has one chosen item among the candidates."""
        return int(data["test_samples_per_class"][1])

    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[np.bool_] | None:
        """Which candidates each user is shown."""
        scores = _scores(outputs, data)
        return None if scores is None else top(scores, data, SHOWN)

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Hit rate and discounted gain; NaN scores are no order."""
        scores = _scores(outputs, data)
        if scores is None:
            return self.unjudged(f"outputs of shape {outputs.shape} are not one score a pair")
        if not np.isfinite(scores).all():
            return self.unjudged("outputs are not numbers")
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
        """The share of users to whom the chosen item is shown."""
        return float(np.mean(right))


def _scores(outputs: Outputs, data: Arrays) -> NDArray[Any] | None:
    return outputs.reshape(-1) if outputs.shape in ((len(data.y_test), 1), (len(data.y_test),)) else None
