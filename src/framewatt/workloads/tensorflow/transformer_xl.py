"""Transformer-XL of any dimensions in TensorFlow; see the one in PyTorch for what its parts do."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.transformer_xl import SPREAD, Dimensions


def _around(mean: float) -> Any:
    """Return a new initialiser a weight: one that is used twice gives the same numbers twice (Keras 3)."""
    return keras.initializers.RandomNormal(mean, SPREAD)


def _norm(name: str) -> Any:
    return keras.layers.LayerNormalization(epsilon=1e-5, gamma_initializer=_around(1), name=name)


def _dense(units: int, name: str, *, bias: bool = False, activation: str | None = None) -> Any:
    return keras.layers.Dense(units, activation, use_bias=bias, kernel_initializer=_around(0), name=name)


class _Words(keras.layers.Layer):
    """Vectors of words, and how improbable a word is, by the same vectors in an adaptive softmax."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__(name="words")
        self.scale = dimensions.width**0.5
        self.clusters = dimensions.clusters(vocabulary)
        self.often = dimensions.edges(vocabulary)[0]
        width, embedding = dimensions.width, dimensions.embedding
        self.vectors = self.add_weight((vocabulary, embedding), _around(0), name="vectors")
        self.bias = self.add_weight((vocabulary,), "zeros", name="bias")
        self.cluster_vectors = self.add_weight((len(self.clusters), embedding), _around(0), name="cluster_vectors")
        self.cluster_bias = self.add_weight((len(self.clusters),), "zeros", name="cluster_bias")
        narrow = embedding != width
        self.projection = self.add_weight((width, embedding), _around(0), name="projection") if narrow else None

    def call(self, tokens: tf.Tensor) -> tf.Tensor:
        vectors = tf.gather(tf.convert_to_tensor(self.vectors), tokens)
        if self.projection is not None:
            vectors = tf.matmul(vectors, self.projection, transpose_b=True)
        return vectors * tf.cast(self.scale, vectors.dtype)

    def improbability(self, hidden: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        """Negative log-likelihoods (n,) of targets (n,), from hidden states (n, width)."""
        vectors, bias = tf.convert_to_tensor(self.vectors), tf.convert_to_tensor(self.bias)
        if self.projection is not None:
            hidden = tf.matmul(hidden, self.projection)
        head = tf.concat([vectors[: self.often], self.cluster_vectors], 0)
        head_bias = tf.concat([bias[: self.often], self.cluster_bias], 0)
        place = targets
        for number, (first, end) in enumerate(self.clusters):
            place = tf.where((targets >= first) & (targets < end), tf.cast(self.often + number, targets.dtype), place)
        losses = _cross_entropy(tf.matmul(hidden, head, transpose_b=True) + head_bias, place)
        for first, end in self.clusters:
            rows = tf.where((targets >= first) & (targets < end))
            scores = tf.matmul(tf.gather(hidden, rows[:, 0]), vectors[first:end], transpose_b=True) + bias[first:end]
            each = _cross_entropy(scores, tf.gather(targets, rows[:, 0]) - first)
            # Not tensor_scatter_nd_add, which tf2onnx does not know.
            losses += tf.scatter_nd(rows, each, tf.shape(losses, tf.int64))
        return losses


def _cross_entropy(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.cast(scores, tf.float32))


class _Block(keras.layers.Layer):
    """Attention to a segment and its memory, then a dense part, each added to what it got and normalised."""

    def __init__(self, dimensions: Dimensions, name: str) -> None:
        super().__init__(name=name)
        self.heads = dimensions.heads
        self.scale = dimensions.head_width**-0.5
        width, attention = dimensions.width, dimensions.attention
        self.query = _dense(attention, "query")
        self.keys = _dense(2 * attention, "keys")
        self.position = _dense(attention, "position")
        self.out = _dense(width, "out")
        self.norm = _norm("norm")
        self.dense_in = _dense(dimensions.hidden, "dense_in", bias=True, activation="relu")
        self.dense_out = _dense(width, "dense_out", bias=True)
        self.dense_norm = _norm("dense_norm")
        self.dropout = keras.layers.Dropout(dimensions.dropout)
        for layer in (self.query, self.keys, self.position, self.norm, self.dense_in, self.dense_norm):
            layer.build((None, width))
        self.out.build((None, attention))
        self.dense_out.build((None, dimensions.hidden))

    def _split(self, values: tf.Tensor) -> tf.Tensor:
        """(batch, length, attention) as (batch, heads, length, head width)."""
        length = values.shape[1]
        return tf.transpose(tf.reshape(values, (-1, length, self.heads, values.shape[2] // self.heads)), (0, 2, 1, 3))

    def call(
        self, hidden: tf.Tensor, memory: tf.Tensor, positions: tf.Tensor, biases: tf.Tensor, mask: tf.Tensor
    ) -> tf.Tensor:
        query = self._split(self.query(hidden))
        keys, values = (self._split(part) for part in tf.split(self.keys(tf.concat([memory, hidden], 1)), 2, axis=2))
        of_content, of_position = tf.unstack(tf.reshape(biases, (2, self.heads, 1, -1)))
        distances = self._split(self.position(positions)[None])
        scores = tf.matmul(query + of_content, keys, transpose_b=True)
        scores += _shifted(tf.matmul(query + of_position, distances, transpose_b=True))
        scores = tf.where(mask, tf.cast(scores, tf.float32) * self.scale, -np.inf)
        attended = tf.matmul(tf.cast(tf.nn.softmax(scores), values.dtype), values)
        attended = tf.reshape(tf.transpose(attended, (0, 2, 1, 3)), (-1, hidden.shape[1], self.out.input_spec.axes[-1]))
        hidden = self.norm(hidden + self.dropout(self.out(attended)))
        dense = self.dense_out(self.dropout(self.dense_in(hidden)))
        return self.dense_norm(hidden + self.dropout(dense))


def _shifted(scores: tf.Tensor) -> tf.Tensor:
    """Scores (…, i, distance from the farthest) as scores (…, i, place of the key); the future gets what is masked."""
    heads, rows, columns = scores.shape[1:]
    padded = tf.pad(scores, ((0, 0), (0, 0), (0, 0), (1, 0)))
    return tf.reshape(tf.reshape(padded, (-1, heads, columns + 1, rows))[:, :, 1:], (-1, heads, rows, columns))


class _TransformerXL(keras.layers.Layer):
    """Negative log-likelihoods (batch, length) of targets, from tokens, targets and the state of the segment before.

    State: the layers' inputs (batch, layers, memory, width), and how many of them are of this stream (batch,).
    """

    def __init__(self, dimensions: Dimensions, vocabulary: int, length: int) -> None:
        super().__init__(name="transformer_xl")
        self.memory = dimensions.memory
        self.words = _Words(dimensions, vocabulary)
        self.blocks = [_Block(dimensions, f"block_{number}") for number in range(dimensions.layers)]
        sets = 1 if dimensions.shared_biases else dimensions.layers
        self.biases = self.add_weight((sets, 2, dimensions.attention), _around(0), name="biases")
        self.dropout = keras.layers.Dropout(dimensions.dropout)
        self.place = np.arange(dimensions.memory + length)
        self.past = self.place <= dimensions.memory + np.arange(length)[:, None]
        self.positions = _sinusoids(dimensions.memory + length, dimensions.width)

    def call(self, tokens: tf.Tensor, targets: tf.Tensor, memory: tf.Tensor, known: tf.Tensor) -> Any:
        length = tokens.shape[1]
        known_place = tf.constant(self.memory - self.place, tf.int64) <= known[:, None]
        mask = (self.past & known_place[:, None])[:, None]
        positions = self.dropout(tf.constant(self.positions, self.compute_dtype))
        hidden = self.dropout(self.words(tokens))
        memory = tf.cast(memory, hidden.dtype)
        seen = []
        for number, block in enumerate(self.blocks):
            seen.append(tf.concat([memory[:, number], hidden], 1)[:, length:])
            biases = tf.convert_to_tensor(self.biases)[number if self.biases.shape[0] > 1 else 0]
            hidden = block(hidden, memory[:, number], positions, biases, mask)
        rows = tf.reshape(self.dropout(hidden), (-1, hidden.shape[2]))
        losses = tf.reshape(self.words.improbability(rows, tf.reshape(targets, (-1,))), (-1, length))
        remembered = tf.cast(tf.stop_gradient(tf.stack(seen, 1)), tf.float32)
        return losses, remembered, tf.minimum(known + length, self.memory)


def _sinusoids(keys: int, width: int) -> Any:
    """Vectors of distances, from the farthest, `keys` - 1, to 0, shape (keys, width)."""
    distance = np.arange(keys - 1, -1, -1.0)
    angle = np.outer(distance, 10_000 ** (-np.arange(0, width, 2.0) / width))
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


def build_transformer_xl(dimensions: Dimensions, vocabulary: int, input_shape: tuple[int, ...]) -> keras.Model:
    """Return a Transformer-XL with random weights, for segments of one length."""
    shape = (dimensions.layers, dimensions.memory, dimensions.width)
    inputs = [
        keras.Input(input_shape, dtype="int64", name="input_ids"),
        keras.Input(input_shape, dtype="int64", name="targets"),
        keras.Input(shape, dtype="float32", name="state_0"),
        keras.Input((), dtype="int64", name="state_1"),
    ]
    model = keras.Model(inputs, _TransformerXL(dimensions, vocabulary, input_shape[0])(*inputs))
    model.fresh_state = lambda batch_size: (tf.zeros((batch_size, *shape)), tf.zeros(batch_size, tf.int64))
    return model


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return a Transformer-XL; it takes segments of tokens, their targets, and the state of the segment before."""
    return build_transformer_xl(size.dimensions, facts.classes, facts.input_shape)
