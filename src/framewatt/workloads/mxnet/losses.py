"""The loss of each task in MXNet; its mean is over the units of a batch."""

from collections.abc import Callable

import mxnet as mx
from mxnet import gluon

from framewatt.datasets.ragged import IGNORED

Loss = Callable[[mx.nd.NDArray, mx.nd.NDArray], mx.nd.NDArray]
Terms = Callable[[mx.nd.NDArray], int]


def _tokens(scores: mx.nd.NDArray, labels: mx.nd.NDArray) -> mx.nd.NDArray:
    """Cross-entropy of tokens, without padding: scores (batch, longest, classes), labels (batch, longest)."""
    tokens = labels != IGNORED
    likely = mx.nd.pick(mx.nd.log_softmax(scores), mx.nd.maximum(labels, 0))
    tokens = tokens.astype(likely.dtype)
    return -(likely * tokens).sum() / tokens.sum()


def _one(labels: mx.nd.NDArray) -> int:
    return 1


LOSSES: dict[str, tuple[Loss, Terms]] = {
    "classification": (gluon.loss.SoftmaxCrossEntropyLoss(), len),
    "tagging": (_tokens, _one),
    # Chosen or not: scores (batch, 1), labels (batch,), 0 or 1.
    "recommendation": (gluon.loss.SigmoidBCELoss(), len),
}
"""By the task's name: the loss, from outputs and labels of a batch, one number or one a sample; and how many numbers
these are, by which Gluon divides the gradients of their sum."""
