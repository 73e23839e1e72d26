"""Runs of package_factory's study, as if a worker had said so: readings, machine and the workload's words are made up.

What becomes of them is not: the records are the runner's.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.files import sha256_of, write_json
from framewatt.energy.accounts import energy_channels, energy_of
from framewatt.host.machine import machine_of
from framewatt.host.supervision import Outcome
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import write_trace
from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.runs import runner
from framewatt.runs.conditions import in_force, requested
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.records import Clock, write_events
from framewatt.runs.worker import _latency, with_predictions
from framewatt.study.study import Run
from framewatt.tasks.quality import described
from framewatt.witness.instrument import witness_channels

ROOT = Path(__file__).parents[1]
S = 1_000_000_000
MINIMUM_S = 9.0
"""Shortest window of inference."""
_HARDWARE = {
    "cpu_model": "a processor",
    "processors": 4,
    "processors_usable": 4,
    "memory_b": 8 << 30,
    "architecture": "x86_64",
    "kernel": "6.1",
    "operating_system": "an operating system",
    "virtual_machine": False,
    "gpus": [],
}
MACHINE = {**_HARDWARE, "id": machine_of(_HARDWARE), "session": "0123456789abcdef"}
_OF_CLASSES = {"accuracy": 0.9, "precision_macro": 0.88, "recall_macro": 0.87, "f1_macro": 0.86}
_QUALITY = described({**_OF_CLASSES, "top1_error": 0.1, "top5_error": 0.025}, None)
DATA = {"dataset": "digits", "sha256": "d" * 64, "train_samples": 1437, "test_samples": 360}
_RIGHT = 324
_WEIGHTS = "a" * 64
_LOCK = ROOT / "envs/torch/requirements.txt"


def environment() -> dict[str, Any]:
    """The record of the environment in which they ran."""
    return {
        "name": "torch",
        "mode": "locked",
        "lock_sha256": sha256_of(_LOCK),
        "status": "ok",
        "reason": None,
        "python": "python",
        "python_version": "3.11.7",
        "packages": dict(re.findall(r"^([\w.-]+)==([^\s;]+)", _LOCK.read_text(), re.MULTILINE)),
    }


def calibrate(results: Path, meters: list[str], job_sha256: str) -> dict[str, Any]:
    """What an idle machine draws, before and after the runs."""
    trace = _trace(np.arange(0, 3 * S, S // 100), meters, 4.0, 1)
    domains = {}
    for domain, index in energy_channels(trace.channels).items():
        channel = trace.channels[index]
        window = energy_of(channel, *trace.read_channel(index), S // 2, 5 * S // 2 + 1)
        about = {"instrument": channel.instrument, "source": channel.quantity, "estimated": channel.estimated}
        spreads = [{"span_s": 0.5, "spans": 4, "sd_power_w": 0.2}, {"span_s": 0.25, "spans": 8, "sd_power_w": 0.1}]
        domains[domain] = {
            "mean_power_w": window.mean_power_w,
            "sd_power_w": 0.1,
            "spreads": spreads,
            **about,
            "valid": True,
            "reasons": [],
        }
    idle = {"meters": meters, "idle_s": 2.0, "duration_s": 2.000000001, "domains": domains, "sampler": _sampled(trace)}
    for name in ("idle", "idle_after"):
        write_json(results / "calibrate" / f"{name}.json", {**idle, "machine": MACHINE, "job_sha256": job_sha256})
    available = {name: {"available": name in meters, "reason": ""} for name in ("rapl", "nvml", "estimate")}
    instruments = {"meters": meters, "available": available, "machine": MACHINE, "preflight": []}
    write_json(results / "calibrate" / "instruments.json", instruments)
    return {**idle, "machine": MACHINE}


def trained() -> dict[str, Any]:
    """The record of their weights."""
    epochs = [{"epoch": number, "loss_mean": 1 / number, "quality": _QUALITY} for number in (1, 2)]
    made = {"status": "ok", "reason": None, "attempt": 1, "framework": "torch", "weights": "trained"}
    return {**made, "epochs": epochs, "workload": {}, "weights_sha256": _WEIGHTS}


def _trace(time_ns: Any, meters: list[str], power_w: float, seed: int) -> Trace:
    """Readings of a package's and its memory's counters, of an estimate, or of a GPU's gauges too."""
    rng = np.random.default_rng(seed)
    if meters == ["estimate"]:
        channels = [Channel("estimate", "cpu:estimate", "energy_j", COUNTER, 0.01, True, 0.1, period_s=0.01)]
    else:
        channels = [
            Channel("rapl", domain, "energy_j", COUNTER, 0.001, False, 61e-6, 262143.32885, 500.0, 0.01)
            for domain in ("cpu:package-0", "cpu:dram-0")
        ]
    steps = power_w / 100 * rng.uniform(0.9, 1.1, (len(channels), len(time_ns)))
    joules = np.cumsum(steps * np.array([1.0, 0.2][: len(channels)])[:, None], axis=1)
    values = joules if meters == ["estimate"] else np.rint(joules * 1e6) * 1e-6
    numbers = np.repeat(np.arange(len(channels), dtype=np.int32), len(time_ns))
    return Trace(tuple(channels), np.tile(time_ns, len(channels)), numbers, values.ravel())


def _sampled(trace: Any) -> dict[str, Any]:
    """What the sampling process says of itself, of one meter that missed nothing."""
    time_ns = trace.read_channel(0)[0]
    duration_s = (int(time_ns[-1]) - int(time_ns[0]) - 5_000_000) * 1e-9
    return {"reads": len(time_ns) - 1, "missed_reads": 0, "duration_s": duration_s}


def play(
    hashes: JobHashes,
    run: Run,
    results: Path,
    idle: dict[str, Any],
    code: dict[str, Any],
    read: Callable[[int, Run], Trace] | None = None,
    data_sha256: str = DATA["sha256"],
) -> dict[str, Any]:
    """One run, as if the worker had said so: 12 s, from 100 s times its place in the order.

    Args:
        hashes: of the study's jobs.
        run: which one.
        results: results/<study>.
        idle: the calibration.
        code: identity of the code that measured it.
        read: the readings of a run that began at a time in nanoseconds; None is two counters at 10 ms.
        data_sha256: of the data set.
    """
    began = 100 * S * run.position
    job = jobs.measure_job(hashes.study, run.cell, run.repetition, 1)
    job["job_sha256"] = hashes.run(run.cell, run.repetition)
    start = None if run.cell.phase == "train" else _WEIGHTS
    identity = {"code": code, "data_sha256": data_sha256, "artefact_sha256": start}
    job |= {"position": run.position, "missing": None, "repeat": True, "identity": identity, "meters": idle["meters"]}
    trace = (
        read(began, run)
        if read
        else _trace(began + np.arange(0, 14 * S, S // 100), idle["meters"], 9.0 + run.position, run.position)
    )
    outcome = Outcome(None, began + S, began + 13 * S)
    result, events = (_train if run.cell.phase == "train" else _infer)(began, run)
    folder = results / "measure" / run.cell.id / str(run.repetition)
    right = np.random.default_rng(run.position).permutation(np.arange(DATA["test_samples"]) < _RIGHT)
    folder.mkdir(parents=True)
    result = with_predictions({**result, "right": right}, folder / PREDICTIONS)
    trace = _witnessed(trace, began, [event["monotonic_ns"] for event in events])
    wanted = requested(job)
    facts = {
        "parameters": 25_000_000,
        "libraries": {"torch": "2.15.0", "torchvision": "0.29.2"},
        "options": in_force(wanted, wanted),
    }
    clock = Clock(0, "2026-01-01T00:00:00+00:00")
    around = {
        "cool_down_s": 0.0,
        "returned_to_idle": None,
        "preflight": [],
        "lock": {"waited_s": 0.0, "machine_wide": True},
        "sampler": _sampled(trace),
        "clock": {"monotonic_ns": 0, "utc": "2026-01-01T00:00:00+00:00"},
        "error": None,
    }
    outer = {"window": "process", "edge": "start", "monotonic_ns": outcome.started_ns}
    events = [outer, *events, {**outer, "edge": "end", "monotonic_ns": outcome.ended_ns}]
    record = runner._record(job, environment(), idle, trace, events, outcome, {**result, "workload": facts}, around) | {
        "machine": MACHINE
    }
    runner._stamp(record["windows"], clock)
    write_trace(folder / "power.parquet", trace)
    write_events(folder / "events.parquet", events, clock)
    runner._keep(record, runner.RunFiles(*(folder / f for f in ("run.json", "power.parquet", "events.parquet", "log"))))
    return record


def _witnessed(trace: Trace, began: int, edges: list[int]) -> Trace:
    """A trace with a witness of a quiet run on two of four processors: each second, and soon after each edge."""
    time_ns = np.unique([*(began + np.arange(0, 14 * S, S)), *(edge + S // 200 for edge in edges)])
    elapsed_s = (time_ns - began) * 1e-9
    rising = {"idle_s": 2.0, "cpu_s": 1.97, "own_cpu_s": 0.02, "cpu_stall_s": 0.3, "involuntary_switches": 40.0}
    constant = {"processors_online": 4.0, "processors_usable": 4.0, "throttled": np.nan, "frequency_hz": np.nan}
    channels = witness_channels()
    values = [constant.get(one.quantity, 0.0) + rising.get(one.quantity, 0.0) * elapsed_s for one in channels]
    numbers = np.repeat(np.arange(len(channels), dtype=np.int32) + len(trace.channels), len(time_ns))
    return Trace(
        (*trace.channels, *channels),
        np.concatenate([trace.monotonic_ns, np.tile(time_ns, len(channels))]),
        np.concatenate([trace.channel, numbers]),
        np.concatenate([trace.value, np.concatenate(values)]),
    )


def _window(name: str, start_ns: int, end_ns: int) -> list[dict[str, Any]]:
    edges = (("start", start_ns), ("end", end_ns))
    return [{"window": name, "edge": edge, "monotonic_ns": at} for edge, at in edges]


def _infer(began: int, run: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Two passes over the test set and some batches more, until 9 s are over."""
    samples = DATA["test_samples"]
    whole = -(-samples // run.cell.batch_size)
    ends = np.cumsum(np.random.default_rng(run.position).uniform(0.9, 1.1, 3 * whole) * 4.4 / whole * S)
    ends = ends[: int(np.searchsorted(ends, MINIMUM_S * S)) + 1]
    passes, rest = divmod(len(ends), whole)
    stamps = began + 2 * S + np.concatenate(([0], ends.astype(np.int64)))
    result = {
        "primary_window": "steady",
        "units": {"name": "sample", "count": passes * samples + rest * run.cell.batch_size},
        "latency": _latency(stamps),
        "quality": _QUALITY,
        "epochs": [],
    }
    around = ("setup", S + S // 10, S + S // 2), ("warm_up", S + S // 2, 2 * S)
    before = [event for name, start, end in around for event in _window(name, began + start, began + end)]
    return result, [*before, *_window("steady", int(stamps[0]), int(stamps[-1]))]


def _train(began: int, run: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Two epochs of 4 s."""
    each = DATA["train_samples"] // run.cell.batch_size * run.cell.batch_size
    # The last epoch of the last training diverged, so that one run has a flag.
    losses = [1.0, 0.5 if run.repetition == 1 else None]
    epochs = [{"epoch": k, "units": each, "loss_mean": loss, "quality": _QUALITY} for k, loss in enumerate(losses, 1)]
    units = {"name": "sample", "count": 2 * each}
    result = {"primary_window": "steady", "units": units, "latency": None, "quality": _QUALITY}
    edges = [(began + 2 * S, began + 6 * S), (began + 7 * S, began + 11 * S)]
    events = [event for k, edge in enumerate(edges, 1) for event in _window(f"epoch-{k}", *edge)]
    return {**result, "epochs": epochs}, events
