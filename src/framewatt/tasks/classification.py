"""Classification: to which class a sample belongs. Numpy only, so that metrics can be computed where the model ran."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays, Images, Samples, Texts
from framewatt.tasks.contract import LOWER, NOT_NUMBERS, Judged, Metric, Mismatch, Outputs, Quality, Task

BEST = 5
"""Classes that may have a score as high as the right one's, itself among them, without an error of the best five."""

TOP_1, TOP_5 = (Metric(f"top{count}_error", f"Top-{count} error", better=LOWER, since=5) for count in (1, BEST))

OF_CLASSES = (
    Metric("accuracy", "Accuracy"),
    Metric("precision_macro", "Precision"),
    Metric("recall_macro", "Recall"),
    Metric("f1_macro", "F1"),
)
"""Accuracy, and precision, recall and F1 as unweighted means over classes."""

METRICS = (*OF_CLASSES, TOP_1, TOP_5)

_ROUNDED = 1e-6
"""How far two ways to count the same share may differ."""


class Classification(Task):
    """One class for each sample; outputs are scores, shape (n, classes), larger is likelier."""

    name = "classification"
    unit = "sample"
    metrics = METRICS
    kinds = (Images, Texts, Samples)

    def predictions(self, outputs: Outputs, data: Arrays) -> NDArray[np.int64] | None:
        """Return the likeliest class of each sample, shape (n,)."""
        return outputs.argmax(axis=1) if outputs.ndim == 2 and data.unlabelled is None else None

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return accuracy, precision, recall, F1, and errors of the best class and of the best five."""
        if data.unlabelled is not None:
            return self.unjudged(data.unlabelled)
        if outputs.ndim != 2 or outputs.shape[1] < data.classes:
            return self.unjudged(f"outputs of shape {outputs.shape} are no scores of {data.classes} classes")
        if not np.isfinite(outputs).all():
            return self.unjudged(NOT_NUMBERS)
        predicted = outputs.argmax(axis=1)
        values = classification_metrics(predicted, data.y_test)
        unknown = self.meaningless(data.classes)
        values |= {TOP_1.name: 1 - self.recount(predicted == data.y_test)}
        values |= {TOP_5.name: None if unknown else top_error(outputs, data.y_test, BEST)}
        return Judged(values, None, predicted == data.y_test, meaningless=unknown)

    def meaningless(self, classes: int) -> dict[str, str]:
        """Return the error of the best five, where there are no more than five classes."""
        if classes > BEST or not classes:
            return {}
        return {TOP_5.name: f"there are {classes} classes, all of which are among the best {BEST}"}

    def recount(self, right: NDArray[np.bool_]) -> float:
        """Return accuracy."""
        return float(right.mean())

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which metrics are unknown, labels given."""
        return rf"{NOT_NUMBERS}|outputs of shape \([\d, ]+\) are no scores of \d+ classes"

    def mismatches(self, quality: Quality, data: Mapping[str, Any]) -> Iterator[Mismatch]:
        """Yield an error of the best class that accuracy does not give, or of the best five that no count gives."""
        accuracy, top_1, top_5 = (quality.get(name, {}).get("value") for name in ("accuracy", TOP_1.name, TOP_5.name))
        if accuracy is not None and top_1 is not None and abs(1 - accuracy - top_1) > _ROUNDED:
            yield Mismatch(TOP_1.name, sentence=f"the record states {top_1:.6g}, its accuracy gives {1 - accuracy:.6g}")
        if top_5 is None:
            return
        samples = data["test_samples"]
        if abs(top_5 * samples - round(top_5 * samples)) > _ROUNDED * samples:
            sentence = f"the record states {top_5:.6g}, which is no whole number of {samples} samples"
            yield Mismatch(TOP_5.name, sentence=sentence)


def classification_metrics(predicted: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, float | None]:
    """Return accuracy, and precision, recall and F1 as unweighted means over the classes that occur in `labels`.

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
    return {metric.name: float(value) for metric, value in zip(OF_CLASSES, values, strict=True)}


def top_error(scores: NDArray[np.floating[Any]], labels: NDArray[np.int64], best: int) -> float:
    """Return the share of samples with a true class that is not among those of the `best` highest scores.

    Ties count against the model: a class with the true one's score is taken as higher, so that a model with one score
    for all classes is always wrong. That of the best one is therefore at least 1 - accuracy, which takes the first of
    the classes that tie for the highest score, and more only where the true one does.

    Args:
        scores: shape (n, classes), finite.
        labels: shape (n,), true classes.
        best: number of classes.
    """
    of_true = np.take_along_axis(scores, labels[:, None], axis=1)
    return float(((scores >= of_true).sum(axis=1) > best).mean())
