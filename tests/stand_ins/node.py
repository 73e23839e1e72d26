"""Stands in for the client in Node.js: one pass over the test set and batches until the time is over, timed here."""

import itertools
import json
import time
from types import SimpleNamespace

import numpy as np

from framewatt.workloads.onnxruntime.engine import make_inference


def infer(spec, data, window, events):
    workload = make_inference(spec, data)
    workload.setup()
    batches = list(workload.batches())
    warm_up = [time.monotonic_ns()]
    for number in range(window["warm_up_batches"]):
        workload.run(batches[number % len(batches)])
    warm_up.append(time.monotonic_ns())
    outputs, stamps = [], [time.monotonic_ns()]
    for number, batch in enumerate(itertools.cycle(batches)):
        if number >= len(batches) and stamps[-1] - stamps[0] >= window["minimum_s"] * 1e9:
            break
        outputs.append(workload.run(batch))
        stamps.append(time.monotonic_ns())
    with events.open("a") as file:
        for name, times in (("warm_up", warm_up), ("steady", stamps)):
            for edge, stamp in (("start", times[0]), ("end", times[-1])):
                file.write(json.dumps({"window": name, "edge": edge, "monotonic_ns": stamp}) + "\n")
    return SimpleNamespace(
        outputs=np.concatenate(outputs[: len(batches)]),
        stamps_ns=np.array(stamps),
        facts=workload.facts(),
        levels=workload.levels(),
    )
