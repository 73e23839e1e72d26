"""Classification: to which class a sample belongs. Numpy only, so that metrics can be computed where the model ran."""

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.tasks.contract import Judged, Metric, Outputs, Task

METRICS = (
    Metric("accuracy", "Accuracy"),
    Metric("precision_macro", "Precision"),
    Metric("recall_macro", "Recall"),
    Metric("f1_macro", "F1"),
)
"""Accuracy, and precision, recall and F1 as unweighted means over classes."""


class Classification(Task):
    """One class a sample; outputs are scores, shape (n, classes), larger is likelier."""

    name = "classification"
    unit = "sample"
    metrics = METRICS

    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[np.int64] | None:
        """The likeliest class of each sample."""
        return outputs.argmax(axis=1) if outputs.ndim == 2 and data.unlabelled is None else None

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Accuracy, precision, recall and F1."""
        if data.unlabelled is not None:
            return self.unjudged(data.unlabelled)
        if outputs.ndim != 2 or outputs.shape[1] < data.classes:
            return self.unjudged(f"outputs of shape {outputs.shape} are no scores of {data.classes} classes")
        if not np.isfinite(outputs).all():
            return self.unjudged("outputs are not numbers")
        predicted = outputs.argmax(axis=1)
        return Judged(classification_metrics(predicted, data.y_test), None, predicted == data.y_test)

    def recount(self, right: NDArray[np.bool_]) -> float:
        """Accuracy."""
        return float(right.mean())


def classification_metrics(predicted: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, float | None]:
    """Accuracy, and precision, recall and F1 as unweighted means over the classes that occur in `labels`.

    A class that is never predicted has precision 0, as scikit-learn's `zero_division=0`.

    Args:
        predicted: shape (n,), predicted classes.
        labels: shape (n,), true classes.

    Raises:
        ValueError: the shapes do not fit.
    """
    if predicted.shape != labels.shape:
        raise ValueError(f"predictions of shape {predicted.shape} do not fit {len(labels)} labels")
    classes = np.unique(labels)
    hits = np.array([np.sum((predicted == c) & (labels == c)) for c in classes], dtype=float)
    support = np.array([np.sum(labels == c) for c in classes], dtype=float)
    claimed = np.array([np.sum(predicted == c) for c in classes], dtype=float)
    precision = np.divide(hits, claimed, out=np.zeros_like(hits), where=claimed > 0)
    recall = hits / support
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    values = (np.mean(predicted == labels), precision.mean(), recall.mean(), f1.mean())
    return {metric.name: float(value) for metric, value in zip(METRICS, values, strict=True)}
