"""Studies of any number of runs, as if they had been measured: readings and machine are made up, all else follows.

The runs are those of played_runs: their records are the runner's, valid against the schema, with the hashes of their
jobs, in a chain. So Snakemake finds them measured and goes on behind them.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import played_runs
import yaml
from package_factory import hashes_of
from played_runs import MINIMUM_S, S

from framewatt.base.files import read_json, write_json
from framewatt.base.identity import code_identity
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.planning.placement import NOWHERE
from framewatt.planning.plan import plan_of
from framewatt.planning.stages_due import idle_after_sha256
from framewatt.runs import records
from framewatt.study.study import Run

MODEL = "resnet50-digits-torch"
THREADS = [1, 2, 3, 4, 5]
"""Levels of the factor that is compared."""

REPETITIONS = 10
READINGS = 10_000
"""Of meters in a run, so that 10,000 runs have 100 million."""

DOMAINS = ("cpu:package-0", "cpu:dram-0")
_SPAN_S = 14
"""Seconds of a run's trace."""


def study_content(name: str, runs: int, readings: int = READINGS) -> dict[str, Any]:
    """A study file's content: groups of five cells that differ in threads, ten runs a cell.

    Args:
        name: of the study.
        runs: how many; a multiple of 50, up to 18,000 (a batch holds at most the test set's 360 samples).
        readings: of meters in a run.

    Raises:
        ValueError: the number of runs is another one.
    """
    batches, rest = divmod(runs, len(THREADS) * REPETITIONS)
    if rest or not 1 <= batches <= 360:
        raise ValueError(f"runs: found {runs}; allowed: multiples of {len(THREADS) * REPETITIONS}, up to 18000")
    return {
        "study": name,
        "title": f"A study of {runs} runs",
        "description": "Nothing was measured: a synthetic study, to see what its size costs",
        "factors": [
            {
                "phase": ["infer"],
                "workload": ["resnet50"],
                "runtime": ["torch"],
                "dataset": ["digits"],
                "batch_size": list(range(1, batches + 1)),
                "threads": THREADS,
            }
        ],
        "repetitions": REPETITIONS,
        "seed": 1,
        "device": "cpu",
        "threads": 2,
        "instruments": {"meters": ["rapl"], "period_s": _SPAN_S * len(DOMAINS) / readings},
        "training": {"epochs": 2, "batch_size": 16},
        "calibration": {"idle_s": 2},
        "window": {"minimum_s": MINIMUM_S},
        "cool_down": {"rest_s": 0},
        "statistics": {"compare": ["threads"], "resamples": 999},
        "archive": {"authors": ["Doe, Jane"], "license": "CC-BY-4.0", "keywords": ["energy"]},
    }


def readings_of(readings: int, began: int, run: Run) -> Trace:
    """Counters of a package and its memory, at a power that the run's cell decides, with 3 % from run to run.

    Args:
        readings: how many in all.
        began: when the run began, nanoseconds.
        run: which one.
    """
    rng = np.random.default_rng(run.position)
    period_ns = _SPAN_S * S * len(DOMAINS) // readings
    time_ns = began + np.arange(readings // len(DOMAINS), dtype=np.int64) * period_ns
    threads = next(option.level for option in run.cell.options if option.option == "threads")
    power_w = (20.0 + 4.0 * threads + 0.02 * run.cell.batch_size) * rng.normal(1.0, 0.03)
    shares = np.array([1.0, 0.2])[:, None]
    steps = power_w * period_ns * 1e-9 * shares * rng.uniform(0.9, 1.1, (len(DOMAINS), len(time_ns)))
    joules = np.rint(np.cumsum(steps, axis=1) * 1e6) * 1e-6
    channels = tuple(
        Channel("rapl", domain, "energy_j", COUNTER, 0.001, False, 61e-6, 262143.32885, 500.0, period_ns * 1e-9)
        for domain in DOMAINS
    )
    numbers = np.repeat(np.arange(len(DOMAINS), dtype=np.int32), len(time_ns))
    return Trace(channels, np.tile(time_ns, len(DOMAINS)), numbers, joules.ravel())


@contextmanager
def _quickly() -> Iterator[None]:
    """Without what takes time and is of no use here: the disk waits for nothing, and the machine is made up anyway."""

    def check(record: Mapping[str, Any], path: Path) -> None:
        if not records._quick_validator().is_valid(record):
            raise ValueError(f"{path}: breaks its schema")

    with (
        patch("os.fsync", lambda file: None),
        patch.object(records, "_check", check),
        patch.object(played_runs.runner, "describe_machine", lambda: played_runs.MACHINE),
    ):
        yield


def grow(root: Path, name: str, runs: int, readings: int = READINGS) -> Path:
    """Write a study and all that would be there once it was measured, below a checkout.

    The data set is that of the checkout, which is to be there. Where it was stopped, the same call goes on.

    Args:
        root: the checkout.
        name: of the study.
        runs: how many, see study_content.
        readings: of meters in a run.

    Returns:
        results/<study>.
    """
    path = root / "config" / "studies" / f"{name}.yaml"
    path.write_text(yaml.safe_dump(study_content(name, runs, readings)))
    hashes = hashes_of(path)
    results = root / "results" / name
    plan = plan_of(hashes)
    data = read_json(root / "resources" / "data" / "digits.json")
    write_json(results / "plan" / "plan.json", plan)
    write_json(root / "resources/environments/locked/torch/environment.json", played_runs.environment())
    idle = played_runs.calibrate(results, ["rapl"], hashes.idle[NOWHERE])
    instruments = results / "calibrate" / "instruments.json"
    write_json(instruments, {**read_json(instruments), "job_sha256": hashes.instruments[NOWHERE]})
    weights = {**played_runs.trained(), "job_sha256": hashes.weights[MODEL], "made_of": {"data": data["sha256"]}}
    write_json(results / "train" / MODEL / "train.json", weights)
    code = code_identity(root)
    with _quickly():
        for run in hashes.study.runs():
            folder = results / "measure" / run.cell.id / str(run.repetition)
            if (folder / "run.json").is_file():
                continue
            shutil.rmtree(folder, ignore_errors=True)
            played_runs.play(
                hashes, run, results, idle, code, lambda began, one: readings_of(readings, began, one), data["sha256"]
            )
    after = results / "calibrate" / "idle_after.json"
    write_json(after, {**read_json(after), "job_sha256": idle_after_sha256(hashes.idle[NOWHERE], results, plan)})
    return results
