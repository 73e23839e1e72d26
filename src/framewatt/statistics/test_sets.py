"""The test sets behind a study's accuracies: which samples each cell got right, where its runs recorded that."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from framewatt.runs.predictions import NAME, Answers, read_right
from framewatt.runs.verdict import counts
from framewatt.statistics.equivalence import TestSets
from framewatt.study.runtimes import RUNTIMES


def read_test_sets(records: Mapping[Path, Mapping[str, Any]], own_models: Collection[str]) -> TestSets:
    """Read the predictions of the first run that counts of every cell; later runs have the same or equivalent weights.

    Args:
        records: run records by their paths, with predictions beside them.
        own_models: names of workloads that the study's author supplied, each one model in any format.

    Raises:
        FramewattError: predictions cannot be read, or do not match their record.
    """
    told = [
        (record["repetition"], path, record["predictions"], record["cell_id"], record["cell"])
        for path, record in records.items()
        if record.get("predictions") and counts(record)
    ]
    right: dict[str, Answers] = {}
    weights: dict[str, str] = {}
    for _, path, answers, name, cell in sorted(told, key=lambda of: of[0]):
        if name not in right:
            right[name] = read_right(path.with_name(NAME), answers)
            own = cell["workload"] in own_models
            weights[name] = "own" if own else RUNTIMES[cell["runtime"]].framework
    return TestSets(right, weights=weights)
