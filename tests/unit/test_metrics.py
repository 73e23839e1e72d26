"""Metrics of classification against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from framewatt.tasks.classification import classification_metrics


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
