"""The factors of a study: which columns of a frame they are, and how their levels read.

A study has the factors that it declares; nothing else in the project holds a list of them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from framewatt.study.options import OPTIONS

if TYPE_CHECKING:
    # Study files are read where pandas is not, and sooner without it.
    import pandas as pd

NATIVE = "native"
"""Provider of a runtime that brings its own kernels."""

COMPARED = ("runtime", "provider")
"""Factors in which the cells of a measured study are compared, unless the study names others."""

FIRST_LEVELS = {"phase": ["train", "infer"]}
"""Levels that come before others of their factor, wherever levels are in order."""

RESERVED = frozenset(
    """accuracy bimodal bimodality_coefficient block cell counts cpu_stall_share cv_after_blocks_percent
    cv_percent device disk_read_b disturbed_by domain drift_p drift_rho duration_s energy_cv_after_blocks_percent
    energy_cv_percent energy_estimated energy_flags energy_gross_j energy_idle_j energy_net_j
    energy_net_uncertainty_j energy_per_sample_j energy_uncertainty_j epoch estimated f1_macro flags
    flops_per_sample gpu_memory_used_b gpu_memory_utilization_percent gpu_temperature_c gpu_utilization_percent
    high instrument involuntary_switches io_stall_share label largest_gap_s latency_p50_s latency_p95_s
    latency_p99_s left_out left_out_reasons loss_mean low major_faults max mean mean_high mean_low mean_power_w
    median memory_stall_share min minor_faults n others_cpu_s others_share outlier_repetitions outliers own_cpu_s
    parts position precision_macro quantity reasons recall_macro repetition run_cpu_s run_read_b samples
    samples_processed sd shapiro_p started_utc status steal_share study swapped_b target telemetry_unknown
    throttled throughput_per_s time_per_sample_s valid why_not window""".split()  # noqa: SIM905  # sixty lines of a set are no better to read
)
"""Names of other columns, which no factor may have."""

_KNOWN = ("phase", "workload", "runtime", "provider", "dataset", "batch_size", "precision")
_READING_ORDER = ("phase", "workload", "dataset", "batch_size", "precision")
_TITLES = {
    "dataset": "Data set",
    "batch_size": "Batch size",
    "precision": "Number format",
    "compile": "Compilation",
    "layout": "Memory layout",
}
_AFTER_FACTORS = ("device", "quantity", "target")
"""What follows the factors in the frames of runs and epochs, in that of cells, and in that of targets."""


class Cell(Protocol):
    """One configuration of a study: a name, and a level of every factor."""

    @property
    def id(self) -> str:
        """Its name, unique in its study and fit for a file name."""

    def to_dict(self) -> dict[str, Any]:
        """The factor levels, by name."""


@dataclass(frozen=True)
class PlainCell:
    """A cell of whatever factors.

    Attributes:
        id: its name.
        levels: factor and level, in the order of the study's factors.
    """

    id: str
    levels: tuple[tuple[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """The factor levels, by name."""
        return dict(self.levels)


def factors_of(frame: "pd.DataFrame") -> list[str]:
    """The factors of a frame of runs, epochs or cells: its columns between `cell` and `device` or `quantity`."""
    columns = [str(column) for column in frame.columns]
    start = columns.index("cell") + 1
    return columns[start : min(columns.index(name, start) for name in _AFTER_FACTORS if name in columns[start:])]


def in_order(factors: Iterable[str]) -> list[str]:
    """Factors with those first that studies have in common, the others as they come."""
    found = list(dict.fromkeys(factors))
    return [name for name in _KNOWN if name in found] + [name for name in found if name not in _KNOWN]


def reading_order(factors: Iterable[str]) -> list[str]:
    """Factors as a reader looks cells up: what was done, on what, how; then what is compared and the rest."""
    found = list(factors)
    return [name for name in _READING_ORDER if name in found] + [name for name in found if name not in _READING_ORDER]


def shared(factors: Iterable[str], compared: Iterable[str]) -> list[str]:
    """Factors in which cells that are compared agree: all but the compared ones, in reading order."""
    compared = set(compared)
    return [name for name in reading_order(factors) if name not in compared]


def title(factor: str) -> str:
    """A factor as the heading of a column."""
    return _TITLES.get(factor, factor.replace("_", " ").capitalize())


def label(levels: Mapping[str, Any], compared: Iterable[str]) -> str:
    """What tells a cell from those that it is compared with: `torch`, `torch2onnx/openvino`, `torch/threads 2`.

    Options at their default go without saying, unless nothing else would be said.

    Args:
        levels: a level of every factor, by name.
        compared: the compared factors.
    """
    given = {name: levels[name] for name in compared if name in levels and levels[name] != NATIVE}
    telling = {name: level for name, level in given.items() if name not in OPTIONS or level != OPTIONS[name].default}
    return "/".join(_text(name, level) for name, level in (telling or given).items())


def named(factors: Iterable[str]) -> str:
    """Factors in the title of a figure, which has room for two: `runtime and provider`, or `configuration`."""
    words = [factor.replace("_", " ") for factor in factors]
    return " and ".join(words) if len(words) < 3 else "configuration"


def phrase(levels: Mapping[str, Any], factors: Iterable[str]) -> str:
    """Levels in words: `train resnet50 digits batch 16 fp32`.

    Args:
        levels: a level of every factor, by name.
        factors: those to name, in that order.
    """
    return " ".join(f"batch {levels[name]}" if name == "batch_size" else _text(name, levels[name]) for name in factors)


def remarks(levels: Mapping[str, Any]) -> list[str]:
    """Levels in words; not phase and batch size, which titles have in front, nor fp32, which goes without saying."""
    silent = {("precision", OPTIONS["precision"].default)}
    return [
        _text(name, level)
        for name, level in levels.items()
        if name not in ("phase", "batch_size") and (name, level) not in silent
    ]


def _text(factor: str, level: Any) -> str:
    """A level as readers see it; that of an option has a word before it where it says nothing by itself."""
    return OPTIONS[factor].text(level) if factor in OPTIONS else str(level)


def rank(factor: str, levels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Keys by which the levels of a factor sort: training before inference, else numbers, also inside of words."""
    first = FIRST_LEVELS.get(factor, [])
    place = {level: number for number, level in enumerate(first)}
    ordered = sorted(levels.unique(), key=lambda level: (place.get(level, len(first)), natural(level)))
    return levels.map({level: number for number, level in enumerate(ordered)})


def natural(level: Any) -> list[tuple[int, float, str]]:
    """Key by which numbers sort as such, also inside of words: ResNet-50 comes before ResNet-101."""
    if not isinstance(level, str):
        return [(0, float(level), "")]
    return [(0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in re.split(r"(\d+)", level) if part]


def sorted_by(frame: "pd.DataFrame", factors: Sequence[str]) -> "pd.DataFrame":
    """Rows in order of the levels of some columns, as a reader looks them up."""
    if not factors:
        return frame.reset_index(drop=True)
    return frame.sort_values(
        list(factors), kind="stable", ignore_index=True, key=lambda column: rank(str(column.name), column)
    )
