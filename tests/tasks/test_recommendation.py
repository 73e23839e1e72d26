"""Hit rate and discounted gain of recommendations, and what has neither."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from framewatt.datasets import synthetic_ratings
from framewatt.datasets.contract import Arrays
from framewatt.tasks import TASKS

TASK = TASKS["recommendation"]


@pytest.fixture(scope="module")
def data() -> Arrays:
    return synthetic_ratings.make(
        users=40, items=150, tastes=3, ratings_per_user=10, negatives=1, candidates=100, seed=1
    )


def test_a_model_that_knows_hits_always_and_one_that_is_wrong_never(data: Arrays) -> None:
    right, wrong = data.y_test.astype(np.float32), -data.y_test.astype(np.float32)
    assert TASK.judge(right[:, None], data).values == {"hit_rate_10": 1, "ndcg_10": 1}
    assert TASK.judge(wrong[:, None], data).values == {"hit_rate_10": 0, "ndcg_10": 0}


def test_a_model_that_scores_all_alike_hits_nobody(data: Arrays) -> None:
    assert TASK.judge(np.ones((len(data.y_test), 1)), data).values == {"hit_rate_10": 0, "ndcg_10": 0}


@pytest.mark.parametrize(("candidates", "judged"), [(1, False), (9, False), (19, False), (20, True)])
def test_of_few_candidates_nothing_is_told(candidates: int, judged: bool) -> None:
    """Among ten every model hits, and among twenty one that scores all alike."""
    few = synthetic_ratings.make(
        users=20, items=90, tastes=2, ratings_per_user=5, negatives=1, candidates=candidates, seed=1
    )
    found = TASK.judge(np.ones((len(few.y_test), 1)), few)
    assert found.values["hit_rate_10"] == (0 if judged else None)
    assert (
        judged or found.unknown == f"{candidates + 1} candidates a user; allowed: more than 20, of which 10 are shown"
    )


def test_random_scores_hit_by_chance(data: Arrays) -> None:
    draw = np.random.default_rng(0)
    rates = [TASK.judge(draw.normal(size=(len(data.y_test), 1)), data).values["hit_rate_10"] for _ in range(200)]
    assert np.mean(rates) == pytest.approx(10 / 101, abs=4 * np.std(rates) / np.sqrt(200))


def test_the_gain_is_that_of_scikit_learn(data: Arrays) -> None:
    scores = np.random.default_rng(2).normal(size=(40, 101)) + 2 * data.y_test.reshape(40, 101)
    found = TASK.judge(scores.reshape(-1, 1), data)
    assert found.values["ndcg_10"] == pytest.approx(ndcg_score(data.y_test.reshape(40, 101), scores, k=10))
    assert found.right is not None
    assert found.values["hit_rate_10"] == TASK.recount(found.right) == found.right.mean()
    assert len(found.right) == 40


def test_ten_candidates_of_each_user_are_shown(data: Arrays) -> None:
    scores = np.random.default_rng(2).normal(size=(len(data.y_test), 1))
    shown = TASK.predictions(scores, data)
    assert shown is not None
    assert shown.reshape(40, 101).sum(axis=1).tolist() == [10] * 40
    assert scores[shown].reshape(40, 10).min(axis=1).tolist() == np.sort(scores.reshape(40, 101))[:, -10].tolist()


@pytest.mark.parametrize("shape", [(4040, 2), (4039, 1), (40, 101)])
def test_outputs_of_another_shape_are_not_judged(data: Arrays, shape: tuple[int, ...]) -> None:
    judged = TASK.judge(np.zeros(shape), data)
    assert judged.values == {"hit_rate_10": None, "ndcg_10": None}
    assert judged.unknown == f"outputs of shape {shape} are not one score a pair"
    assert TASK.predictions(np.zeros(shape), data) is None


def test_scores_that_are_no_numbers_are_not_judged(data: Arrays) -> None:
    scores = np.zeros((len(data.y_test), 1))
    scores[7] = np.nan
    assert TASK.judge(scores, data).unknown == "outputs are not numbers"


def test_answers_are_one_a_user(data: Arrays) -> None:
    assert TASK.answers_in({"test_samples": 4040, "test_samples_per_class": [4000, 40]}) == 40
