"""Training loops of a framework, in its own environment: framewatt's and the plain one that its documentation teaches.

`python -m bench.training_loops <framework> <model>` reads the name of a loop a line (`framewatt`, `plain`) and answers
with units of work per second over an epoch. Both train the same model on the same samples, each with its own weights;
what a framework does once (tracing, compiling) is done before the first answer of a loop that counts.
"""

import functools
import importlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.timed import samples_per_second
from framewatt.datasets import synthetic_language, synthetic_ratings, synthetic_text
from framewatt.datasets.contract import Arrays
from framewatt.datasets.ragged import IGNORED
from framewatt.runs.worker import train
from framewatt.workloads import make_training
from framewatt.workloads.contract import EPSILON, Spec, Training
from framewatt.workloads.gnmt import SMALL as SMALL_GNMT
from framewatt.workloads.gnmt import SMOOTHING
from framewatt.workloads.neumf import SMALL
from framewatt.workloads.transformer_xl import SMALL as SMALL_XL

THREADS = 1
MOMENTUM = 0.9

Epoch = Callable[[], None]


@dataclass(frozen=True)
class Case:
    """What is trained.

    Attributes:
        model: its name.
        data: makes its samples.
        batch: samples a step.
        rate: learning rate.
        options: levels of options that are not at their default.
    """

    model: str
    data: Callable[[], Arrays]
    batch: int
    rate: float
    options: dict[str, str] = field(default_factory=dict)


def images() -> Arrays:
    """Noise in the shape of CIFAR-10."""
    rng = np.random.default_rng(1)
    pixels, labels = rng.random((96, 3, 32, 32), dtype=np.float32), (np.arange(96) % 10).astype(np.int64)
    return Arrays(pixels, labels, pixels[:16], labels[:16], class_count=10)


def pairs() -> Arrays:
    """18,300 pairs of as many users as MovieLens' latest small has."""
    return synthetic_ratings.make(
        users=610, items=4000, tastes=8, ratings_per_user=7, negatives=4, candidates=1, seed=1
    )


def texts() -> Arrays:
    """160 segments of 64 words, of 12,000 that there are."""
    return synthetic_text.make(vocabulary=12_000, train_tokens=160 * 64 + 1, test_tokens=65, segment=64, seed=1)


def sentences() -> Arrays:
    """960 pairs of sentences of 4 to 12 words."""
    return synthetic_language.make(vocabulary=4000, longest=12, train_pairs=960, test_pairs=16, seed=1)


CASES = {
    case.model: case
    for case in (
        Case("resnet50", images, batch=16, rate=0.001),
        Case("neumf_small", pairs, batch=256, rate=0.001, options={"optimizer": "adam"}),
        Case("transformer_xl_small", texts, batch=8, rate=0.001, options={"optimizer": "adam"}),
        Case("gnmt_small", sentences, batch=32, rate=0.001, options={"optimizer": "adam"}),
    )
}


@functools.cache
def workload(framework: str, model: str) -> Training:
    """framewatt's workload, set up once for all epochs."""
    case = CASES[model]
    settings = {"epochs": 1, "batch_size": case.batch, "learning_rate": case.rate, "momentum": MOMENTUM}
    spec = Spec(model, case.batch, "cpu", "native", THREADS, 1, None, settings, case.options)
    made = make_training(framework, spec, case.data())
    made.setup()
    made.setup = lambda: None  # type: ignore[method-assign]  # `train` would begin anew
    return made


def framewatt(framework: str, model: str) -> float:
    """framewatt's training loop; units of work a second of its window."""
    return samples_per_second(lambda events: train(workload(framework, model), 1, events), "epoch-1")


def plain(framework: str, model: str) -> float:
    """The plain loop; units a second, which are samples, pairs of sentences, or words of a text."""
    epoch, data = plain_epoch(framework, model), CASES[model].data()
    units = len(data.y_train) if data.paired else data.y_train.size
    begin = time.perf_counter()
    epoch()
    return units / (time.perf_counter() - begin)


@functools.cache
def plain_epoch(framework: str, model: str) -> Epoch:
    """One epoch of the plain loop, over a model made once."""
    made = {"torch": torch_epoch, "tensorflow": tensorflow_epoch, "mxnet": mxnet_epoch}[framework]
    return made(CASES[model])


def torch_epoch(case: Case) -> Epoch:
    """The loop of PyTorch's beginners' tutorial."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(THREADS)
    data = case.data()
    if data.segment is not None:
        return torch_text_epoch(case, data)
    if data.paired:
        return torch_sentence_epoch(case, data)
    loss_of: Callable[[Any, Any], Any]
    if case.model == "resnet50":
        model = importlib.import_module("torchvision").models.resnet50(num_classes=10)
        optimizer = torch.optim.SGD(model.parameters(), lr=case.rate, momentum=MOMENTUM)
        loss_of, labels = torch.nn.CrossEntropyLoss(), torch.from_numpy(data.y_train)
    else:
        model = _neumf("torch", data)
        optimizer = torch.optim.Adam(model.parameters(), lr=case.rate)
        loss_of, labels = torch.nn.BCEWithLogitsLoss(), torch.from_numpy(data.y_train).float()[:, None]
    model.train()
    inputs = torch.from_numpy(data.x_train)

    def epoch() -> None:
        for chosen in torch.randperm(len(inputs)).split(case.batch):
            optimizer.zero_grad()
            loss_of(model(inputs[chosen]), labels[chosen]).backward()
            optimizer.step()

    return epoch


def torch_text_epoch(case: Case, data: Arrays) -> Epoch:
    """The same loop, which hands the memory on."""
    torch = importlib.import_module("torch")
    model = _transformer_xl("torch", data)
    optimizer = torch.optim.Adam(model.parameters(), lr=case.rate)
    inputs, labels = torch.from_numpy(data.x_train), torch.from_numpy(data.y_train)
    model.train()

    def epoch() -> None:
        state = model.fresh_state(case.batch)
        for rows in torch.arange(len(inputs)).view(case.batch, -1).T:
            optimizer.zero_grad()
            found, *state = model(inputs[rows], labels[rows], *state)
            found.mean().backward()
            optimizer.step()

    return epoch


def alike(data: Arrays, batch: int) -> list[tuple[Any, Any, Any]]:
    """Batches of sentences that are alike in length: sources, targets, labels."""
    parts = np.argsort(data.lengths(test=False), kind="stable").reshape(-1, batch)
    arrays = (*data.inputs_train.values(), data.y_train)
    return [tuple(values[rows] for values in arrays) for rows in parts]  # type: ignore[misc]  # three of them


def torch_sentence_epoch(case: Case, data: Arrays) -> Epoch:
    """The same loop, over sentences."""
    torch = importlib.import_module("torch")
    model = _gnmt("torch", data)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=case.rate)
    loss_of = torch.nn.CrossEntropyLoss(ignore_index=IGNORED, label_smoothing=SMOOTHING)
    batches = [tuple(map(torch.from_numpy, batch)) for batch in alike(data, case.batch)]
    model.train()

    def epoch() -> None:
        for number in torch.randperm(len(batches)):
            source, target, labels = batches[number]
            optimizer.zero_grad()
            loss_of(model(source, target).flatten(0, 1), labels.flatten()).backward()
            optimizer.step()

    return epoch


def tensorflow_sentence_epoch(case: Case, data: Arrays) -> Epoch:
    """A loop of Keras' guide to loops of one's own, in a graph, over sentences."""
    keras, tf = importlib.import_module("keras"), importlib.import_module("tensorflow")
    model = _gnmt("tensorflow", data)
    optimizer = keras.optimizers.Adam(case.rate, epsilon=EPSILON)
    loss_of = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=SMOOTHING, reduction="none")

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int64)] * 3)  # type: ignore[untyped-decorator]  # tensorflow is not installed where mypy runs
    def step(source: Any, target: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            scores = model([source, target], training=True)
            there = tf.cast(labels != IGNORED, scores.dtype)
            losses = loss_of(tf.one_hot(tf.maximum(labels, 0), data.classes), scores)
            loss = tf.reduce_sum(losses * there) / tf.reduce_sum(there)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    batches = [tuple(map(tf.constant, batch)) for batch in alike(data, case.batch)]

    def epoch() -> None:
        for number in np.random.default_rng(1).permutation(len(batches)):
            step(*batches[number])

    return epoch


def tensorflow_text_epoch(case: Case, data: Arrays) -> Epoch:
    """A loop of Keras' guide to loops of one's own, in a graph, which hands the memory on; `fit` cannot."""
    keras, tf = importlib.import_module("keras"), importlib.import_module("tensorflow")
    model = _transformer_xl("tensorflow", data)
    optimizer = keras.optimizers.Adam(case.rate, epsilon=EPSILON)

    @tf.function  # type: ignore[untyped-decorator]  # tensorflow is not installed where mypy runs
    def step(inputs: Any, labels: Any, *state: Any) -> Any:
        with tf.GradientTape() as tape:
            found, *left = model([inputs, labels, *state], training=True)
            loss = tf.reduce_mean(found)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return left

    def epoch() -> None:
        state = model.fresh_state(case.batch)
        for rows in np.arange(len(data.x_train)).reshape(case.batch, -1).T:
            state = step(tf.constant(data.x_train[rows]), tf.constant(data.y_train[rows]), *state)

    return epoch


def tensorflow_epoch(case: Case) -> Epoch:
    """Keras's `fit`, as itu2023's authors trained."""
    keras = importlib.import_module("keras")
    data = case.data()
    if data.segment is not None:
        return tensorflow_text_epoch(case, data)
    if data.paired:
        return tensorflow_sentence_epoch(case, data)
    if case.model == "resnet50":
        inputs = np.ascontiguousarray(np.moveaxis(data.x_train, 1, -1))
        zoo = keras.applications.ResNet50
        model = zoo(weights=None, input_shape=(32, 32, 3), classes=10, classifier_activation=None)
        optimizer = keras.optimizers.SGD(case.rate, momentum=MOMENTUM)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    else:
        inputs, model = data.x_train, _neumf("tensorflow", data)
        optimizer = keras.optimizers.Adam(case.rate, epsilon=EPSILON)
        loss = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer, loss=loss)

    def epoch() -> None:
        model.fit(inputs, data.y_train, batch_size=case.batch, epochs=1, verbose=0)

    return epoch


def mxnet_epoch(case: Case) -> Epoch:
    """The loop of Gluon's crash course, hybridized."""
    mx = importlib.import_module("mxnet")
    data = case.data()
    if case.model == "resnet50":
        model, loss_of = mx.gluon.model_zoo.vision.resnet50_v1(classes=10), mx.gluon.loss.SoftmaxCrossEntropyLoss()
        optimizer = ("sgd", {"learning_rate": case.rate, "momentum": MOMENTUM})
    else:
        model, loss_of = _neumf("mxnet", data), mx.gluon.loss.SigmoidBCELoss()
        optimizer = ("adam", {"learning_rate": case.rate})
    model.initialize(mx.init.Xavier())
    model.hybridize()
    trainer = mx.gluon.Trainer(model.collect_params(), *optimizer)
    inputs = mx.nd.array(data.x_train, dtype=data.x_train.dtype)
    labels = mx.nd.array(data.y_train)

    def epoch() -> None:
        order = np.random.default_rng(1).permutation(len(inputs))
        for start in range(0, len(order), case.batch):
            chosen = mx.nd.array(order[start : start + case.batch], dtype=np.int64)
            with mx.autograd.record():
                loss = loss_of(model(inputs.take(chosen)), labels.take(chosen))
            loss.backward()
            trainer.step(case.batch)
        mx.nd.waitall()

    return epoch


def _neumf(framework: str, data: Arrays) -> Any:
    module = importlib.import_module(f"framewatt.workloads.{framework}._neumf")
    return module.build_neumf(SMALL, data.categories)


def _transformer_xl(framework: str, data: Arrays) -> Any:
    module = importlib.import_module(f"framewatt.workloads.{framework}._transformer_xl")
    return module.build_transformer_xl(SMALL_XL, data.classes, data.input_shape)


def _gnmt(framework: str, data: Arrays) -> Any:
    return importlib.import_module(f"framewatt.workloads.{framework}._gnmt").build_gnmt(SMALL_GNMT, data.classes)


LOOPS: dict[str, Callable[[str, str], float]] = {"framewatt": framewatt, "plain": plain}


def main(framework: str, model: str) -> None:
    """Answer line after line, until standard input ends."""
    workload(framework, model)  # sets the threads, before anything runs
    for line in sys.stdin:
        print(f"RATE {LOOPS[json.loads(line)['loop']](framework, model)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
