"""A study of a few short training runs of a tiny MXNet model (it imports fastest) some of which are told to fail."""

import json
from pathlib import Path
from typing import Any

from checkout import READ_RARELY, Checkout
from stand_ins import draw_nothing

from framewatt.runs.records import read_run

MODEL = '''
"""A tiny network that does as the file `fault` says, which names a fault for some batch sizes."""

import os
import resource
import time
from pathlib import Path

import mxnet
from mxnet.gluon import nn


class Network(nn.HybridSequential):
    """Hangs in its second epoch of two batches, after two calls to set up and two in the first epoch."""

    calls = 0

    def __call__(self, *inputs):
        self.calls += 1
        if _fault() == "stall" and self.calls > 5:
            Path("stalled").touch()
            time.sleep(3600)
        return super().__call__(*inputs)


def build(facts, size):
    fault = _fault()
    if fault == "crash":
        raise RuntimeError("planted crash")
    if fault == "kill":
        os.kill(os.getpid(), 9)
    if fault == "hang":
        Path("hangs").touch()
        time.sleep(3600)
    if fault == "gorge":
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        mxnet.nd.zeros((1 << 15, (1 << 16) - 8), dtype="float64").wait_to_read()
    network = Network()
    network.add(nn.Conv2D(4, 3, strides=4), nn.Flatten(), nn.Dense(facts.classes))
    return network


def _fault():
    import json
    import sys
    faults = json.loads(Path("fault").read_text()) if Path("fault").exists() else {}
    return faults.get(str(json.loads(Path(sys.argv[1]).read_text())["batch_size"]), "")
'''
FACTORS = {"phase": ["train"], "workload": ["tiny"], "dataset": ["digits-few"]}
QUICK = {
    "instruments": READ_RARELY,
    "training": {"epochs": 1},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "disturbance": "flag",
    "timeout_s": 600,
    "repetitions": 1,
    "statistics": {"resamples": 100},
}
STUDY = "study=faulty"
FRAMES = "results/faulty/aggregate/runs.csv"
"""All runs, and no figures or report of them: half of what all takes."""


def study_in(folder: Path) -> Checkout:
    """Return a checkout in an empty folder, with such a study, which draws no figures."""
    checkout = Checkout(folder)
    checkout.share_environment("mxnet/cpu")
    checkout.add_model("mxnet", "tiny", MODEL)
    draw_nothing(checkout)
    checkout.write_study("faulty", factors=[{**FACTORS, "runtime": ["mxnet"], "batch_size": [8, 16, 32]}], **QUICK)
    return checkout


def plant(checkout: Checkout, faults: dict[int, str]) -> None:
    """Have runs of these batch sizes fail."""
    (checkout.root / "fault").write_text(json.dumps(faults))


def record(checkout: Checkout, batch_size: int, study: str = "faulty") -> dict[str, Any]:
    """Return the record of the run of a batch size."""
    path = f"results/{study}/measure/train-tiny-digits-few-mxnet-b{batch_size}/1/run.json"
    return read_run(checkout.root / path)
