"""Plain training loops of TensorFlow: Keras' `fit`, or the loop of its guide to loops of one's own, in a graph."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bench.alike import alike
from bench.training_cases import MOMENTUM, SEED, Case, Plain
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.pairs import Pairs
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.segments import Segments
from framewatt.workloads.contract import EPSILON, facts_of
from framewatt.workloads.families.gnmt import SMALL as SMALL_GNMT
from framewatt.workloads.families.gnmt import SMOOTHING
from framewatt.workloads.families.neumf import SMALL as SMALL_NEUMF
from framewatt.workloads.families.transformer_xl import SMALL as SMALL_XL
from framewatt.workloads.models import build
from framewatt.workloads.tensorflow.gnmt import build_gnmt
from framewatt.workloads.tensorflow.neumf import build_neumf
from framewatt.workloads.tensorflow.transformer_xl import build_transformer_xl


def plain(case: Case) -> Plain:
    """The loop of a case."""
    keras.utils.set_random_seed(SEED)
    data = case.data()
    if isinstance(data.y_train, Objects):
        return _of_images_with_objects(case, data)
    if isinstance(data, Segments):
        return _of_text(case, data)
    return _of_sentences(case, data) if isinstance(data, Pairs) else _fitted(case, data)


def _fitted(case: Case, data: Arrays) -> Plain:
    """Keras's `fit`, as itu2023's authors trained."""
    inputs = data.x_train
    if data.channels_first:
        inputs = np.ascontiguousarray(np.moveaxis(inputs, 1, -1))
        if case.model == "resnet50":
            zoo = keras.applications.ResNet50
            model = zoo(weights=None, input_shape=inputs.shape[1:], classes=10, classifier_activation=None)
        else:
            model = _built(case, data, inputs.shape[1:])
        optimizer = keras.optimizers.SGD(case.rate, momentum=MOMENTUM)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    else:
        model = build_neumf(SMALL_NEUMF, data.categories)
        optimizer = keras.optimizers.Adam(case.rate, epsilon=EPSILON)
        loss = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer, loss=loss)

    def epoch() -> list[float]:
        told = model.fit(inputs, data.y_train, batch_size=case.batch, epochs=1, verbose=0)
        return told.history["loss"]

    return Plain(_parameters(model), epoch)


def _of_text(case: Case, data: Arrays) -> Plain:
    """The guide's loop, which hands the memory on; `fit` cannot."""
    model = build_transformer_xl(SMALL_XL, data.classes, data.input_shape)
    optimizer = keras.optimizers.Adam(case.rate, epsilon=EPSILON)

    @tf.function
    def step(inputs: Any, labels: Any, *state: Any) -> Any:
        with tf.GradientTape() as tape:
            found, *left = model([inputs, labels, *state], training=True)
            loss = tf.reduce_mean(found)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss, *left

    def epoch() -> list[tf.Tensor]:
        losses, state = [], model.fresh_state(case.batch)
        for rows in np.arange(len(data.x_train)).reshape(case.batch, -1).T:
            loss, *state = step(tf.constant(data.x_train[rows]), tf.constant(data.y_train[rows]), *state)
            losses.append(loss)
        return losses

    return Plain(_parameters(model), epoch)


def _of_sentences(case: Case, data: Arrays) -> Plain:
    """The guide's loop, over sentences."""
    model = build_gnmt(SMALL_GNMT, data.classes)
    optimizer = keras.optimizers.Adam(case.rate, epsilon=EPSILON)
    loss_of = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=SMOOTHING, reduction="none")

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int64)] * 3)
    def step(source: Any, target: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            scores = model([source, target], training=True)
            there = tf.cast(labels != IGNORED, scores.dtype)
            losses = loss_of(tf.one_hot(tf.maximum(labels, 0), data.classes), scores)
            loss = tf.reduce_sum(losses * there) / tf.reduce_sum(there)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    batches = [tuple(map(tf.constant, batch)) for batch in alike(data, case.batch)]

    def epoch() -> list[tf.Tensor]:
        return [step(*batches[number]) for number in np.random.default_rng(SEED).permutation(len(batches))]

    return Plain(_parameters(model), epoch)


def _of_images_with_objects(case: Case, data: Arrays) -> Plain:
    """The guide's loop, over own models, since no library has them: they work out their loss themselves."""
    model = _built(case, data, (*data.y_train.size, 3))
    optimizer = keras.optimizers.SGD(case.rate, momentum=MOMENTUM)

    @tf.function
    def step(images: Any, *targets: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = model.objective(images, *targets)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    images = np.ascontiguousarray(np.moveaxis(data.x_train, 1, -1))
    arrays = ((images[rows], *data.y_train[rows]) for rows in case.order(data))
    batches = [tuple(tf.constant(part) for part in batch if part is not None) for batch in arrays]
    return Plain(_parameters(model), lambda: [step(*batch) for batch in batches])


def _built(case: Case, data: Arrays, shape: tuple[int, ...]) -> keras.Model:
    """framewatt's own model with random weights, where no library has it; for images of (height, width, 3)."""
    model: keras.Model = build("tensorflow", case.model, facts_of(data, shape))
    return model


def _parameters(model: keras.Model) -> int:
    return int(sum(np.prod(one.shape) for one in model.trainable_weights))
