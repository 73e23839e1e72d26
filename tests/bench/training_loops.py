"""Training loops of a framework, in its own environment: framewatt's and the plain one that its documentation teaches.

`python -m bench.training_loops <framework> <model>` reads the name of a loop a line (`framewatt`, `plain`) and answers
with units of work per second over an epoch, the mean loss of its steps, and how many numbers are learnt. Both train the
same model on the same samples, each with its own weights; what a framework does once (tracing, compiling) is done
before the first answer of a loop that counts.
"""

import functools
import importlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.timed import samples_per_second
from bench.training_cases import CASES, MOMENTUM, SEED, THREADS, Plain
from framewatt.datasets.segments import Segments
from framewatt.runs.events import Events
from framewatt.runs.worker import train
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec, Training


@dataclass(frozen=True)
class Answer:
    """What an epoch of a loop showed.

    Attributes:
        rate: units of work a second.
        loss: mean of its steps' losses.
        parameters: how many numbers the model learns.
    """

    rate: float
    loss: float
    parameters: int

    def __str__(self) -> str:
        return f"RATE {self.rate} LOSS {self.loss} PARAMETERS {self.parameters}"


@functools.cache
def workload(framework: str, model: str) -> Training:
    """framewatt's workload, set up once for all epochs."""
    case = CASES[model]
    settings = {"epochs": 1, "batch_size": case.batch, "learning_rate": case.rate, "momentum": MOMENTUM}
    spec = Spec(model, case.batch, "cpu", "native", THREADS, SEED, None, settings, case.options)
    made = make_training(framework, spec, case.data())
    made.setup()
    made.setup = lambda: None  # type: ignore[method-assign]  # `train` would begin anew
    return made


@functools.cache
def parameters(framework: str, model: str) -> int:
    """Of framewatt's workload, as its records have it."""
    return int(workload(framework, model).facts()["parameters"])


def framewatt(framework: str, model: str) -> Answer:
    """framewatt's training loop; units of work a second of its window."""
    told: dict[str, Any] = {}

    def epoch(events: Events) -> dict[str, Any]:
        told.update(train(workload(framework, model), 1, events))
        return told

    rate = samples_per_second(epoch, "epoch-1")
    return Answer(rate, told["epochs"][0]["loss_mean"], parameters(framework, model))


def plain(framework: str, model: str) -> Answer:
    """The plain loop; units a second, which are samples, pairs of sentences, or words of a text."""
    loop = plain_loop(framework, model)
    begin = time.perf_counter()
    losses = loop.epoch()
    took_s = time.perf_counter() - begin
    return Answer(units(model) / took_s, float(np.mean([loop.loss_of(loss) for loss in losses])), loop.parameters)


@functools.cache
def plain_loop(framework: str, model: str) -> Plain:
    """The plain loop of a framework, over a model made once."""
    made: Plain = importlib.import_module(f"bench.plain_{framework}").plain(CASES[model])
    return made


@functools.cache
def units(model: str) -> int:
    """Units of work in an epoch of a plain loop."""
    data = CASES[model].data()
    return data.y_train.size if isinstance(data, Segments) else len(data.y_train)


LOOPS: dict[str, Callable[[str, str], Answer]] = {"framewatt": framewatt, "plain": plain}


def main(framework: str, model: str) -> None:
    """Answer line after line, until standard input ends."""
    workload(framework, model)  # sets the threads, before anything runs
    for line in sys.stdin:
        print(LOOPS[json.loads(line)["loop"]](framework, model), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
