"""Loops that are slowed down or not, in the torch environment: a segment of one is run whenever a line asks for it.

`python -m bench.loops` reads a JSON line a segment (`loop`, `seconds`, `tool`) and answers with samples per second.
"""

import functools
import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torchvision

from bench.timed import samples_per_second
from framewatt.datasets.contract import Images
from framewatt.runs.worker import infer
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Inference, Spec

THREADS = 1
"""One thread leaves a core to the sampler, as a machine with more cores than the workload uses does."""

Loop = Callable[[float], float]


def mobilenet(seconds: float) -> float:
    """Batch 1 through torchvision's MobileNetV2, bare; samples a second."""
    model, batch = _mobilenet()
    count = 0
    with torch.inference_mode():
        begin = time.perf_counter()
        while (elapsed := time.perf_counter() - begin) < seconds:
            model(batch)
            count += 1
    return count / elapsed


def framewatt_loop(seconds: float) -> float:
    """framewatt's timed loop over ResNet-50 at batch 1; samples a second."""
    workload = _resnet50()
    window = {"warm_up_batches": 2, "minimum_s": seconds}
    return samples_per_second(lambda events: infer(workload, window, events), "steady")


def bare_loop(seconds: float) -> float:
    """The same model and inputs in the shortest loop that brings scores to the host; samples a second."""
    workload = _resnet50()
    workload.setup()
    model, batches = workload.model, list(workload.batches())
    count = 0
    with torch.inference_mode():
        for batch in batches[:2]:
            model(*batch)
        begin = time.perf_counter()
        while (elapsed := time.perf_counter() - begin) < seconds:
            model(*batches[count % len(batches)]).numpy()
            count += 1
    return count / elapsed


LOOPS: dict[str, Loop] = {
    "mobilenet": mobilenet,
    "framewatt": framewatt_loop,
    "bare": bare_loop,
}


@functools.cache
def _mobilenet() -> tuple[torch.nn.Module, torch.Tensor]:
    return torchvision.models.mobilenet_v2().eval(), torch.zeros(1, 3, 224, 224)


def _data() -> Images:
    rng = np.random.default_rng(1)
    images, labels = rng.random((96, 3, 32, 32), dtype=np.float32), (np.arange(96) % 10).astype(np.int64)
    return Images(images, labels, images, labels)


def _spec(artefact: Path | None, batch_size: int = 1) -> Spec:
    training = {"epochs": 1, "batch_size": 16, "learning_rate": 0.001, "momentum": 0.9}
    return Spec("resnet50", batch_size, "cpu", "native", THREADS, 1, artefact, training)


@functools.cache
def _weights() -> "TemporaryDirectory[str]":
    """Random weights of ResNet-50, where framewatt's inference finds them."""
    folder = TemporaryDirectory()
    training = make_training("torch", _spec(None), _data())
    training.setup()
    training.save(Path(folder.name))
    return folder


def _resnet50() -> Inference:
    return make_inference("torch", _spec(Path(_weights().name)), _data())


def main() -> None:
    """Answer segment after segment, until standard input ends."""
    torch.set_num_threads(THREADS)
    for line in sys.stdin:
        request = json.loads(line)
        loop = LOOPS[request["loop"]]
        if request["tool"]:
            tools = importlib.import_module("hardware.peers")
            begin, end = {"codecarbon": tools.codecarbon, "zeus": tools.zeus, "pyRAPL alone": tools.pyrapl}[
                request["tool"]
            ]()
            begin()
            rate = loop(request["seconds"])
            end()
        else:
            rate = loop(request["seconds"])
        print(f"RATE {rate}", flush=True)


if __name__ == "__main__":
    main()
