"""Metrics of classification against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support, top_k_accuracy_score

from framewatt.datasets.contract import Images
from framewatt.tasks.classification import Classification, classification_metrics, top_error
from framewatt.tasks.contract import LOWER
from framewatt.tasks.quality import quality_of


def test_metrics_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    predicted, labels = rng.integers(0, 10, (2, 500))
    expected = precision_recall_fscore_support(labels, predicted, average="macro", zero_division=0)
    found = classification_metrics(predicted, labels)
    assert found["accuracy"] == pytest.approx(accuracy_score(labels, predicted))
    assert [found[name] for name in ("precision_macro", "recall_macro", "f1_macro")] == pytest.approx(expected[:3])


def test_by_hand() -> None:
    # predicted 0, 0, 1; true 0, 1, 1: class 0 has precision 1/2 and recall 1, class 1 precision 1 and recall 1/2.
    found = classification_metrics(np.array([0, 0, 1]), np.array([0, 1, 1]))
    expected = {"accuracy": 2 / 3, "precision_macro": 0.75, "recall_macro": 0.75, "f1_macro": 2 / 3}
    assert found == pytest.approx(expected)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit 3 labels"):
        classification_metrics(np.zeros(2, np.int64), np.zeros(3, np.int64))


def judged(scores: np.ndarray, labels: np.ndarray, classes: int) -> dict:
    """Quality of scores of a test set of images of one pixel."""
    pixels = np.zeros((len(labels), 1, 1, 1), np.float32)
    data = Images(pixels, labels, pixels, labels)
    assert data.classes == classes
    return quality_of(Classification().judge(scores, data))


def labels_of(classes: int, each: int = 20) -> np.ndarray:
    return np.repeat(np.arange(classes), each)


def test_errors_of_the_best_are_those_of_scikit_learn_where_nothing_ties() -> None:
    labels = labels_of(10)
    scores = np.random.default_rng(0).permutation(labels.size * 10).reshape(-1, 10).astype(float)
    found = judged(scores, labels, 10)
    assert found["top5_error"]["value"] == pytest.approx(1 - top_k_accuracy_score(labels, scores, k=5))
    assert found["top1_error"]["value"] == pytest.approx(1 - top_k_accuracy_score(labels, scores, k=1))
    assert {found[name]["better"] for name in ("top1_error", "top5_error")} == {LOWER}


def test_a_model_that_scores_all_classes_alike_is_not_among_the_best_five() -> None:
    """Accuracy takes the first of those that tie, which is right in one class of ten."""
    found = judged(np.ones((200, 10)), labels_of(10), 10)
    assert found["top5_error"]["value"] == 1.0
    assert found["top1_error"]["value"] == 1 - found["accuracy"]["value"] == pytest.approx(0.9)


@pytest.mark.parametrize(("alike", "error"), [(4, 0.0), (5, 1.0)])
def test_ties_count_against_the_right_class(alike: int, error: float) -> None:
    """With four others of its score it is one of the best five, with five it may be the sixth."""
    scores = np.zeros((1, 10))
    scores[0, : alike + 1] = 1.0
    assert top_error(scores, np.array([alike]), 5) == error


@pytest.mark.parametrize("classes", [2, 5])
def test_of_five_classes_or_fewer_the_best_five_say_nothing(classes: int) -> None:
    labels = labels_of(classes)
    found = judged(np.eye(classes)[labels], labels, classes)
    assert found["top5_error"]["value"] is None
    assert found["top5_error"]["reason"].startswith(f"there are {classes} classes")
    assert (found["top1_error"]["value"], found["accuracy"]["reason"]) == (0.0, None)


def test_of_six_classes_the_worst_one_is_an_error() -> None:
    labels = labels_of(6)
    assert judged(1 - np.eye(6)[labels], labels, 6)["top5_error"]["value"] == 1.0


def test_scores_that_are_no_numbers_have_no_error() -> None:
    found = judged(np.full((200, 10), np.nan), labels_of(10), 10)
    assert {told["value"] for told in found.values()} == {None}
    assert {told["reason"] for told in found.values()} == {"outputs are not numbers"}
