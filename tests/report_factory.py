"""A study in the demo's shape with everything that the report reads, and its page."""

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import frames_factory
import pandas as pd
from bs4 import BeautifulSoup

from framewatt.frames.factor_words import factors_of
from framewatt.frames.totals import TOTAL
from framewatt.report import Material, build_report
from framewatt.report.answers import GroupAnswer, answer_study
from framewatt.report.comparison import Comparison, comparison_of
from framewatt.report.head import Head, head_of
from framewatt.report.material import ENERGY
from framewatt.report.questions import Question, questions_of
from framewatt.statistics.answers import answer
from framewatt.statistics.assumptions import drift
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.deploy import judge_choices
from framewatt.statistics.hypothesis_tests import omnibus
from framewatt.statistics.machines import answer_by_machine
from framewatt.statistics.to_accuracy import to_accuracy
from framewatt.statistics.trends import correlate, fit_trends

STATISTICS = {
    "compare": ["runtime", "provider"],
    "test": "t",
    "correction": "holm",
    "alpha": 0.05,
    "confidence": 0.95,
    "equal_margin": 0.05,
    "unused_gpus": "count",
    "noise": 0.05,
    "accuracy_targets": [0.5],
    "accuracy_margin": 0.01,
}
TORCH, TENSORFLOW, MXNET = (frames_factory.cell(name) for name in ("torch", "tensorflow", "mxnet"))
"""The cells of `answered_study`."""
FAILURE = "took longer than timeout_s"


def run_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run record, in the fields that the report reads, from a total row of the runs frame."""
    ok = row["status"] == "ok"
    energy = {"instrument": row["instrument"], "source": "energy_j", "estimated": row["estimated"]}
    return {
        "framewatt_version": "1.0",
        "cell_id": row["cell"],
        "cell": {name: row[name] for name in frames_factory.FACTORS},
        "workload": None,
        "repetition": row["repetition"],
        "position": row["position"],
        "clock": {"monotonic_ns": row["position"], "utc": "2026-01-01T00:00:00+00:00"},
        "status": row["status"],
        "valid": row["valid"],
        "reasons": [row["reasons"]] if row["reasons"] else [],
        "flags": ["attempt 2; earlier ones failed"] if row["position"] == 1 else [],
        "windows": {"steady": {"domains": {"cpu:package-0": energy}}} if ok else {},
        "primary_window": "steady" if ok else None,
        "identity": {
            "code": {"commit": "c0ffee5", "modified": False, "sha256": "5eed"},
            "data_sha256": "da7a",
            "artefact_sha256": f"a{row['batch_size']}",
            "environment": {"name": row["runtime"]},
        },
        "machine": {
            "cpu_model": "Abacus 3000",
            "memory_b": 2**34,
            "gpus": [],
            "kernel": "6.1",
            "id": "m",
            "session": "s",
        },
        "preflight": [{"topic": "SMT", "found": "on", "meaning": "threads share a core", "remedy": "switch it off"}],
        "sampler": {
            "rate_per_s": 99.0 + row["repetition"] / 10,
            "reads": 990,
            "missed_reads": 10,
            "core_share": 0.004,
            "lateness_p99_s": 0.0012,
        },
    }


@functools.cache
def frames(*, estimated: bool, repetitions: int, fail: bool) -> dict[str, pd.DataFrame]:
    """The frames of a study in the demo's shape, with their statistics; not to be changed."""
    runs = frames_factory.study_frame(repetitions, estimated=estimated)
    if fail:
        runs = _with_failure(runs)
    train = [frames_factory.cell(runtime, "train", 16) for runtime in ("torch", "tensorflow", "mxnet")]
    epochs = frames_factory.epochs_frame(train, repetitions, estimated=estimated)
    return {"runs": runs, "epochs": epochs} | judged(runs, epochs)


def judged(runs: pd.DataFrame, epochs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {
        "cells": summarise_cells(runs, STATISTICS),
        "answers": answer(runs, STATISTICS),
        "machines": answer_by_machine(runs, STATISTICS),
        "drift": drift(runs, STATISTICS),
        "comparisons": compare_cells(runs, STATISTICS),
        "correlations": correlate(runs, STATISTICS),
        "omnibus": omnibus(runs, STATISTICS),
        "trends": fit_trends(epochs, runs, STATISTICS),
        "to_accuracy": to_accuracy(epochs, runs, STATISTICS),
        "choices": judge_choices(runs, STATISTICS),
    }


def material(
    *, estimated: bool = False, repetitions: int = 4, fail: bool = False, idle_after_w: float = 12.5, **plan: Any
) -> Material:
    """A study in the demo's shape with everything that the report reads."""
    made = frames(estimated=estimated, repetitions=repetitions, fail=fail)
    runs = made["runs"]
    totals = runs[runs["domain"] == TOTAL]
    cells = (
        totals[["cell", *factors_of(totals)]].drop_duplicates("cell").rename(columns={"cell": "id"}).to_dict("records")
    )
    settings = {
        "window": {"warm_up_batches": 5, "minimum_s": 3},
        "training": {"epochs": 3, "batch_size": 32, "optimizer": "sgd", "learning_rate": 0.001},
        "weights": "trained",
        "statistics": STATISTICS,
        "cool_down": {"rest_s": 0.5, "idle_band": None, "timeout_s": 300},
        "instruments": {"period_s": 0.01},
    }
    defaults: dict[str, Any] = {
        "study": "synthetic",
        "title": "What does it cost?",
        "description": "A study of nothing.",
        "device": "cpu",
        "repetitions": repetitions,
        "seed": 1,
        "order": [{"cell": one["id"], "repetition": r} for one in cells for r in range(1, repetitions + 1)],
        "cells": cells,
        "excluded": ["infer-resnet50-digits-mxnet-b1024"],
        "unsupported": [{"cell": "train-resnet50-digits-tf2onnx-cpu-b16", "reason": "ONNX Runtime does not train"}],
        "significance": {"sentence": "With 4 blocks little can be told."},
        "settings": settings,
    }
    idle = {"mean_power_w": 12.3, "sd_power_w": 0.4, "estimated": estimated, "instrument": "rapl"}
    model = {"model": "resnet50-digits-torch", "framework": "torch", "samples": 360, "opset": 18, "checker": "ok"}
    return Material(
        plan=defaults | plan,
        records=[run_record(row) for row in totals.to_dict("records")],
        idle={"duration_s": 10.0, "domains": {"cpu:package-0": idle}},
        idle_after={"duration_s": 10.0, "domains": {"cpu:package-0": idle | {"mean_power_w": idle_after_w}}},
        models=[{"model": "resnet50-digits-torch", "status": "failed", "reason": "out of memory"}],
        exports=[
            model | {"status": "ok", "reason": None, "max_abs_difference": 2e-6, "tolerance": 1e-3},
            model | {"model": "resnet50-digits-mxnet", "status": "invalid", "reason": "ONNX Runtime: no kernel"},
        ],
        environments=[
            {"name": "torch", "status": "ok", "reason": None, "lock_sha256": "10c4", "python_version": "3.11.9"},
            {"name": "mxnet/cpu", "status": "failed", "reason": "uv pip: no wheel", "lock_sha256": "10c5"},
        ],
        **made,
    )


def _with_failure(runs: pd.DataFrame) -> pd.DataFrame:
    """The first run failed; its numbers are left in, for nothing may count them."""
    first = runs["position"] == 1
    runs = runs[~first | (runs["domain"] == TOTAL)].copy()
    runs.loc[runs["position"] == 1, ["status", "valid", "reasons"]] = ["failed", False, FAILURE]
    return runs


def page(found: Material, figures: Path) -> BeautifulSoup:
    return BeautifulSoup(build_report(found, figures), "html.parser")


def head(found: Material) -> Head:
    """The first screen of a study."""
    return head_of(answer_study(found), {})


def questions(found: Material) -> list[Question]:
    """The questions that a study answers."""
    return questions_of(answer_study(found), found.parity)


def energy_answers(found: Material) -> list[GroupAnswer]:
    """The answers of a study by energy."""
    return list(answer_study(found).by_quantity[ENERGY])


def comparison(found: Material) -> Comparison:
    """Any two cells of a study next to each other."""
    return comparison_of(answer_study(found))


def answered_study(levels: dict, **settings: Any) -> Material:
    """A study of these joules of a sample, whose cells are its plan's."""
    runs = frames_factory.runs_frame(levels)
    one = material()
    statistics = STATISTICS | settings
    planned = [{"id": name.id, **name.to_dict()} for name in levels]
    order = [{"cell": name.id, "repetition": r + 1} for name, values in levels.items() for r in range(len(values))]
    plan = {
        **one.plan,
        "cells": planned,
        "order": order,
        "settings": {**one.plan["settings"], "statistics": statistics},
    }
    made = judged(runs, one.epochs) | {
        "answers": answer(runs, statistics, levels),
        "omnibus": omnibus(runs, statistics),
    }
    return dataclasses.replace(one, plan=plan, records=[], runs=runs, **made)
