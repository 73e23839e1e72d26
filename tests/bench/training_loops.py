"""Training loops of a framework, in its own environment: framewatt's and the plain one that its documentation teaches.

`python -m bench.training_loops <framework>` reads the name of a loop a line (`framewatt`, `plain`) and answers with
samples per second over an epoch. Both train ResNet-50 from the framework's zoo on the same images, each with its own
weights; what a framework does once (tracing, compiling) is done before the first answer of a loop that counts.
"""

import functools
import importlib
import json
import sys
import time
from collections.abc import Callable

import numpy as np

from bench.timed import samples_per_second
from framewatt.datasets.contract import Arrays
from framewatt.runs.worker import train
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec, Training

THREADS = 1
BATCH = 16
SAMPLES = 96
SETTINGS = {"epochs": 1, "batch_size": BATCH, "learning_rate": 0.001, "momentum": 0.9}

Epoch = Callable[[], None]


def images() -> Arrays:
    """Noise in the shape of CIFAR-10."""
    rng = np.random.default_rng(1)
    pixels, labels = rng.random((SAMPLES, 3, 32, 32), dtype=np.float32), (np.arange(SAMPLES) % 10).astype(np.int64)
    return Arrays(pixels, labels, pixels[:BATCH], labels[:BATCH], class_count=10)


@functools.cache
def workload(framework: str) -> Training:
    """framewatt's workload, set up once for all epochs."""
    spec = Spec("resnet50", BATCH, "cpu", "native", THREADS, 1, None, SETTINGS)
    made = make_training(framework, spec, images())
    made.setup()
    made.setup = lambda: None  # type: ignore[method-assign]  # `train` would begin anew
    return made


def framewatt(framework: str) -> float:
    """framewatt's training loop; samples a second of its window."""
    return samples_per_second(lambda events: train(workload(framework), 1, events), "epoch-1")


def plain(framework: str) -> float:
    """The plain loop; samples a second."""
    epoch = plain_epoch(framework)
    begin = time.perf_counter()
    epoch()
    return SAMPLES / (time.perf_counter() - begin)


@functools.cache
def plain_epoch(framework: str) -> Epoch:
    """One epoch of the plain loop, over a model made once."""
    return {"torch": torch_epoch, "tensorflow": tensorflow_epoch, "mxnet": mxnet_epoch}[framework]()


def torch_epoch() -> Epoch:
    """The loop of PyTorch's beginners' tutorial."""
    torch, torchvision = importlib.import_module("torch"), importlib.import_module("torchvision")
    torch.set_num_threads(THREADS)
    data = images()
    model = torchvision.models.resnet50(num_classes=10).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    inputs, labels = torch.from_numpy(data.x_train), torch.from_numpy(data.y_train)

    def epoch() -> None:
        for start in range(0, SAMPLES, BATCH):
            optimizer.zero_grad()
            loss_of(model(inputs[start : start + BATCH]), labels[start : start + BATCH]).backward()
            optimizer.step()

    return epoch


def tensorflow_epoch() -> Epoch:
    """Keras's `fit`, as itu2023's authors trained."""
    keras = importlib.import_module("keras")
    data = images()
    inputs = np.ascontiguousarray(np.moveaxis(data.x_train, 1, -1))
    model = keras.applications.ResNet50(weights=None, input_shape=(32, 32, 3), classes=10, classifier_activation=None)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.SGD(0.001, momentum=0.9), loss=loss)

    def epoch() -> None:
        model.fit(inputs, data.y_train, batch_size=BATCH, epochs=1, verbose=0)

    return epoch


def mxnet_epoch() -> Epoch:
    """The loop of Gluon's crash course, hybridized."""
    mx = importlib.import_module("mxnet")
    data = images()
    model = mx.gluon.model_zoo.vision.resnet50_v1(classes=10)
    model.initialize(mx.init.Xavier())
    model.hybridize()
    trainer = mx.gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.001, "momentum": 0.9})
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    inputs, labels = mx.nd.array(data.x_train), mx.nd.array(data.y_train)

    def epoch() -> None:
        for start in range(0, SAMPLES, BATCH):
            with mx.autograd.record():
                loss = loss_of(model(inputs[start : start + BATCH]), labels[start : start + BATCH])
            loss.backward()
            trainer.step(BATCH)
        mx.nd.waitall()

    return epoch


LOOPS: dict[str, Callable[[str], float]] = {"framewatt": framewatt, "plain": plain}


def main(framework: str) -> None:
    """Answer line after line, until standard input ends."""
    workload(framework)  # sets the threads, before anything runs
    for line in sys.stdin:
        print(f"RATE {LOOPS[json.loads(line)['loop']](framework)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
