"""`make soak`: one sampling process for an hour, and beside it a small study over and over.

Every run must count, every package be whole, and nothing grow or be left behind. One line per round; exit code 1 at the
first thing that is not as it should be.
"""

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from checkout import Checkout

from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.runs.records import read_run
from framewatt.sampling.client import Sampler

SAMPLING = {"period_s": 0.01, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 10.0}
GROWTH_B = 4 << 20
"""Bytes by which the sampling process may grow after the first round."""

INFER = {"phase": ["infer"], "workload": ["bert_tiny"], "dataset": ["synthetic-texts"], "batch_size": [4]}
STUDY = {
    "factors": [
        {**INFER, "runtime": ["mxnet", "mx2onnx"]},
        {**INFER, "phase": ["train"], "runtime": ["mxnet"]},
    ],
    "repetitions": 2,
    "training": {"epochs": 2},
    "instruments": {"meters": ["estimate"]},
    "window": {"minimum_s": 1},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "disturbance": "flag",
    "statistics": {"resamples": 100},
}
TEXTS = {
    **{"module": "synthetic", "shape": [16], "vocabulary": 30522, "classes": 2, "seed": 0},
    **{"train_samples": 32, "test_samples": 32},
}


def main() -> None:
    """Go on until the minutes are over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    minutes = parser.parse_args().minutes
    with TemporaryDirectory(prefix="framewatt-soak-") as name:
        sampler = Sampler(["estimate"], SAMPLING, Path(name, "trace.bin"))
        sampler.start()
        try:
            soak(prepared(Path(name, "checkout")), sampler.pid, time.monotonic() + 60 * minutes)
        finally:
            summary = sampler.stop()
    print(f"sampler: {json.dumps(summary)}")
    if summary["missed_reads"] > 0.01 * summary["reads"]:
        sys.exit("soak: the sampler missed over 1 % of its reads")


def soak(checkout: Checkout, sampler: int, until_s: float) -> None:
    """Rounds, one at least, until an instant of time.monotonic.

    Args:
        checkout: where the study runs.
        sampler: process id of the sampling process.
        until_s: no round begins after it.
    """
    first_b = 0
    for number in itertools.count(1):
        begin = time.monotonic()
        if first_b and begin > until_s:
            return
        runs = play(checkout, number)
        held_b = resident_b(sampler)
        first_b = first_b or held_b
        took_s = time.monotonic() - begin
        print(f"round {number}: {runs} runs in {took_s:.0f} s; sampler {held_b / 1e6:.1f} MB", flush=True)
        problems = list(left_behind(checkout.root))
        if held_b > first_b + GROWTH_B:
            problems.append(f"the sampler has grown from {first_b / 1e6:.1f} MB")
        if problems:
            sys.exit(f"soak: round {number}: {'; '.join(problems)}")


def prepared(root: Path) -> Checkout:
    """A copy of this checkout with a small data set."""
    root.mkdir()
    checkout = Checkout(root, lock=None)
    for name in ("mxnet/cpu", "onnxruntime/cpu"):
        checkout.share_environment(name)
    path = root / "config/datasets.yaml"
    datasets = yaml.safe_load(path.read_text())
    datasets["datasets"]["synthetic-texts"] = TEXTS
    path.write_text(yaml.safe_dump(datasets))
    return checkout


def play(checkout: Checkout, seed: int) -> int:
    """All of the study, anew since its seed is another; how many runs it had."""
    checkout.write_study("soak", **STUDY, seed=seed)
    answer = checkout.snakemake("all", "archive", config="study=soak")
    if answer.code:
        sys.exit(f"soak: round {seed}: {answer.text}")
    results = checkout.root / "results/soak"
    records = [read_run(path) for path in results.glob("measure/*/*/run.json")]
    bad = [record["cell_id"] for record in records if not (record["status"] == "ok" and record["valid"])]
    if bad or any(record["attempt"] != 1 for record in records):
        sys.exit(f"soak: round {seed}: runs that do not count: {bad}")
    (package,) = (results / "archive").glob("*.zip")
    with TemporaryDirectory() as scratch:
        if problems := list(problems_of(unpack(package, Path(scratch)))):
            sys.exit(f"soak: round {seed}: {package.name}: {'; '.join(problems)}")
    return len(records)


def left_behind(root: Path) -> Iterator[str]:
    """Processes that still work in a folder, and files that were not finished."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            folder = (process / "cwd").readlink()
        except OSError:
            continue  # it has ended, or is none of ours
        if folder.is_relative_to(root):
            yield f"process {process.name} is still there"
    for path in (root / "results").rglob(".*"):
        if path.name != ".snakemake_timestamp":  # Snakemake's own, of folders
            yield f"{path.relative_to(root)} is still there"


def resident_b(pid: int) -> int:
    """Bytes of memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) * 1024


if __name__ == "__main__":
    main()
