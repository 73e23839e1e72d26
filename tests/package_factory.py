"""A small study's results, from which packages are made in tests: one run, with a trace that its joules follow from."""

import json
from pathlib import Path

import numpy as np
import yaml
from records_factory import run_record

from framewatt.accounting import window_of
from framewatt.files import write_json
from framewatt.meters.contract import COUNTER, Channel
from framewatt.package.contents import project_files, study_files
from framewatt.package.write import write_package
from framewatt.privacy import Secrets
from framewatt.records import Clock, read_run, write_events, write_run, write_trace
from framewatt.trace import Trace

ROOT = Path(__file__).parents[1]
S = 1_000_000_000
CELL = "infer-resnet50-digits-torch-b1"
SETTINGS = {
    "study": "trial",
    "title": "A trial",
    "description": "One run of nothing",
    "archive": {"authors": ["Doe, Jane"], "license": "CC-BY-4.0", "keywords": ["energy"]},
}


def results_tree(root: Path) -> Path:
    """results/trial with a plan, a run with its trace and events, a table and a report."""
    results = root / "results" / "trial"
    run = results / "measure" / CELL / "1"
    run.mkdir(parents=True)
    time_ns = np.arange(0, 12 * S, S // 100)
    channel = Channel("rapl", "cpu:package-0", "energy_j", COUNTER, 0.001, period_s=0.01)
    trace = Trace((channel,), time_ns, np.zeros(len(time_ns), dtype=int), time_ns / S * 10.0)
    window = window_of([(S, 11 * S)], trace, {"domains": {}})
    clock = Clock(0, "2026-01-01T00:00:00+00:00")
    window |= {"start_utc": clock.utc(S), "end_utc": clock.utc(11 * S)}
    record = run_record(windows={"process": window, "steady": window})
    record["identity"] |= {"environment": {"name": "torch"}}
    record["machine"] |= {"fingerprint": "0123456789abcdef"}
    write_trace(run / "power.parquet", trace)
    write_events(run / "events.parquet", [{"window": "steady", "edge": "start", "monotonic_ns": S}], clock)
    write_run(run / "run.json", record)
    write_json(
        results / "plan" / "plan.json", {"order": [{"cell": CELL, "repetition": 1, "position": 1}], "device": "cpu"}
    )
    for name in ("tables/energy_time.csv", "report/report.html", "train/m/train.json", "train/m/weights.pt"):
        path = results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (results / "train/m/.snakemake_timestamp").write_text("")
    (results / "archive").mkdir()
    (results / "archive/old.zip").write_text("old")
    return results


def make_package(root: Path, secrets: Secrets | None = None) -> Path:
    """A package of such results, below a folder."""
    results = results_tree(root)
    study = root / "a study from elsewhere.yaml"
    study.write_text(yaml.safe_dump({"study": "trial", "title": "A trial"}))
    files = project_files(ROOT, study, "trial", ["torch"]) | study_files(results)
    record = read_run(results / "measure" / CELL / "1" / "run.json")
    path = root / "framewatt-trial-0.1.0.zip"
    write_package(path, files, {"identity.json": json.dumps({})}, [record], SETTINGS, secrets or Secrets({}))
    return path
