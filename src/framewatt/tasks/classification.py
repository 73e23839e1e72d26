"""Accuracy metrics of a classifier (numpy only, so that they can be computed where the model ran)."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays

NAMES = ("accuracy", "precision_macro", "recall_macro", "f1_macro")


def judge_outputs(outputs: NDArray[np.floating], data: Arrays) -> tuple[dict[str, float | None], str | None]:
    """The metrics of a model's outputs on the test set, and why they are unknown, or None where they are not.

    Args:
        outputs: of the whole test set, one row per sample.
        data: with labels, or why there are none.
    """
    if data.unlabelled is not None:
        return dict.fromkeys(NAMES), data.unlabelled
    if outputs.ndim != 2 or outputs.shape[1] < data.classes:
        return dict.fromkeys(NAMES), f"outputs of shape {outputs.shape} are no scores of {data.classes} classes"
    metrics = classification_metrics(outputs, data.y_test)
    return metrics, "outputs are not numbers" if None in metrics.values() else None


def right_answers(
    outputs: NDArray[np.floating], data: Arrays, metrics: Mapping[str, float | None]
) -> NDArray[np.bool_] | None:
    """Which samples of the test set have their label as the likeliest class; None where accuracy is unknown.

    Args:
        outputs: of the whole test set, one row per sample.
        data: with labels.
        metrics: the metrics of `judge_outputs`.
    """
    return None if metrics["accuracy"] is None else outputs.argmax(axis=1) == data.y_test


def classification_metrics(scores: NDArray[np.floating], labels: NDArray[np.int64]) -> dict[str, float | None]:
    """Accuracy, and precision, recall and F1 as unweighted means over the classes that occur in `labels`.

    A class that is never predicted has precision 0, as scikit-learn's `zero_division=0`.

    Args:
        scores: shape (n, classes), class scores, larger is likelier.
        labels: shape (n,), true classes.

    Returns:
        The metrics by name; all None where a score is not a number, since then no prediction means anything.

    Raises:
        ValueError: the shapes do not fit.
    """
    if scores.ndim != 2 or len(scores) != len(labels):
        raise ValueError(f"scores of shape {scores.shape} do not fit {len(labels)} labels")
    if not np.isfinite(scores).all():
        return dict.fromkeys(NAMES)
    predicted = scores.argmax(axis=1)
    classes = np.unique(labels)
    hits = np.array([np.sum((predicted == c) & (labels == c)) for c in classes], dtype=float)
    support = np.array([np.sum(labels == c) for c in classes], dtype=float)
    claimed = np.array([np.sum(predicted == c) for c in classes], dtype=float)
    precision = np.divide(hits, claimed, out=np.zeros_like(hits), where=claimed > 0)
    recall = hits / support
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    values = (np.mean(predicted == labels), precision.mean(), recall.mean(), f1.mean())
    return {name: float(value) for name, value in zip(NAMES, values, strict=True)}
