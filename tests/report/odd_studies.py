"""Studies at the edges of what a page can be of."""

import dataclasses
from collections.abc import Callable

from frames_factory import cell
from report_factory import MXNET, TORCH, answered_study, judged, material

from framewatt.report import Material

RUNS = [1.0, 1.1, 0.9, 1.05]
RUNTIMES = ("torch", "tensorflow", "mxnet", "torch2onnx", "tf2onnx")
LONG = f"{'w' * 39}_{'x' * 40}"


def long_names() -> Material:
    """Cells whose model has a name of 80 characters without a place to break it."""
    return answered_study(
        {cell(runtime, workload=LONG): [n * j for j in RUNS] for n, runtime in enumerate(RUNTIMES[:3], 1)}
    )


def one_cell() -> Material:
    return answered_study({TORCH: RUNS})


def failed_runs() -> Material:
    return answered_study({TORCH: [None] * 3, MXNET: [None] * 3})


def no_energy() -> Material:
    """Every run took place, and no meter gave an energy."""
    one = answered_study({TORCH: RUNS, MXNET: RUNS})
    energies = [name for name in one.runs if name.startswith("energy_") or name == "mean_power_w"]
    runs = one.runs.assign(valid=False, reasons="no meter", **dict.fromkeys(energies, float("nan")))
    return dataclasses.replace(one, runs=runs, **judged(runs, one.epochs))


def forty_cells() -> Material:
    return answered_study(
        {
            cell(runtime, batch_size=2**power): [n * j + power for j in RUNS]
            for n, runtime in enumerate(RUNTIMES, 1)
            for power in range(8)
        }
    )


def read_from_files() -> Material:
    """Runs of logs, whose records tell of no machine, clock, sampler or weights."""
    one = answered_study({TORCH: RUNS, MXNET: [2 * j for j in RUNS]})
    blank = {"machine": None, "sampler": None, "preflight": [], "clock": {"utc": None}, "windows": {}, "unknown": {}}
    files = {"logs": [{"pattern": "*.csv", "reader": "itu2023"}], "baseline": {}}
    settings = {"statistics": one.plan["settings"]["statistics"], "files": files}
    records = [
        {**record, **blank, "files": [{"reader": "itu2023", "path": "a/b.csv"}]} for record in material().records
    ]
    plan = {**one.plan, "source": "files", "settings": settings}
    return dataclasses.replace(
        one, plan=plan, records=records, idle={}, idle_after={}, models=[], exports=[], environments=[]
    )


ODD: dict[str, Callable[[], Material]] = {
    "long names": long_names,
    "one cell": one_cell,
    "failed runs": failed_runs,
    "no energy": no_energy,
    "forty cells": forty_cells,
    "read from files": read_from_files,
}
"""By what is odd about them."""
