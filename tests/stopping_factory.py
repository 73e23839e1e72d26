"""Studies that stop by a rule: their cells, their runs in blocks, and what is known after each block."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import statistics_settings
from records_factory import energy, run_record

from framewatt.stopping.path import Path as StoppingPath
from framewatt.stopping.path import path_of
from framewatt.study.factors import PlainCell

RULE = {"at_least": 4, "at_most": 8, "until": {"best": "energy"}}
LEVELS = {"phase": "infer", "workload": "resnet50", "provider": "native", "dataset": "digits", "precision": "fp32"}
CELLS = [
    PlainCell(f"{runtime}-b{batch}", tuple({**LEVELS, "runtime": runtime, "batch_size": batch}.items()))
    for batch in (1, 64)
    for runtime in ("torch", "tensorflow", "mxnet")
]
RATIOS = {"torch": 1.0, "tensorflow": 1.2, "mxnet": 1.5}


def settings(**repetitions: Any) -> dict[str, Any]:
    return {"repetitions": {**RULE, **repetitions}, "statistics": statistics_settings.settings()}


def records(blocks: int, noise: float = 0.03, change: Mapping[tuple[str, int], Any] | None = None) -> list[dict]:
    """Runs of every cell in so many blocks; a changed one has other joules, or none, with which it failed."""
    rng = np.random.default_rng(5)
    found = []
    for block in range(1, blocks + 1):
        for cell in CELLS:
            levels = cell.to_dict()
            joules = 100 * RATIOS[levels["runtime"]] * rng.lognormal(0, noise)
            joules = (change or {}).get((cell.id, block), joules)
            head = {"cell_id": cell.id, "cell": levels, "repetition": block, "block": block}
            if joules is None:
                head |= {"status": "failed", "valid": False, "reasons": ["killed"]}
            found.append(run_record({"cpu:package-0": energy(joules)}, **head))
    return found


def path(blocks: int, noise: float = 0.03, change: Any = None, **repetitions: Any) -> StoppingPath:
    return path_of(CELLS, settings(**repetitions), records(blocks, noise, change))
