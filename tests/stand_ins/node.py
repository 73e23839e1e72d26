"""Stands in for the client in Node.js: one pass over the test set, timed here."""

import json
import time
from types import SimpleNamespace

import numpy as np

from framewatt.workloads.onnxruntime.engine import make_inference


def infer(spec, data, window, events):
    workload = make_inference(spec, data)
    workload.setup()
    scores, stamps = [], [time.monotonic_ns()]
    while not scores or stamps[-1] - stamps[0] < window["minimum_s"] * 1e9:
        scores = [workload.run(batch) for batch in workload.batches()]
        stamps.append(time.monotonic_ns())
    with events.open("a") as file:
        for edge, stamp in (("start", stamps[0]), ("end", stamps[-1])):
            file.write(json.dumps({"window": "steady", "edge": edge, "monotonic_ns": stamp}) + "\n")
    return SimpleNamespace(
        scores=np.concatenate(scores),
        stamps_ns=np.array(stamps),
        samples=(len(stamps) - 1) * len(data.x_test),
        facts=workload.facts(),
    )
