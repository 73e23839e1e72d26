"""GNMT v2 of any dimensions in TensorFlow; see the one in PyTorch for what its parts do."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from framewatt.datasets.pairs import BOS, EOS, PAD
from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.gnmt import COVERAGE, LEAST_COVERED, LENGTH_BEGIN, LENGTH_NORM, SPREAD, Dimensions

State = tuple[tf.Tensor, tf.Tensor]
"""Output and cell of an LSTM, both (batch, hidden), or (batch, beam, hidden) in a search."""

Source = tuple[tf.Tensor, tf.Tensor, tf.Tensor]
"""The encoder's outputs, their keys, both (batch, length, hidden), and which are no padding."""


class _Uniform(keras.initializers.RandomUniform):
    """First weights. A new one a weight: one that is used twice gives the same numbers twice (Keras 3)."""

    def __init__(self) -> None:
        super().__init__(-SPREAD, SPREAD)


class _Vectors(_Uniform):
    """First vectors of tokens, that of PAD zero."""

    def __call__(self, shape: Any, dtype: Any = None) -> tf.Tensor:
        drawn = super().__call__(shape, dtype)
        return tf.where(tf.range(shape[0])[:, None] == PAD, tf.zeros_like(drawn), drawn)


def _lstm(width: int, hidden: int, name: str, *, gives_state: bool = False) -> Any:
    """Return one layer of Keras' LSTM with the arguments under which it takes cuDNN's kernel on a GPU.

    On a CPU it is a loop. Measured there in one thread, batch and width 64 x 128 and 32 x 1024, 24 steps, forward and
    backward: 19 and 635 ms; a loop of one's own which multiplies all inputs before it, 19 and 514 ms; the kernel
    BlockLSTMV2, 24 and 2,206 ms, with gradients that were not those of the two.
    """
    layer = keras.layers.LSTM(
        hidden,
        return_sequences=True,
        return_state=gives_state,
        unit_forget_bias=False,
        kernel_initializer=_Uniform(),
        recurrent_initializer=_Uniform(),
        bias_initializer=_Uniform(),
        name=name,
    )
    layer.build((None, None, width))
    return layer


def _dense(inputs: int, units: int, name: str, *, bias: bool = False) -> Any:
    layer = keras.layers.Dense(
        units, use_bias=bias, kernel_initializer=_Uniform(), bias_initializer=_Uniform(), name=name
    )
    layer.build((None, inputs))
    return layer


class _Encoder(keras.layers.Layer):
    """Outputs (batch, length, hidden) of a source (batch, length); nothing of the padding is in those before it."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__(name="encoder")
        hidden, self.gives_states = dimensions.hidden, dimensions.from_encoder
        self.embedding = keras.layers.Embedding(vocabulary, hidden, _Vectors(), name="embedding")
        self.embedding.build()
        self.first = _lstm(hidden, hidden, "first", gives_state=self.gives_states)
        self.backward = _lstm(hidden, hidden, "backward", gives_state=self.gives_states)
        self.layers = [
            _lstm(hidden if number else 2 * hidden, hidden, f"layer_{number}", gives_state=self.gives_states)
            for number in range(dimensions.layers - 1)
        ]
        self.dropout = keras.layers.Dropout(dimensions.dropout)
        self.built = True

    def vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Vectors of tokens; that of PAD is zero, and gets no gradient."""
        vectors = self.embedding(ids)
        return vectors * tf.cast(ids != PAD, vectors.dtype)[:, :, None]

    def call(self, source: tf.Tensor) -> tf.Tensor:
        return self.through(source)[0]

    def through(self, source: tf.Tensor) -> tuple[tf.Tensor, list[State | None]]:
        """Outputs, and the states that the decoder's layers begin with; None stands for zeros."""
        there = source != PAD
        lengths = tf.reduce_sum(tf.cast(there, tf.int64), 1)
        vectors = self.dropout(self.vectors(source))
        forward, _ = self._run(self.first, vectors, there)
        backward, state = self._run(self.backward, _turned(vectors, lengths), there)
        hidden, states = tf.concat([forward, _turned(backward, lengths)], 2), [state]
        for number, layer in enumerate(self.layers):
            outputs, state = self._run(layer, self.dropout(hidden), there)
            hidden = outputs + hidden if number else outputs
            states.append(state)
        return hidden, states

    def _run(self, lstm: Any, inputs: tf.Tensor, there: tf.Tensor) -> tuple[tf.Tensor, State | None]:
        """Return outputs of a layer, and its state at the end of each sentence where the decoder begins with it."""
        if not self.gives_states:
            return lstm(inputs), None
        outputs, output, cell = lstm(inputs, mask=there)
        return outputs, (output, cell)


def _turned(values: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Return values (batch, length, width) from the end of each sentence to its begin; padding stays where it is.

    Not reverse_sequence: tf2onnx 1.17 takes it for the turn of a bidirectional LSTM, and loses the lengths.
    """
    place = tf.range(tf.shape(values, tf.int64)[1])
    chosen = tf.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    return tf.gather(values, chosen, batch_dims=1)


class _Attention(keras.layers.Layer):
    """Normalised attention of Bahdanau: how much of each place of a source goes into a context."""

    def __init__(self, hidden: int) -> None:
        super().__init__(name="attention")
        self.query = _dense(hidden, hidden, "query")
        self.keys = _dense(hidden, hidden, "keys")
        self.vector = self.add_weight((hidden,), _Uniform(), name="vector")
        self.scale = self.add_weight((1,), keras.initializers.Constant(hidden**-0.5), name="scale")
        self.bias = self.add_weight((hidden,), "zeros", name="bias")
        self.built = True

    def source(self, outputs: tf.Tensor, ids: tf.Tensor) -> Source:
        """Return what `call` takes of a source, made once for all steps."""
        keys = self.keys(outputs)
        return outputs, keys + tf.cast(self.bias, keys.dtype), ids != PAD

    def call(self, hidden: tf.Tensor, source: Source) -> tuple[tf.Tensor, tf.Tensor]:
        """Contexts (batch, n, hidden) and weights (batch, n, length) of n queries (batch, n, hidden)."""
        outputs, keys, there = source
        met = tf.tanh(self.query(hidden)[:, :, None] + keys[:, None])
        vector = tf.convert_to_tensor(self.vector)
        vector = vector * (tf.convert_to_tensor(self.scale) / tf.norm(vector))
        # Not matvec: with it, oneDNN and two threads, TensorFlow 2.21 ended in the search with a damaged heap; not so
        # with this product, in one thread, or without oneDNN.
        scores = tf.cast(tf.tensordot(met, tf.cast(vector, met.dtype), 1), tf.float32)
        weights = tf.nn.softmax(tf.where(there[:, None], scores, tf.float32.min))
        return tf.matmul(tf.cast(weights, outputs.dtype), outputs), weights


Run = Callable[[Any, tf.Tensor, State | None], tuple[tf.Tensor, State | None]]
"""From a layer, its inputs and its state: its outputs and its next state."""


def _sequence(lstm: Any, inputs: tf.Tensor, state: State | None) -> tuple[tf.Tensor, None]:
    """Return all steps of a sequence (batch, length, width); nobody asks for the state after it."""
    return lstm(inputs, initial_state=None if state is None else list(state)), None


def _step(lstm: Any, inputs: tf.Tensor, state: State | None) -> tuple[tf.Tensor, State]:
    """Return one step of all hypotheses (batch, beam, width)."""
    assert state is not None
    beam = inputs.shape[1]
    begin = [_joined(one) for one in state]
    _, new_state = lstm.cell(_joined(inputs), begin)
    output, cell = (tf.reshape(one, (-1, beam, one.shape[1])) for one in new_state)
    return output, (output, cell)


def _joined(values: tf.Tensor) -> tf.Tensor:
    """(batch, beam, width) as (batch * beam, width)."""
    return tf.reshape(values, (-1, values.shape[2]))


class _Decoder(keras.layers.Layer):
    """Scores of the next token, from the vectors of tokens and a source."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__(name="decoder")
        hidden = dimensions.hidden
        self.first = _lstm(hidden, hidden, "first")
        self.attention = _Attention(hidden)
        self.layers = [_lstm(2 * hidden, hidden, f"layer_{number}") for number in range(dimensions.layers - 1)]
        self.classifier = _dense(hidden, vocabulary, "classifier", bias=True)
        self.dropout = keras.layers.Dropout(dimensions.dropout)
        self.built = True

    def through(
        self, vectors: tf.Tensor, source: Source, states: Sequence[State | None], run: Run
    ) -> tuple[tf.Tensor, tf.Tensor, list[State | None]]:
        """Return scores (batch, n, vocabulary), attention (batch, n, length of the source) and the layers' states."""
        begin, *others = states
        hidden, state = run(self.first, self.dropout(vectors), begin)
        context, attention = self.attention(hidden, source)
        left = [state]
        for number, (layer, begin) in enumerate(zip(self.layers, others, strict=True)):
            outputs, state = run(layer, self.dropout(tf.concat([hidden, context], 2)), begin)
            hidden = outputs + hidden if number else outputs
            left.append(state)
        return self.classifier(hidden), attention, left


class _GNMT(keras.Model):
    """Scores (batch, length, vocabulary) of the token after each of a translation, from source and translation."""

    def __init__(self, dimensions: Dimensions, vocabulary: int) -> None:
        super().__init__(name="gnmt")
        self.dimensions = dimensions
        self.beam = dimensions.beam
        self.encoder = _Encoder(dimensions, vocabulary)
        self.decoder = _Decoder(dimensions, vocabulary)
        self._searches: dict[int, Any] = {}
        self.built = True

    def call(self, inputs: Sequence[tf.Tensor]) -> tf.Tensor:
        source, target_ids = inputs
        outputs, states = self.encoder.through(source)
        there = self.decoder.attention.source(outputs, source)
        return self.decoder.through(self.encoder.vectors(target_ids), there, states, _sequence)[0]

    def decode(self, source: tf.Tensor, beam: int) -> tf.Tensor:
        """Translations that a beam search finds, without dropout; see the one in PyTorch.

        It is one graph for each `beam`, made at its first use.

        Args:
            source: ids with EOS, (batch, length), int64, padded with PAD.
            beam: hypotheses of a sentence; 1 takes the best token each time.

        Returns:
            Ids, (batch, width), int64, IGNORED from EOS on; the width is at most that of the longest allowed.
        """
        if beam not in self._searches:
            any_length = [tf.TensorSpec((None, None), tf.int64)]
            self._searches[beam] = tf.function(lambda ids: self._search(ids, beam), any_length, autograph=False)
        return self._searches[beam](source)

    def _search(self, source: tf.Tensor, beam: int) -> tf.Tensor:
        outputs, begin = self.encoder.through(source)
        there = self.decoder.attention.source(outputs, source)
        count, places, hidden = tf.shape(source)[0], tf.shape(source)[1], self.dimensions.hidden
        times, more = self.dimensions.longest
        limit = (times * tf.reduce_sum(tf.cast(source != PAD, tf.int32), 1) + more)[:, None]
        likely = tf.tile([[0.0] + [-float("inf")] * (beam - 1)], (count, 1))
        first = (
            likely,
            tf.math.is_inf(likely),
            tf.zeros((count, beam), tf.int32),
            tf.fill((count, beam), tf.constant(BOS, tf.int64)),
            tf.zeros((count, beam, 0), tf.int64),
            tf.zeros((count, beam, places)),
            [_repeat_for_beam(state, outputs, beam) for state in begin],
        )
        rows = tf.TensorShape((None, beam))
        state_shapes = [(tf.TensorShape((None, beam, hidden)),) * 2 for _ in begin]
        shapes = (*[rows] * 4, *[tf.TensorShape((None, beam, None))] * 2, state_shapes)

        def step(likely: Any, ended: Any, lengths: Any, last: Any, ids: Any, covered: Any, states: Any) -> Any:
            vectors = self.encoder.vectors(last)
            scores, attention, states = self.decoder.through(vectors, there, states, _step)
            each = likely[:, :, None] + _odds(scores, ended)
            covered += tf.where(ended[:, :, None], 0.0, attention)
            lengths += tf.cast(~ended, tf.int32)
            words = scores.shape[2]
            ranked = tf.reshape(each / _penalty(lengths)[:, :, None], (-1, beam * words))
            chosen = tf.math.top_k(ranked, beam).indices
            parent, last = chosen // words, tf.cast(chosen % words, tf.int64)
            likely = _those(tf.reshape(each, (-1, beam * words)), chosen)
            lengths, was_ended = _those(lengths, parent), _those(ended, parent)
            stopped = was_ended | (last == EOS)
            ids = tf.concat([_those(ids, parent), tf.where(stopped, tf.cast(IGNORED, tf.int64), last)[:, :, None]], 2)
            states = [tuple(_those(one, parent) for one in state) for state in states]
            ended = stopped | (lengths >= limit) | tf.math.is_inf(likely)
            return likely, ended, lengths, last, ids, _those(covered, parent), states

        def goes_on(_: Any, ended: Any, *others: Any) -> Any:
            return ~tf.reduce_all(ended)

        final = tf.while_loop(goes_on, step, first, shapes)
        likely, _, lengths, _, ids, covered, _ = final
        missed = tf.math.log(tf.clip_by_value(covered, LEAST_COVERED, 1.0))
        missed = tf.reduce_sum(tf.where(there[2][:, None], missed, 0.0), 2)
        best = tf.argmax(likely / _penalty(lengths) + COVERAGE * missed, 1)
        return _those(ids, best)


def _repeat_for_beam(state: State | None, outputs: tf.Tensor, beam: int) -> State:
    """Return the state that all hypotheses begin with, (batch, beam, hidden)."""
    zeros = tf.zeros_like(outputs[:, 0])
    output, cell = (tf.repeat(one[:, None], beam, 1) for one in state or (zeros, zeros))
    return output, cell


def _odds(scores: tf.Tensor, ended: tf.Tensor) -> tf.Tensor:
    """Log-likelihoods of the next token; what has ended goes on with nothing (PAD) for certain."""
    odds = tf.nn.log_softmax(tf.cast(scores, tf.float32))
    place = tf.range(scores.shape[2])
    odds = tf.where((place == PAD) | (place == BOS), -float("inf"), odds)
    return tf.where(ended[:, :, None], tf.where(place == PAD, 0.0, -float("inf")), odds)


def _those(values: tf.Tensor, chosen: tf.Tensor) -> tf.Tensor:
    """Of values (batch, beam, …) those of the chosen hypotheses."""
    return tf.gather(values, chosen, batch_dims=1)


def _penalty(lengths: tf.Tensor) -> tf.Tensor:
    return ((LENGTH_BEGIN + tf.cast(lengths, tf.float32)) / (LENGTH_BEGIN + 1)) ** LENGTH_NORM


def build_gnmt(dimensions: Dimensions, vocabulary: int) -> keras.Model:
    """Return a GNMT with random weights, for sentences of any lengths."""
    return _GNMT(dimensions, vocabulary)


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return a GNMT, or where `size` is a part its encoder alone, with outputs (batch, length, hidden)."""
    if size.inputs is None:
        return build_gnmt(size.dimensions, facts.classes)
    source = keras.Input((None,), dtype="int64", name="input_ids")
    return keras.Model(source, _Encoder(size.dimensions, facts.classes)(source))
