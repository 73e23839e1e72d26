"""A package that holds many of the sentences that framewatt stores: refused cells, reasons, flags, a rule that stopped.

Its runs are those of package_factory, each with another fault.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import package_factory
import played_runs
import yaml
from package_factory import aggregate, hashes_of, pack, project_tree, stop
from played_runs import S

from framewatt.base.files import write_json
from framewatt.base.identity import code_identity
from framewatt.meters.trace import Trace
from framewatt.planning.plan import plan_of
from framewatt.runs import runner
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.study.study import Run
from framewatt.tasks.quality import described

PERIOD_S = 0.1
"""Of the meter: a tenth of package_factory's readings, for a small package."""

_PROJECT = tuple(name for name in package_factory._PROJECT if not name.startswith("envs/orchestrator"))
"""Without a large file that no check reads."""

_CROSS = {"workload": ["resnet50"], "dataset": ["digits"]}
_ONNX = {"phase": ["infer"], "runtime": ["torch2onnx"], **_CROSS}
_NATIVE = {"phase": ["infer"], "runtime": ["tensorflow", "mxnet"], **_CROSS}
FACTORS: list[dict[str, Any]] = [
    {"phase": ["infer"], "runtime": ["torch"], "batch_size": [1, 8, 32], **_CROSS},
    {"phase": ["train"], "runtime": ["torch"], "batch_size": [16], **_CROSS},
    # All of the following are refused on a CPU.
    {**_NATIVE, "runtime": ["torch", "tensorflow"], "batch_size": [1], "precision": ["fp16", "int8_dynamic"]},
    {**_NATIVE, "runtime": ["mxnet"], "batch_size": [1], "precision": ["bf16"], "compile": ["plain", "compiled"]},
    {**_NATIVE, "batch_size": [1], "layout": ["channels_last"]},
    {**_NATIVE, "batch_size": [1], "tf32": ["everywhere"]},
    {**_NATIVE, "batch_size": [1], "graph_optimization": ["basic"], "client": ["node"]},
    {**_NATIVE, "batch_size": [1], "provider": ["openvino"]},
    {**_NATIVE, "batch_size": [1], "weight_inputs": ["removed"]},
    {**_NATIVE, "batch_size": [1], "learning_rate": [0.5]},
    {**_ONNX, "batch_size": [1], "compile": ["compiled"]},
    {**_ONNX, "batch_size": [1], "layout": ["channels_last"]},
    {**_ONNX, "batch_size": [1], "precision": ["bf16"]},
    {**_ONNX, "batch_size": [1], "decoding": ["greedy"]},
    {**_ONNX, "batch_size": [1], "provider": ["cuda", "tensorrt"]},
    {**_ONNX, "batch_size": [1], "client": ["node"], "load": ["20/s"]},
    {**_ONNX, "batch_size": [1], "client": ["node"], "heap": ["kept"]},
    {**_ONNX, "batch_size": [1], "load": ["60/min"]},
    {**_ONNX, "phase": ["train"], "batch_size": [1]},
    {**_NATIVE, "phase": ["train"], "batch_size": [1], "runtime": ["mxnet"], "optimizer": ["lamb"]},
    {**_NATIVE, "phase": ["train"], "batch_size": [1], "update": ["foreach"]},
    {**_NATIVE, "phase": ["train"], "batch_size": [1], "runtime": ["torch"], "load": ["20/s"]},
    {**_NATIVE, "phase": ["train"], "batch_size": [1], "runtime": ["torch"], "decoding": ["greedy"]},
]
STUDY: dict[str, Any] = {
    **package_factory.STUDY,
    "factors": FACTORS,
    "repetitions": {"at_least": 2, "at_most": 3, "until": {"best": "energy"}},
    "preflight": {"strict": True},
    "instruments": {"meters": ["rapl"], "period_s": PERIOD_S},
    "statistics": {"compare": ["batch_size"], "resamples": 999},
}
FINDING = {
    "topic": "load",
    "found": "0.9 processors are busy",
    "meaning": "other work takes energy",
    "remedy": "end it",
}

Facts = dict[str, Any]


def _without(trace: Trace, start_s: float, end_s: float) -> Trace:
    """A trace without its readings in some seconds after its begin."""
    at_s = (trace.monotonic_ns - trace.monotonic_ns[0]) / S
    kept = (at_s < start_s) | (at_s > end_s)
    return Trace(trace.channels, trace.monotonic_ns[kept], trace.channel[kept], trace.value[kept])


def _changed(trace: Trace, change: Callable[[Any, Any], Any]) -> Trace:
    """A trace with other values of its first counter, by the seconds since its begin."""
    at_s, first = (trace.monotonic_ns - trace.monotonic_ns[0]) / S, trace.channel == 0
    value = trace.value.copy()
    value[first] = np.rint(change(at_s[first], value[first]) * 1e6) * 1e-6
    return Trace(trace.channels, trace.monotonic_ns, trace.channel, value)


def _stands(at_s: Any, joules: Any) -> Any:
    stands = (at_s > 4) & (at_s < 7)
    return np.where(stands, joules[np.argmax(stands)], joules)


READINGS: Mapping[int, Callable[[Trace], Trace]] = {
    2: lambda trace: _without(trace, 1.85, 2.15),
    3: lambda trace: _without(trace, 1.55, 3.55),
    4: lambda trace: _changed(trace, lambda at_s, joules: np.where(at_s > 5, joules - joules[at_s > 5][0], joules)),
    5: lambda trace: _changed(trace, _stands),
    11: lambda trace: _changed(trace, lambda at_s, joules: np.where((at_s > 5) & (at_s < 5.15), np.nan, joules)),
}
"""What is wrong with the readings of some runs, by their place in the order."""

MISSED = {2: 3, 3: 20}
"""Readings that those runs lack."""


def _alter(position: int, result: Facts, around: Facts) -> tuple[Facts, Facts]:
    """What a run reported, and what was recorded around it, with its fault."""
    workload = result["workload"]
    if position in MISSED:
        around = {**around, "sampler": {**around["sampler"], "missed_reads": MISSED[position]}}
    if position == 1:
        result = {**result, "workload": {**workload, "variables": {"OMP_PROC_BIND": "true"}}}
    if position == 7:
        around = {
            **around,
            "clock": {**around["clock"], "moved_s": 3.0},
            "lock": {"waited_s": 0.0, "machine_wide": False},
        }
    if position == 9:
        options = {**workload["options"], "threads": {"requested": 2, "in_force": 4}}
        result = {**result, "workload": {**workload, "options": options}}
        around = {**around, "preflight": [FINDING]}
    if position == 10:
        around = {**around, "sampler": None, "error": "the sampling process died or hung"}
    if position == 12:
        unknown = "outputs are not numbers"
        quality = described(dict.fromkeys(result["quality"]), unknown)
        epochs = [{**epoch, "quality": quality} for epoch in result["epochs"]]
        result = {name: told for name, told in result.items() if name != "predictions"}
        result |= {"quality": quality, "epochs": epochs}
    return result, around


@contextmanager
def _faulty(results: Path) -> Iterator[None]:
    """Runs with faults, by their place in the order."""
    record, witnessed, read = runner._record, played_runs._witnessed, played_runs._trace

    def recorded(job: Any, environment: Any, idle: Any, trace: Any, events: Any, outcome: Any, *told: Any) -> Facts:
        result, around = _alter(job["position"], *told)
        if "predictions" not in result:
            (results / "measure" / job["cell_id"] / str(job["repetition"]) / PREDICTIONS).unlink()
        return record(job, environment, idle, trace, events, outcome, result, around)

    def seen(trace: Trace, began: int, edges: list[int]) -> Trace:
        whole = witnessed(trace, began, edges)
        if began == 600 * S:
            idle = [index for index, channel in enumerate(whole.channels) if channel.quantity == "idle_s"]
            at_s = (whole.monotonic_ns - began) / S
            whole.value[np.isin(whole.channel, idle)] -= 0.2 * at_s[np.isin(whole.channel, idle)]
        return whole

    def traced(time_ns: Any, meters: list[str], power_w: float, seed: int) -> Trace:
        trace = read(time_ns[:: round(100 * PERIOD_S)], meters, 100 * PERIOD_S * power_w, seed)
        channels = tuple(replace(channel, period_s=PERIOD_S) for channel in trace.channels)
        return Trace(channels, trace.monotonic_ns, trace.channel, trace.value)

    changed = {(runner, "_record"): recorded, (played_runs, "_witnessed"): seen, (played_runs, "_trace"): traced}
    with ExitStack() as patches:
        for (module, name), function in changed.items():
            patches.enter_context(mock.patch.object(module, name, function))
        yield


def _read(began: int, run: Run) -> Trace:
    trace = played_runs._trace(began + np.arange(0, 14 * S, S // 100), ["rapl"], 9.0 + run.position, run.position)
    return READINGS.get(run.position, lambda whole: whole)(trace)


def make_worded(root: Path) -> Path:
    """The package, below a folder."""
    results = root / "results" / "trial"
    study_file = root / "study.yaml"
    study_file.parent.mkdir(parents=True, exist_ok=True)
    study_file.write_text(yaml.safe_dump(STUDY))
    hashes = hashes_of(study_file)
    write_json(results / "plan" / "plan.json", plan_of(hashes))
    for name, digest in hashes.weights.items():
        write_json(results / "train" / name / "train.json", played_runs.trained() | {"job_sha256": digest})
    with _faulty(results), mock.patch.object(package_factory, "_PROJECT", _PROJECT):
        idle = played_runs.calibrate(results, ["rapl"], hashes.idle[""])
        code = code_identity(project_tree(root))
        records = [played_runs.play(hashes, run, results, idle, code, _read) for run in hashes.study.runs()]
    aggregate(results, records)
    stop(results)
    (results / "tables").mkdir()
    (results / "tables" / "energy_time.csv").write_text("{}")
    with mock.patch.object(package_factory, "_PROJECT", _PROJECT):
        return pack(root, results)
