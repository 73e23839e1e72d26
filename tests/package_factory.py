"""A small study's results, from which packages are made in tests: runs that were played, and all that follows of them.

Nothing in such a package is made up but the readings, the machine and what the workload said: the plan is the study
file's, the records are the runner's, the frames are theirs.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from played_runs import DATA, MACHINE, MINIMUM_S, calibrate, environment, play, trained
from records_factory import as_then

from framewatt.base.files import read_json, write_json, write_text
from framewatt.base.identity import code_identity
from framewatt.base.spreadsheet import to_csv
from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import load_catalogue
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.package.write import project_files, study_files, write_package
from framewatt.planning.job_hashes import JobHashes, sources_of
from framewatt.planning.plan import plan_of, planned_cells
from framewatt.privacy.secrets import Secrets
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.records import SCHEMA_VERSION, read_run
from framewatt.stopping.path import path_of
from framewatt.stopping.record import frame_of, record_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.study.study import MeasuredStudy
from framewatt.study.study_file import load_study
from framewatt.workloads import registered_models

ROOT = Path(__file__).parents[1]
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
    "window": {"minimum_s": MINIMUM_S},
    "cool_down": {"rest_s": 0},
    "statistics": {"compare": ["batch_size"], "resamples": 999},
    "archive": {"authors": ["Doe, Jane"], "license": "CC-BY-4.0", "keywords": ["energy"]},
}
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


def study_of(path: Path) -> MeasuredStudy:
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
    idle = calibrate(results, meters, hashes.idle[""])
    weights = trained() | {"job_sha256": hashes.weights["resnet50-digits-torch"]}
    write_json(results / "train" / "resnet50-digits-torch" / "train.json", weights)
    code = code_identity(project_tree(root, 1 if old_form else SCHEMA_VERSION))
    records = [play(hashes, run, results, idle, code) for run in hashes.study.runs()]
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
    drift = drifts_w(read_calibrations(idle)) if idle[0].exists() else {}
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
    write_json(data, DATA)
    files = project_files(project, study.path, "trial", ["torch"]) | study_files(results)
    files |= {"resources/data/digits.json": data}
    identity = {"code": code_identity(project), "config": {"study": "trial", "device": ""}, "machine": MACHINE}
    texts = {
        "identity.json": json.dumps(identity),
        "resources/environments/locked/torch/environment.json": json.dumps(environment()),
    }
    path = root / "framewatt-trial-0.1.0.zip"
    write_package(path, files, texts, records_of(results), study.settings, secrets or Secrets({}))
    return path
