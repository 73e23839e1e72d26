"""Own runs in the shape of alizadeh2024's tables: net energy and time of as many samples as the paper ran."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.frames.totals import TOTAL
from framewatt.papers.alizadeh2024.recount import ORIGINALS
from framewatt.statistics.selection import totals
from framewatt.study.factors import NATIVE
from framewatt.study.options import OPTIONS

MODELS = {"mobilenetv2": "MobileNet", "resnet50": "ResNet", "bert_base": "BERT"}
"""Workload -> the paper's name, in the order of its Table 1."""

RUNTIMES = {name: name for name in ("mxnet", "tensorflow", "torch", "mx2onnx", "tf2onnx", "torch2onnx")} | {
    "tensorflow": "tf"
}
"""Runtime -> the paper's name, in the order of its Table 1."""

PROVIDERS = {"cpu": "CPU", "openvino": "OpenVINO", "cuda": "CUDA", "tensorrt": "TensorRT"}
"""Execution provider -> its name."""

SAMPLES = {"MobileNet": 10_000, "ResNet": 10_000, "BERT": 25_000}
"""Samples that the paper ran: ImageNet's images, IMDB's reviews."""

HEADINGS = {
    "gpu_utilization_percent": "GPU utilisation (%)",
    "gpu_memory_utilization_percent": "GPU memory utilisation (%)",
    "gpu_power_w": "GPU power (W)",
    "gpu_energy_j": "GPU energy (J)",
    "cpu_energy_j": "CPU energy (J)",
    "total_energy_j": "Total energy (J)",
    "inference_time_s": "Time (s)",
}
"""Columns of the paper's Tables 1 and 3, and their headings."""

QUANTITIES = list(HEADINGS)

ENERGIES = ("gpu_power_w", "gpu_energy_j", "cpu_energy_j", "total_energy_j")
"""Those that are net of idle power, and unknown where a cell drew no more than that."""

KEYS = ["model", "batch_size", "runtime", "provider"]


def own_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per cell of inference that has a place in the paper's tables, with means over the runs that count.

    A cell with an option at another level than the default (compiled, say) has no place there.

    Args:
        runs: the runs frame.

    Returns:
        Columns KEYS (names as in the paper, provider as in the study), cell, default_provider (whether the provider is
        the device's own), n, QUANTITIES, accuracy_percent, estimated, why_empty. A cell without a run that counts has a
        row without numbers.

    Raises:
        FramewattError: two cells have one place.
    """
    every = totals(runs)
    every = every[every["phase"].eq("infer") & every["workload"].isin(MODELS)]
    for name, option in OPTIONS.items():
        if name in every and option.default is not None:
            every = every[every[name].eq(option.default)]
    of_domain = {key: part.set_index("domain") for key, part in runs.groupby(["cell", "repetition"], sort=False)}
    rows = []
    for cell, part in every.groupby("cell", sort=False):
        first = part.iloc[0]
        model = MODELS[first["workload"]]
        counted = part[part["counts"]]
        numbers = [
            _paper_columns(row, of_domain[cell, row["repetition"]], SAMPLES[model]) for _, row in counted.iterrows()
        ]
        means = pd.DataFrame(numbers, columns=[*QUANTITIES, "accuracy_percent"]).astype("float64").mean()
        at_rest = means[list(ENERGIES)] <= 0
        means[at_rest.index[at_rest]] = None
        rows.append(
            {
                "model": model,
                "batch_size": int(first["batch_size"]),
                "runtime": RUNTIMES[first["runtime"]],
                "provider": first["provider"],
                "cell": cell,
                "default_provider": first["provider"] in (NATIVE, first["device"]),
                "n": len(counted),
                **means.to_dict(),
                "estimated": bool(counted["estimated"].any()),
                "why_empty": _why_empty(part, counted, at_rest=bool(at_rest.any())),
            }
        )
    columns = [*KEYS, "cell", "default_provider", "n", *QUANTITIES, "accuracy_percent", "estimated", "why_empty"]
    frame = pd.DataFrame(rows, columns=columns)
    twice = frame[frame.duplicated(KEYS, keep=False)]
    if len(twice):
        cells = " and ".join(twice["cell"].head(2))
        raise FramewattError(
            f"replicates: the cells {cells} have one place in the tables of alizadeh2024. Leave one of them out."
        )
    return _in_order(frame)


def exports_by_provider(own: pd.DataFrame) -> pd.DataFrame:
    """What the paper's Table 3 holds of own cells: ResNet-50's exports at batch size 1.

    Args:
        own: from `own_cells`.

    Returns:
        The rows, with exported_from and execution_provider, named as in the paper.
    """
    rows = own[own["model"].eq("ResNet") & own["batch_size"].eq(1) & own["runtime"].isin(ORIGINALS)]
    return rows.assign(exported_from=rows["runtime"].map(ORIGINALS), execution_provider=rows["provider"].map(PROVIDERS))


def _paper_columns(total: Mapping[str, Any], domains: pd.DataFrame, samples: int) -> dict[str, float | None]:
    """The paper's columns for one run."""
    scale = samples / total["samples_processed"]
    gpu_j = _net(domains, "gpu:")
    return {
        "gpu_utilization_percent": total["gpu_utilization_percent"],
        "gpu_memory_utilization_percent": total["gpu_memory_utilization_percent"],
        "gpu_power_w": gpu_j / total["duration_s"] if gpu_j is not None else None,
        "gpu_energy_j": gpu_j * scale if gpu_j is not None else None,
        "cpu_energy_j": cpu_j * scale if (cpu_j := _net(domains, "cpu:")) is not None else None,
        "total_energy_j": total["energy_net_j"] * scale,
        "inference_time_s": total["duration_s"] * scale,
        "accuracy_percent": 100 * total["accuracy"],
    }


def _net(domains: pd.DataFrame, kind: str) -> float | None:
    """Net joules of what the total holds of a kind of domain; None where it holds none."""
    parts = [name for name in str(domains.loc[TOTAL, "parts"]).split(" + ") if name.startswith(kind)]
    return float(domains.loc[parts, "energy_net_j"].astype("float64").sum(min_count=len(parts))) if parts else None


def _why_empty(part: pd.DataFrame, counted: pd.DataFrame, *, at_rest: bool) -> str:
    """Why some numbers of a cell are missing."""
    if counted.empty:
        return "; ".join(dict.fromkeys(part["why_not"]))
    reasons = dict.fromkeys(counted["telemetry_unknown"].dropna())
    return "; ".join([*reasons, *(["no more power than at rest"] if at_rest else [])])


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows as the paper has them: models, batch sizes, frameworks, exports."""
    places = {name: i for names in (MODELS, RUNTIMES) for i, name in enumerate(names.values())}
    return frame.sort_values(
        KEYS, kind="stable", ignore_index=True, key=lambda c: c.map(places) if c.name in ("model", "runtime") else c
    )
