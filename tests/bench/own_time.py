"""framewatt's own time in a run: from the start of rule measure's script to its end, less the worker's process.

The worker is a program that only marks its windows, in the place of a framework.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
STEADY_S = 0.5
WORKER = """#!{python} -S
import json, sys, time
job = json.load(open(sys.argv[3]))
with open(job["events"], "w") as events:
    for edge, pause in (("start", {pause}), ("end", 0)):
        line = {{"window": "steady", "edge": edge, "monotonic_ns": time.monotonic_ns()}}
        events.write(json.dumps(line) + "\\n")
        time.sleep(pause)
json.dump({{"primary_window": "steady", "units": {{"name": "sample", "count": 5}}, "latency": None, "epochs": [],
           "quality": {{"accuracy": {{"value": 0.5, "unit": "", "better": "higher", "reason": None}}}},
           "workload": {{"parameters": 1}}}},
          open(job["result"], "w"))
"""


def own_seconds(scratch: Path, runs: int) -> list[float]:
    """Seconds of each run that are framewatt's own.

    Args:
        scratch: an empty folder.
        runs: how many runs.
    """
    worker = scratch / "worker"
    worker.write_text(WORKER.format(python=sys.executable, pause=STEADY_S))
    worker.chmod(0o755)
    schema = yaml.safe_load((ROOT / "config/schemas/study.schema.yaml").read_text())
    defaults = {name: key["default"] for name, key in schema["properties"]["instruments"]["properties"].items()}
    instruments = {**defaults, "meters": ["estimate"]}
    files = {
        "plan": {"order": [{"cell": "c", "repetition": 1, "position": 1}], "cells": [{"id": "c"}], "repetitions": 1},
        "idle": _calibrated(scratch, instruments),
        "environment": {"name": "scripted", "status": "ok", "reason": None, "python": str(worker)},
        "data": {"sha256": "0"},
    }
    for name, content in files.items():
        (scratch / f"{name}.json").write_text(json.dumps(content))
    job = {
        **{"study": "bench", "cell_id": "c", "cell": {"phase": "infer"}, "engine": "torch", "repetition": 1},
        **{"attempt": 1, "job_sha256": None, "purpose": "measure", "phase": "infer", "model": "none"},
        **{"provider": "native", "batch_size": 1, "seed": 1, "window": {}, "training": {}, "weights": None},
        **{"device": "cpu", "threads": 1, "instruments": instruments, "timeout_s": 60},
        "cool_down": {"rest_s": 0, "idle_band": None, "timeout_s": 1},
        "preflight": {"strict": False, "accept": [], "set_governor": None},
    }
    return [_own_seconds(scratch, job) for _ in range(runs)]


def _calibrated(scratch: Path, instruments: dict) -> dict:
    from framewatt.runs.calibration import measure_idle

    return measure_idle(["estimate"], instruments, 0.5, scratch / "idle.bin")


def _own_seconds(scratch: Path, job: dict) -> float:
    out = scratch / "measure" / "c" / "1"
    options = {
        "job": json.dumps(job),
        "data": scratch / "data.npz",
        "data-record": scratch / "data.json",
        "environment": scratch / "environment.json",
        "plan": scratch / "plan.json",
        "idle": scratch / "idle.json",
        "record": out / "run.json",
        "power": out / "power.parquet",
        "events": out / "events.parquet",
        "log": scratch / "log",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-P", "scripts/measure.py", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    wall_s = time.perf_counter() - begin
    record = json.loads((out / "run.json").read_text())
    assert record["status"] == "ok", record["reasons"]
    return wall_s - record["windows"]["process"]["duration_s"]
