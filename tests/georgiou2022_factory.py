"""Runs of a study that measures georgiou2022 anew, whose costs are known."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from records_factory import energy, run_record, window

from framewatt.papers import PAPERS
from framewatt.papers.georgiou2022.findings import METRICS
from framewatt.papers.georgiou2022.own_runs import MODELS, model_of
from framewatt.papers.georgiou2022.recount import printed_means
from framewatt.papers.replication import Measured
from framewatt.tasks.quality import described

RESOURCES = Path(__file__).parents[1] / "resources" / "published"
PRINTED = printed_means(RESOURCES)
EMPTY = pd.DataFrame()
DOMAINS = {"pkg_energy": "cpu:package-0", "ram_energy": "cpu:dram-0", "gpu_energy": "gpu:0"}
WORKLOADS = {paper: f"{begin}_small" for begin, paper in MODELS.items()}
FRAMEWORKS = {"torch": "pytorch", "tensorflow": "tensorflow"}

Costs = Callable[[str, str, str, str], float]
"""Mean joules or seconds of a phase, the paper's model, its framework, its quantity."""


def as_printed(phase: str, model: str, framework: str, quantity: str) -> float:
    return float(PRINTED.loc[(phase, model, quantity), framework])


def swapped(phase: str, model: str, framework: str, quantity: str) -> float:
    """Each framework's costs are the other's."""
    return as_printed(phase, model, {"pytorch": "tensorflow", "tensorflow": "pytorch"}[framework], quantity)


def the_same(phase: str, model: str, framework: str, quantity: str) -> float:
    return 1000.0


def cells() -> list[dict[str, Any]]:
    return [
        {
            **{"id": f"{phase}-{workload}-{runtime}", "phase": phase, "workload": workload, "runtime": runtime},
            **{"provider": "native", "dataset": "drawn", "batch_size": 8, "precision": "fp32"},
        }
        for phase in ("train", "infer")
        for workload in WORKLOADS.values()
        for runtime in FRAMEWORKS
    ]


def record(cell: Mapping[str, Any], block: int, costs: Costs, factors: NDArray[np.float64]) -> dict:
    """A run whose quantities are as much as `costs` says, each times a factor."""
    paper, framework = model_of(cell["workload"]), FRAMEWORKS[cell["runtime"]]
    factor = iter(factors)
    joules = {
        domain: energy(costs(cell["phase"], paper, framework, quantity) * next(factor))
        for quantity, domain in DOMAINS.items()
    }
    seconds = costs(cell["phase"], paper, framework, "run_time") * next(factor)
    whole = {**window(joules), "duration_s": seconds}
    metric = METRICS[paper]
    return run_record(
        joules,
        cell_id=cell["id"],
        cell={name: level for name, level in cell.items() if name != "id"},
        repetition=block,
        block=block,
        position=block,
        windows={"process": whole, "steady": whole},
        quality=described({metric: 0.5 * next(factor)}, None),
    )


def measured(
    costs: Costs = as_printed,
    blocks: int = 10,
    spread: float = 0.01,
    seed: int = 0,
    of_block: Callable[[np.random.Generator], float] = lambda noise: 0.0,
    **change: Any,
) -> Measured:
    """A study of all six models.

    Args:
        costs: what is true.
        blocks: of runs.
        spread: standard deviation of the logarithms of a run's quantities.
        seed: of the noise.
        of_block: draws a logarithm that all runs of a block have in common.
        change: other fields of Measured.
    """
    noise = np.random.default_rng(seed)
    records = []
    for block in range(1, blocks + 1):
        common = of_block(noise)
        records += [record(cell, block, costs, np.exp(common + spread * noise.standard_normal(8))) for cell in cells()]
    return Measured(EMPTY, EMPTY, EMPTY, RESOURCES, **{"cells": cells(), "records": records, **change})


def table(study: Measured, name: str) -> pd.DataFrame:
    return PAPERS["georgiou2022"].table_makers()[name](study).data


def claims(study: Measured, name: str = "claims") -> pd.DataFrame:
    return table(study, name).set_index("id")


def of_costs(found: pd.DataFrame) -> pd.DataFrame:
    return found[~found.index.str.startswith("accuracy-")]
