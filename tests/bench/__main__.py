"""`make bench`: what framewatt costs and how right it is, beside its targets and beside other tools, from one run.

Writes results/bench/bench.csv (one row per measure), cases.csv (one row per case, meter and domain), and
bench.md and cases.md (to read).
"""

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hardware.case import play_cases
from hardware.cases import CASES

from bench.importing import import_ratios
from bench.own_time import own_seconds
from bench.paired import PEERS, ROOT, Loops, Ratio, compare, ratios_of, summarise
from bench.table import cases_table, cost_table
from bench.waits import wait_rows
from framewatt.host.lock import machine_lock
from framewatt.host.machine import describe_machine
from framewatt.workloads import registered_models

OUT = ROOT / "results" / "bench"
COLUMNS = ("name", "framewatt", "peer", "ratio", "ratio_low", "ratio_high", "pairs", "unit", "target", "met")
CASE_COLUMNS = ("case", "meter", "domain", "right_j", "found_j", "error_percent", "uncertainty_j", "verdict", "why")
INFERENCE_PAIRS, INFERENCE_S = 60, 0.5
"""Short segments and many: what they differ by is far less than what this machine does to a second."""
TRAINING_PROCESSES, TRAINING_PAIRS = 4, 3
"""Processes, and pairs in each: where memory lies differs from process to process, and with it what page faults cost.
SSD in PyTorch was at 1.009, 0.923 and 1.003 in three processes, of twelve pairs each."""
OWN_RUNS = 7
TRAINED = {"torch": "torch", "tensorflow": "tensorflow/cpu", "mxnet": "mxnet/cpu"}
"""Framework -> the environment that it trains in."""
MODELS = {
    "resnet50": "ResNet-50, batch 16,",
    "resnet50_v15": "ResNet-50 v1.5, batch 16,",
    "neumf_small": "NeuMF, batch 256,",
    "transformer_xl_small": "Transformer-XL, batch 8 of 64 words,",
    "gnmt_small": "GNMT, batch 32,",
    "ssd_small": "SSD, batch 8 of 128 pixels,",
    "retinanet_small": "RetinaNet, batch 8 of 128 pixels,",
    "mask_rcnn_small": "Mask R-CNN, batch 4 of 128 pixels,",
}
"""Model of bench.training_cases -> how its rows call it; a framework that lacks it has no row."""


def main() -> None:
    """Measure, write and print."""
    OUT.mkdir(parents=True, exist_ok=True)
    # Its runs take the lock themselves, as those of a study do.
    own_time = _own_time()
    with machine_lock("bench"):
        rows = [*_sampling(), *_loops(), *import_ratios(), own_time, *wait_rows()]
    _write(OUT / "bench.csv", COLUMNS, rows)
    (OUT / "bench.md").write_text(cost_table(rows))
    with machine_lock("bench"):
        cases = _cases()
    _write(OUT / "cases.csv", CASE_COLUMNS, cases)
    (OUT / "cases.md").write_text(cases_table(cases))
    (OUT / "machine.json").write_text(json.dumps(describe_machine(), indent=1) + "\n")
    for row in rows:
        met = {True: "met", False: "MISSED", None: "no target"}[row["met"]]
        value = row["framewatt"] if row["framewatt"] is not None else row["peer"]
        beside = f", {row['ratio']:.1f} times as quick" if "times" in (row["target"] or "") else ""
        print(f"{row['name']}: {value:.3g} {row['unit']}{beside} (target {row['target'] or 'none'}: {met})")
    for meter in dict.fromkeys(row["meter"] for row in cases):
        verdicts = [row["verdict"] for row in cases if row["meter"] == meter]
        print(f"{meter}: " + ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts)))
    print(f"bench: {(OUT / 'bench.csv').relative_to(ROOT)}, {(OUT / 'cases.csv').relative_to(ROOT)}")


def _sampling() -> list[dict]:
    """Rows of bench.sampling, which needs the tree that its namespace holds."""
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", sys.executable, "-m", "bench.sampling"],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


def _loops() -> list[dict]:
    """framewatt's loops against bare ones."""
    loops = Loops()
    inference = compare(
        lambda: loops.rate("framewatt", INFERENCE_S), lambda: loops.rate("bare", INFERENCE_S), INFERENCE_PAIRS
    )
    loops.close()
    return [
        _ratio_row("timed loop over the bare loop, ResNet-50 in torch, batch 1", inference, ">= 0.99", 0.99),
        *(_training(framework, model) for model in MODELS for framework in TRAINED if _has(framework, model)),
    ]


def _has(framework: str, model: str) -> bool:
    return model in registered_models(framework)


def _training(framework: str, model: str) -> dict:
    """framewatt's training loop against the plain one of a framework."""
    ratios = []
    for _ in range(TRAINING_PROCESSES):
        loops = Loops(TRAINED[framework], f"from bench.training_loops import main; main({framework!r}, {model!r})")
        ratios += ratios_of(partial(loops.rate, "framewatt"), partial(loops.rate, "plain"), TRAINING_PAIRS)
        loops.close()
    name = f"training loop over a plain one, {MODELS[model]} in {framework}"
    return _ratio_row(name, summarise(ratios), ">= 1", 1.0)


def _ratio_row(name: str, ratio: Ratio, target: str, least: float) -> dict:
    return {
        "name": name,
        "framewatt": ratio.median,
        "peer": None,
        "ratio": ratio.median,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "pairs": ratio.pairs,
        "unit": "of its throughput",
        "target": target,
        "met": ratio.median >= least,
    }


def _own_time() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        seconds = own_seconds(Path(folder), OWN_RUNS)
    median_s = statistics.median(seconds)
    return {
        "name": f"framewatt's own time a run, median of {OWN_RUNS}",
        "framewatt": median_s,
        "unit": "s",
        "target": "<= 1",
        "met": median_s <= 1,
    }


def _cases() -> list[dict]:
    """Every case on every meter and every other tool, the right value beside the one found."""
    played = play_cases([case.name for case in CASES], str(PEERS / "bin" / "python"))
    return [_judged(row) for answer in played.values() for row in answer["rows"]]


def _judged(row: dict) -> dict:
    """A row with its verdict: right, invalid as it must be, or wrong."""
    found, right = row["found_j"], row["right_j"]
    framewatts = row["must_be_invalid"] is not None
    if found is None and framewatts:
        verdict = "invalid, rightly" if row["must_be_invalid"] or row["may_be_invalid"] else "invalid, wrongly"
    elif found is None:
        verdict = "gave up"
    elif framewatts and row["must_be_invalid"]:
        verdict = "a number where none can be known"
    else:
        verdict = "right" if abs(found - right) <= 0.005 * right + 3 * (row["uncertainty_j"] or 0) else "wrong"
    error = 100 * (found / right - 1) if found is not None and right else None
    why = "; ".join([*row["reasons"], *row["flags"]])
    return {**{name: row.get(name) for name in CASE_COLUMNS}, "error_percent": error, "verdict": verdict, "why": why}


def _write(path: Path, columns: Sequence[str], rows: Sequence[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
