"""The report: what it must contain, and what must not get into it."""

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import frames_factory
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from framewatt.figures import energy_runtime_batch, energy_time, epochs
from framewatt.figures.save import save
from framewatt.frames import FACTORS, TOTAL
from framewatt.report import Material, build_report, words
from framewatt.statistics import compare_cells, correlate, omnibus, summarise_cells

STATISTICS = {"test": "wilcoxon", "correction": "holm", "alpha": 0.05, "confidence": 0.95, "resamples": 199}
FIGURES = ("energy_time", "energy_runtime_batch", "epochs")
TABLES = ("energy_time", "accuracy", "export_agreement", "comparisons", "epochs", "failures")
FAILURE = "took longer than timeout_s"


def run_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run record, in the fields that the report reads, from a total row of the runs frame."""
    ok = row["status"] == "ok"
    energy = {"instrument": row["instrument"], "source": "energy_j", "estimated": row["estimated"]}
    return {
        "framewatt_version": "1.0",
        "cell_id": row["cell"],
        "repetition": row["repetition"],
        "position": row["position"],
        "status": row["status"],
        "valid": row["valid"],
        "reasons": [row["reasons"]] if row["reasons"] else [],
        "flags": ["attempt 2; earlier ones failed"] if row["position"] == 1 else [],
        "windows": {"steady": {"domains": {"cpu:package-0": energy}}} if ok else {},
        "identity": {
            "code": {"commit": "c0ffee", "modified": False, "sha256": "5eed"},
            "data_sha256": "da7a",
            "artefact_sha256": f"a{row['batch_size']}",
            "environment": {"name": row["runtime"]},
        },
        "machine": {"cpu_model": "Abacus 3000", "memory_b": 2**34, "gpus": [], "kernel": "6.1", "fingerprint": "f"},
        "preflight": [{"topic": "SMT", "found": "on", "meaning": "threads share a core", "remedy": "switch it off"}],
        "sampler": {
            "rate_per_s": 99.0 + row["repetition"] / 10,
            "reads": 990,
            "missed_reads": 10,
            "core_share": 0.004,
            "lateness_p99_s": 0.0012,
        },
    }


def material(*, estimated: bool = False, repetitions: int = 4, fail: bool = False, **plan: Any) -> Material:
    """A study in the demo's shape with everything that the report reads."""
    runs = frames_factory.study_frame(repetitions, estimated=estimated)
    if fail:
        runs = _with_failure(runs)
    totals = runs[runs["domain"] == TOTAL]
    cells = totals[["cell", *FACTORS]].drop_duplicates("cell").rename(columns={"cell": "id"}).to_dict("records")
    train = [frames_factory.cell(runtime, "train", 16) for runtime in ("torch", "tensorflow", "mxnet")]
    settings = {
        "window": {"warm_up_batches": 5, "minimum_s": 3},
        "training": {"epochs": 3},
        "statistics": STATISTICS,
        "cool_down_s": 0.5,
        "instruments": {"period_s": 0.01},
    }
    defaults: dict[str, Any] = {
        "study": "synthetic",
        "title": "What does it cost?",
        "description": "A study of nothing.",
        "device": "cpu",
        "repetitions": repetitions,
        "seed": 1,
        "cells": cells,
        "excluded": ["infer-resnet50-digits-mxnet-b1024"],
        "unsupported": [{"cell": "train-resnet50-digits-tf2onnx-cpu-b16", "reason": "ONNX Runtime does not train"}],
        "significance": {"sentence": "With 4 runs a cell nothing can be significant.", "reachable": False},
        "settings": settings,
    }
    idle = {"mean_power_w": 12.3, "sd_power_w": 0.4, "estimated": estimated, "instrument": "rapl"}
    model = {"model": "resnet50-digits-torch", "framework": "torch", "samples": 360, "opset": 18, "checker": "ok"}
    return Material(
        plan=defaults | plan,
        records=[run_record(row) for row in totals.to_dict("records")],
        idle={"duration_s": 10.0, "domains": {"cpu:package-0": idle}},
        exports=[
            model | {"status": "ok", "reason": None, "max_abs_difference": 2e-6, "tolerance": 1e-3},
            model | {"model": "resnet50-digits-mxnet", "status": "invalid", "reason": "ONNX Runtime: no kernel"},
        ],
        environments=[
            {"name": "torch", "status": "ok", "reason": None, "lock_sha256": "10c4", "python_version": "3.11.9"},
            {"name": "mxnet/cpu", "status": "failed", "reason": "uv pip: no wheel", "lock_sha256": "10c5"},
        ],
        runs=runs,
        epochs=frames_factory.epochs_frame(train, repetitions, estimated=estimated),
        cells=summarise_cells(runs, STATISTICS, 1),
        comparisons=compare_cells(runs, STATISTICS, 1),
        correlations=correlate(runs, STATISTICS, 1),
        omnibus=omnibus(runs, STATISTICS),
    )
