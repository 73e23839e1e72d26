"""A small study's results, from which packages are made in tests: runs that were played, and all that follows of them.

Nothing in such a package is made up but the readings, the machine and what the workload said: the plan is the study
file's, the records are the runner's, the frames are theirs.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from records_factory import as_then

from framewatt.base.files import read_json, sha256_of, write_json, write_text
from framewatt.base.identity import code_identity
from framewatt.base.privacy import Secrets
from framewatt.base.spreadsheet import to_csv
from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import load_catalogue
from framewatt.energy.accounts import energy_channels, energy_of
from framewatt.energy.idle_power import drift_w
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.host.machine import machine_of
from framewatt.host.supervision import Outcome
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import write_trace
from framewatt.package.contents import project_files, study_files
from framewatt.package.write import write_package
from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.job_sources import sources_of
from framewatt.planning.plan import plan_of, planned_cells
from framewatt.runs import runner
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.records import SCHEMA_VERSION, Clock, read_run, write_events
from framewatt.runs.worker import _latency, with_predictions
from framewatt.stopping.path import path_of
from framewatt.stopping.record import frame_of, record_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.study.study import Run, Study, load_study
from framewatt.tasks.quality import described
from framewatt.witness.instrument import witness_channels
from framewatt.workloads import registered_models

ROOT = Path(__file__).parents[1]
S = 1_000_000_000
CELL = "infer-resnet50-digits-torch-b1"
STUDY: dict[str, Any] = {
    "study": "trial",
    "title": "A trial",
    "description": "Runs of nothing",
    "factors": [
        {
            "phase": ["infer"],
            "workload": ["resnet50"],
            "runtime": ["torch"],
            "dataset": ["digits"],
            "batch_size": [1, 8],
        },
        {"phase": ["train"], "workload": ["resnet50"], "runtime": ["torch"], "dataset": ["digits"], "batch_size": [16]},
    ],
    "repetitions": 2,
    "seed": 1,
    "device": "cpu",
    "threads": 2,
    "instruments": {"meters": ["rapl"], "fallback": "estimate"},
    "training": {"epochs": 2, "batch_size": 16},
    "calibration": {"idle_s": 2},
    "window": {"minimum_s": 9.0},
    "cool_down": {"rest_s": 0},
    "statistics": {"compare": ["batch_size"], "resamples": 999},
    "archive": {"authors": ["Doe, Jane"], "license": "CC-BY-4.0", "keywords": ["energy"]},
}
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
_QUALITY = described({"accuracy": 0.9, "precision_macro": 0.88, "recall_macro": 0.87, "f1_macro": 0.86}, None)
_DATA = {"dataset": "digits", "sha256": "d" * 64, "train_samples": 1437, "test_samples": 360}
_RIGHT = 324
_WEIGHTS = "a" * 64
_LOCK = ROOT / "envs/torch/requirements.txt"
_PROJECT = (
    *(
        "workflow/Snakefile",
        "rules/measure.smk",
        "scripts/measure.py",
        "src/framewatt/energy/windows.py",
        "config/config.yaml",
    ),
    *(
        "src/framewatt/runs/runner.py",
        "src/framewatt/runs/records.py",
        "config/datasets.yaml",
        "config/schemas/study.schema.yaml",
        "LICENSE",
    ),
    *("envs/torch/requirements.txt", "envs/torch/pyproject.toml", "envs/orchestrator/requirements.txt"),
)
"""What stands for the project in a package: a few files, so that tests are quick."""


def study_of(path: Path) -> Study:
    """The study of a file, on the CPU."""
    return hashes_of(path).study


def hashes_of(path: Path) -> JobHashes:
    """The hashes of the jobs of a file's study."""
    datasets = load_catalogue(ROOT / "config/datasets.yaml", ROOT / "config/schemas/datasets.schema.yaml")
    known = {"dataset": datasets.names, **{f"workload/{name}": registered_models(name) for name in FRAMEWORKS}}
    study = load_study(path, load_yaml(path), load_yaml(ROOT / "config/schemas/study.schema.yaml"), known, "cpu", 2)
    return JobHashes(study, datasets, sources_of(study, "locked", ROOT))


def project_tree(root: Path, schema_version: int = SCHEMA_VERSION) -> Path:
    """A project of a few files, in root/project, whose code writes records of a schema."""
    for name in _PROJECT:
        place = root / "project" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text()
        place.write_text(text.replace(f"SCHEMA_VERSION = {SCHEMA_VERSION}", f"SCHEMA_VERSION = {schema_version}"))
    return root / "project"


def results_tree(
    root: Path, estimated: bool = False, old_form: bool = False, repetitions: Mapping[str, Any] | None = None
) -> Path:
    """results/trial below a folder, with study.yaml and the project beside it.

    Args:
        root: the folder.
        estimated: whether an estimate stands in for a meter.
        old_form: whether it is of before there were chains and hashes of jobs.
        repetitions: a rule when to stop, whose at_most blocks are played; None is 2 blocks.
    """
    results = root / "results" / "trial"
    meters = ["estimate"] if estimated else ["rapl"]
    study_file = root / "study.yaml"
    study_file.parent.mkdir(parents=True, exist_ok=True)
    study_file.write_text(yaml.safe_dump({**STUDY, "repetitions": repetitions or STUDY["repetitions"]}))
    hashes = hashes_of(study_file)
    plan = plan_of(hashes)
    write_json(results / "plan" / "plan.json", plan)
    idle = _calibrate(results, meters, hashes.idle)
    trained = _trained() | {"job_sha256": hashes.weights["resnet50-digits-torch"]}
    write_json(results / "train" / "resnet50-digits-torch" / "train.json", trained)
    code = code_identity(project_tree(root, 1 if old_form else SCHEMA_VERSION))
    records = [_play(hashes, run, results, idle, code) for run in hashes.study.runs()]
    aggregate(results, records)
    if repetitions:
        stop(results)
    if old_form:
        _age(results)
        aggregate(results, records_of(results))
    for name in ("tables/energy_time.csv", "report/report.html", "train/resnet50-digits-torch/weights.pt"):
        path = results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (results / "train/resnet50-digits-torch/.snakemake_timestamp").write_text("")
    (results / "archive").mkdir()
    (results / "archive/old.zip").write_text("old")
    return results


def before_sessions(record: dict[str, Any]) -> dict[str, Any]:
    """A record as schema 3 had it: without a purpose, and a machine whose fingerprint is its session."""
    machine = {name: value for name, value in record["machine"].items() if name not in ("id", "session")}
    machine["fingerprint"] = record["machine"]["session"]
    return {name: value for name, value in record.items() if name != "purpose"} | {
        "schema_version": 3,
        "machine": machine,
    }


def _age(results: Path) -> None:
    """Make results those of the first form of records and plans."""
    (results / "measure" / CHAIN).unlink()
    for path in results.glob("measure/*/*/run.json"):
        newer = ("chain", "job_sha256", "lock", "predictions")
        record = {key: value for key, value in read_json(path).items() if key not in newer}
        path.with_name(PREDICTIONS).unlink()
        write_json(path, as_then(before_sessions(record), 1))
    plan = read_json(results / "plan" / "plan.json")
    for name in ("sources", "left_out", "cells_without_runs"):
        del plan[name]
    del plan["settings"]["accept_unavailable"]
    for entry in plan["order"]:
        del entry["job_sha256"]
    write_json(results / "plan" / "plan.json", plan)


def aggregate(results: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write the frames of some records."""
    records, folder = list(records), results / "aggregate"
    folder.mkdir(parents=True, exist_ok=True)
    idle = [results / "calibrate" / f"{name}.json" for name in ("idle", "idle_after")]
    drift = drift_w(*map(read_json, idle)) if idle[0].exists() else {}
    for name, frame in (("runs", runs_frame(records, drift)), ("epochs", epochs_frame(records, drift))):
        frame.to_parquet(folder / f"{name}.parquet", index=False)
        write_text(folder / f"{name}.csv", to_csv(frame))


def stop(results: Path) -> None:
    """Write after how many blocks the study stopped, by the records that are there."""
    plan = read_json(results / "plan" / "plan.json")
    path = path_of(planned_cells(plan), plan["settings"], records_of(results))
    write_json(results / "stopping" / "stopping.json", record_of(path))
    write_text(results / "stopping" / "stopping.csv", to_csv(frame_of(path)))


def records_of(results: Path) -> list[dict[str, Any]]:
    """Records of a results tree, in measured order."""
    records = map(read_run, results.glob("measure/*/*/run.json"))
    return sorted(records, key=lambda record: record["position"])


def make_package(root: Path, secrets: Secrets | None = None, **how: Any) -> Path:
    """A package of such results, below a folder; `how` is results_tree's."""
    return pack(root, results_tree(root, **how), secrets)


def pack(root: Path, results: Path, secrets: Secrets | None = None) -> Path:
    """The package of a results tree that results_tree made below a folder."""
    first = next(results.glob("measure/*/*/run.json"))
    project = project_tree(root, read_json(first)["schema_version"])
    study = study_of(root / "study.yaml")
    data = root / "digits.json"
    write_json(data, _DATA)
    files = project_files(project, study.path, "trial", ["torch"]) | study_files(results)
    files |= {"resources/data/digits.json": data}
    identity = {"code": code_identity(project), "config": {"study": "trial", "device": ""}, "machine": MACHINE}
    texts = {
        "identity.json": json.dumps(identity),
        "resources/environments/locked/torch/environment.json": json.dumps(_environment()),
    }
    path = root / "framewatt-trial-0.1.0.zip"
    write_package(path, files, texts, records_of(results), study.settings, secrets or Secrets({}))
    return path


def _environment() -> dict[str, Any]:
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


def _calibrate(results: Path, meters: list[str], job_sha256: str) -> dict[str, Any]:
    """What an idle machine draws, before and after the runs."""
    trace = _trace(np.arange(0, 3 * S, S // 100), meters, 4.0, 1)
    domains = {}
    for domain, index in energy_channels(trace.channels).items():
        channel = trace.channels[index]
        window = energy_of(channel, *trace.of(index), S // 2, 5 * S // 2 + 1)
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


def _trained() -> dict[str, Any]:
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
    time_ns = trace.of(0)[0]
    duration_s = (int(time_ns[-1]) - int(time_ns[0]) - 5_000_000) * 1e-9
    return {"reads": len(time_ns) - 1, "missed_reads": 0, "duration_s": duration_s}


def _play(hashes: JobHashes, run: Run, results: Path, idle: dict[str, Any], code: dict[str, Any]) -> dict[str, Any]:
    """One run, as if the worker had said so: 12 s, from 100 s times its place in the order."""
    began = 100 * S * run.position
    job = jobs.measure_job(hashes.study, run.cell, run.repetition, 1)
    job["job_sha256"] = hashes.run(run.cell, run.repetition)
    start = None if run.cell.phase == "train" else _WEIGHTS
    identity = {"code": code, "data_sha256": _DATA["sha256"], "artefact_sha256": start}
    job |= {"position": run.position, "missing": None, "repeat": True, "identity": identity, "meters": idle["meters"]}
    trace = _trace(began + np.arange(0, 14 * S, S // 100), idle["meters"], 9.0 + run.position, run.position)
    outcome = Outcome(None, began + S, began + 13 * S)
    result, events = (_train if run.cell.phase == "train" else _infer)(began, run)
    folder = results / "measure" / run.cell.id / str(run.repetition)
    right = np.random.default_rng(run.position).permutation(np.arange(_DATA["test_samples"]) < _RIGHT)
    folder.mkdir(parents=True)
    result = with_predictions({**result, "right": right}, folder / PREDICTIONS)
    trace = _witnessed(trace, began, [event["monotonic_ns"] for event in events])
    facts = {"parameters": 25_000_000, "libraries": {"torch": "2.15.0", "torchvision": "0.29.2"}}
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
    record = runner._record(
        job, _environment(), idle, trace, events, outcome, {**result, "workload": facts}, around
    ) | {"machine": MACHINE}
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
    whole = _DATA["test_samples"] // run.cell.batch_size
    ends = np.cumsum(np.random.default_rng(run.position).uniform(0.9, 1.1, 3 * whole) * 4.4 / whole * S)
    ends = ends[: int(np.searchsorted(ends, STUDY["window"]["minimum_s"] * S)) + 1]
    stamps = began + 2 * S + np.concatenate(([0], ends.astype(np.int64)))
    result = {
        "primary_window": "steady",
        "units": {"name": "sample", "count": len(ends) * run.cell.batch_size},
        "latency": _latency(stamps),
        "quality": _QUALITY,
        "epochs": [],
    }
    around = ("setup", S + S // 10, S + S // 2), ("warm_up", S + S // 2, 2 * S)
    before = [event for name, start, end in around for event in _window(name, began + start, began + end)]
    return result, [*before, *_window("steady", int(stamps[0]), int(stamps[-1]))]


def _train(began: int, run: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Two epochs of 4 s."""
    each = _DATA["train_samples"] // run.cell.batch_size * run.cell.batch_size
    # The last epoch of the last training diverged, so that one run has a flag.
    losses = [1.0, 0.5 if run.repetition == 1 else None]
    epochs = [{"epoch": k, "units": each, "loss_mean": loss, "quality": _QUALITY} for k, loss in enumerate(losses, 1)]
    units = {"name": "sample", "count": 2 * each}
    result = {"primary_window": "steady", "units": units, "latency": None, "quality": _QUALITY}
    edges = [(began + 2 * S, began + 6 * S), (began + 7 * S, began + 11 * S)]
    events = [event for k, edge in enumerate(edges, 1) for event in _window(f"epoch-{k}", *edge)]
    return {**result, "epochs": epochs}, events
