"""What a report is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.frames import TOTAL


@dataclass(frozen=True)
class Material:
    """Everything that a study left behind, loaded.

    Attributes:
        plan: plan.json: study, title, description, device, repetitions, seed, order, cells, excluded, unsupported,
            significance, settings.
        records: run records, in any order.
        idle: calibrate/idle.json.
        exports: records of exports and of their checks: model or framework, status, reason, max_abs_difference.
        environments: records of environments: name, status, reason, lock_sha256.
        runs: the runs frame.
        epochs: the epochs frame.
        cells: statistics of cells (framewatt.statistics.CELLS_COLUMNS).
        comparisons: statistics of pairs (COMPARISONS_COLUMNS).
        correlations: energy against time (CORRELATIONS_COLUMNS).
        omnibus: tests of whole groups (OMNIBUS_COLUMNS).
    """

    plan: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]
    idle: Mapping[str, Any]
    exports: Sequence[Mapping[str, Any]]
    environments: Sequence[Mapping[str, Any]]
    runs: pd.DataFrame
    epochs: pd.DataFrame
    cells: pd.DataFrame
    comparisons: pd.DataFrame
    correlations: pd.DataFrame
    omnibus: pd.DataFrame

    @property
    def estimated(self) -> bool:
        """Whether any energy that counts is an estimate."""
        return bool(self.runs["estimated"].eq(True).any())

    @property
    def planned(self) -> int:
        """Runs that the study planned."""
        return len(self.plan["cells"]) * int(self.plan["repetitions"])

    @property
    def counted(self) -> int:
        """Runs that are ok and whose energy is valid."""
        totals = self.runs[self.runs["domain"] == TOTAL]
        return int((totals["status"].eq("ok") & totals["valid"].eq(True)).sum())

    @property
    def alpha(self) -> float:
        """The study's level of significance."""
        return float(self.plan["settings"]["statistics"]["alpha"])
