"""Synthetic frames for tests: a few lines say what was measured, the rest of the columns is filled in."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.frames import epochs_columns, runs_columns
from framewatt.frames.totals import TOTAL
from framewatt.study.cell import FIXED, Cell
from framewatt.study.factors import NATIVE

FACTORS = list(FIXED)
"""Factors of every synthetic frame."""

SAMPLES = 1000
"""Samples that every synthetic run processes."""

POWER_W = 50.0
"""Mean power of a synthetic run whose energy is given and whose time is not."""


def cell(runtime: str = "torch", phase: str = "infer", batch_size: int = 1, **levels: Any) -> Cell:
    """A cell of ResNet-50 on digits; runtimes that end in 2onnx get the provider `cpu`."""
    provider = "cpu" if runtime.endswith("2onnx") else NATIVE
    defaults: dict[str, Any] = {"workload": "resnet50", "dataset": "digits", "precision": "fp32", "provider": provider}
    return Cell(phase=phase, runtime=runtime, batch_size=batch_size, **(defaults | levels))


def runs_frame(
    energy_per_sample_j: Mapping[Cell, Sequence[float | None]],
    time_per_sample_s: Mapping[Cell, Sequence[float]] | None = None,
    accuracy: Mapping[Cell, Sequence[float]] | None = None,
    *,
    estimated: bool = False,
    domains: Sequence[str] = ("cpu:package-0",),
) -> pd.DataFrame:
    """A runs frame with one block a repetition, cells measured in the order given.

    Args:
        energy_per_sample_j: joules per sample of each repetition of a cell; None is a run that failed.
        time_per_sample_s: seconds per sample; energy at POWER_W where not given.
        accuracy: share of right answers; 0.9 where not given.
        estimated: whether the energy is an estimate.
        domains: what the total is the sum of, in equal parts.
    """
    rows: list[dict[str, Any]] = []
    for index, (one, energies) in enumerate(energy_per_sample_j.items()):
        for repetition, energy in enumerate(energies, 1):
            head: dict[str, Any] = {
                "study": "synthetic",
                "cell": one.id,
                **one.to_dict(),
                "device": "cpu",
                "repetition": repetition,
                "block": repetition,
                "position": (repetition - 1) * len(energy_per_sample_j) + index + 1,
                "status": "ok",
                "valid": True,
                "reasons": "",
                "flags": "",
                "started_utc": f"2026-01-01T{repetition:02d}:{index:02d}:00.000000+00:00",
            }
            if energy is None:
                failed = {"status": "failed", "valid": False, "reasons": "took longer than timeout_s", "domain": TOTAL}
                rows.append(head | failed)
                continue
            seconds = time_per_sample_s[one][repetition - 1] if time_per_sample_s else energy / POWER_W
            head |= {
                "window": "steady" if one.phase == "infer" else "train",
                "duration_s": seconds * SAMPLES,
                "samples_processed": SAMPLES,
                "throughput_per_s": 1 / seconds,
                "latency_p50_s": seconds * one.batch_size,
                "latency_p95_s": 1.1 * seconds * one.batch_size,
                "latency_p99_s": 1.2 * seconds * one.batch_size,
                "accuracy": accuracy[one][repetition - 1] if accuracy else 0.9,
                "precision_macro": 0.8,
                "recall_macro": 0.7,
                "f1_macro": 0.75,
            }
            parts = [(TOTAL, " + ".join(domains), 1.0), *((name, name, 1 / len(domains)) for name in domains)]
            for domain, sum_of, share in parts:
                numbers = _energy(energy * SAMPLES * share, seconds * SAMPLES)
                rows.append(
                    head
                    | numbers
                    | {
                        "domain": domain,
                        "parts": sum_of,
                        "instrument": "estimate" if estimated else "rapl",
                        "estimated": estimated,
                        "energy_per_sample_j": energy * share,
                    }
                )
    factors = dict.fromkeys([*FACTORS, *(name for one in energy_per_sample_j for name in one.to_dict())])
    frame = pd.DataFrame(rows, columns=runs_columns(factors))
    return frame.sort_values(["position", "domain"], kind="stable", ignore_index=True)


def epochs_frame(
    cells: Sequence[Cell], repetitions: int = 2, epochs: int = 3, *, estimated: bool = False
) -> pd.DataFrame:
    """An epochs frame: epoch k of repetition r costs 100 + 10 k + r joules in 2 k seconds, loss 1 / k."""
    rows: list[dict[str, Any]] = []
    for one in cells:
        for repetition in range(1, repetitions + 1):
            for epoch in range(1, epochs + 1):
                duration_s = 2.0 * epoch
                head = {
                    "study": "synthetic",
                    "cell": one.id,
                    **one.to_dict(),
                    "device": "cpu",
                    "repetition": repetition,
                    "epoch": epoch,
                    "estimated": estimated,
                    "duration_s": duration_s,
                    "samples_processed": SAMPLES,
                    "throughput_per_s": SAMPLES / duration_s,
                    "loss_mean": 1 / epoch,
                    "accuracy": 1 - 0.5 / epoch,
                    "precision_macro": 0.8,
                    "recall_macro": 0.7,
                    "f1_macro": 0.75,
                }
                numbers = _energy(100.0 + 10 * epoch + repetition, duration_s)
                rows += [head | numbers | {"domain": domain} for domain in (TOTAL, "cpu:package-0")]
    return pd.DataFrame(rows, columns=epochs_columns(FACTORS))


def study_frame(repetitions: int = 10, seed: int = 0, *, estimated: bool = False) -> pd.DataFrame:
    """A runs frame in the demo's shape: three frameworks train, six runtimes infer at batch 1 and 64.

    Runs scatter by 3 % around a level that differs from cell to cell; accuracy is the same wherever a model
    of one framework runs.
    """
    frameworks = ("torch", "tensorflow", "mxnet")
    exported = ("torch2onnx", "tf2onnx", "mx2onnx")
    cells = [cell(runtime, "train", 16) for runtime in frameworks]
    cells += [cell(runtime, "infer", batch) for batch in (1, 64) for runtime in (*frameworks, *exported)]
    rng = np.random.default_rng(seed)
    energy: dict[Cell, Sequence[float | None]] = {}
    time: dict[Cell, Sequence[float]] = {}
    accuracy: dict[Cell, Sequence[float]] = {}
    for index, one in enumerate(cells):
        level_s = (0.02 if one.phase == "train" else 0.01 / one.batch_size**0.3) * (1 + 0.15 * index)
        time[one] = (level_s * rng.normal(1, 0.03, repetitions)).tolist()
        energy[one] = [POWER_W * s * f for s, f in zip(time[one], rng.normal(1, 0.02, repetitions), strict=True)]
        accuracy[one] = [{"torch": 0.97, "tensorflow": 0.96, "mxnet": 0.95}[one.framework]] * repetitions
    return runs_frame(energy, time, accuracy, estimated=estimated)


def _energy(energy_j: float, duration_s: float) -> dict[str, float]:
    idle_j = 0.1 * energy_j
    return {
        "energy_gross_j": energy_j,
        "energy_idle_j": idle_j,
        "energy_net_j": energy_j - idle_j,
        "energy_uncertainty_j": 0.01 * energy_j,
        "energy_net_uncertainty_j": 0.02 * energy_j,
        "mean_power_w": energy_j / duration_s,
        "samples": max(2, round(duration_s / 0.01)),
        "largest_gap_s": 0.02,
    }


_WORK = {"resnet50": 1e9, "resnet101": 2e9, "resnet152": 3e9}


def training_study(
    runtimes=("torch", "tensorflow"),
    workloads=("resnet50", "resnet101", "resnet152"),
    batches=(32, 64, 128),
    repetitions=3,
    scatter=0.0,
    seed=1,
    accuracies=(0.3, 0.5, 0.6),
    gpu=False,
    dataset="digits",
    level_j=None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Epochs and runs whose epochs after the first cost 1000 J x (batch / 32)^-0.5 x (operations / 1e9)."""
    rng = np.random.default_rng(seed)
    cells = [
        cell(runtime, "train", batch, workload=workload, dataset=dataset)
        for runtime in runtimes
        for workload in workloads
        for batch in batches
    ]
    rows = []
    for one in cells:
        for repetition in range(1, repetitions + 1):
            for epoch, accuracy in enumerate(accuracies, 1):
                energy_j = 1000 * (one.batch_size / 32) ** -0.5 * _WORK[one.workload] / 1e9
                energy_j *= (level_j or {}).get(one.runtime, 1)
                energy_j *= (5 if epoch == 1 else 1) * (1 + scatter * rng.normal())
                row = {
                    "study": "synthetic",
                    "cell": one.id,
                    **one.to_dict(),
                    "repetition": repetition,
                    "epoch": epoch,
                    "estimated": False,
                    "duration_s": 10.0,
                    "energy_gross_j": energy_j,
                    "mean_power_w": energy_j / 10,
                    "accuracy": accuracy,
                    "flops_per_sample": _WORK[one.workload] if one.runtime == "torch" else None,
                    "gpu_utilization_percent": 50.0 if gpu else None,
                }
                rows += [row | {"domain": domain} for domain in (TOTAL, *(["gpu:0"] if gpu else []))]
    return pd.DataFrame(rows, columns=epochs_columns(FACTORS)), runs_frame({one: [1.0] * repetitions for one in cells})
