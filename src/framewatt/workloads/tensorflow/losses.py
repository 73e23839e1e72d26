"""The loss of each task in TensorFlow: the mean over the units of a batch."""

from collections.abc import Callable

import keras
import tensorflow as tf

from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.families.gnmt import SMOOTHING

Loss = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]

_cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _samples(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of samples: scores (batch, classes), labels (batch,)."""
    return _cross_entropy(labels, scores)


def _tokens(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of tokens, without padding: scores (batch, longest, classes), labels (batch, longest)."""
    tokens = tf.cast(tf.not_equal(labels, IGNORED), scores.dtype)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(labels, 0), scores)
    return tf.reduce_sum(losses * tokens) / tf.reduce_sum(tokens)


def _pairs(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of chosen or not: scores (batch, 1), labels (batch,), 0 or 1."""
    chosen, each = tf.cast(labels, scores.dtype), tf.reshape(scores, [-1])
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(chosen, each))


def _likelihoods(improbability: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Mean negative log-likelihood of tokens, which the model has worked out; none of a training batch is padding."""
    return tf.reduce_mean(improbability)


def _translations(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of smoothed labels, without padding: scores (batch, longest, classes), labels (batch, longest)."""
    scores = tf.cast(scores, tf.float32)
    tokens = tf.cast(tf.not_equal(labels, IGNORED), tf.float32)
    classes = scores.shape[2]
    rest = SMOOTHING / classes
    # Labels are smoothed as they are made: every further pass over numbers of this shape takes time.
    smoothed = tf.one_hot(tf.maximum(labels, 0), classes, on_value=1 - SMOOTHING + rest, off_value=rest)
    losses = tf.nn.softmax_cross_entropy_with_logits(smoothed, scores)
    return tf.reduce_sum(losses * tokens) / tf.reduce_sum(tokens)


LOSSES: dict[str, Loss] = {
    "classification": _samples,
    "tagging": _tokens,
    "recommendation": _pairs,
    "language_modelling": _likelihoods,
    "translation": _translations,
}
"""By the task's name: from outputs and labels of a batch."""
