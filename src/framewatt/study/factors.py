"""The factors of a study: their names, their order, and the cells that they make.

A study has the factors that it declares; nothing else in the project holds a list of them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

NATIVE = "native"
"""Provider of a runtime that brings its own kernels."""

COMPARED = ("runtime", "provider")
"""Factors in which the cells of a measured study are compared, unless the study names others."""

FIRST_LEVELS = {"phase": ["train", "infer"]}
"""Levels that sort before all other levels of their factor."""

RESERVED = frozenset(
    """bimodal bimodality_coefficient block busy_share cell counts cpu_stall_share cv_after_blocks_percent cv_percent
    device disk_read_b disturbed_by domain drift_p drift_rho duration_s energy_cv_after_blocks_percent
    energy_cv_percent energy_estimated energy_flags energy_gross_j energy_idle_j energy_net_j
    energy_net_uncertainty_j energy_per_sample_j energy_uncertainty_j epoch estimated flags flops_per_sample
    gpu_memory_used_b gpu_memory_utilization_percent gpu_temperature_c gpu_utilization_percent high instrument
    involuntary_switches io_stall_share label largest_gap_s latency_p50_s latency_p95_s latency_p99_s left_out
    left_out_reasons loss_mean low major_faults max mean mean_high mean_low mean_power_w median
    memory_stall_share metric min minor_faults n others_cpu_s others_share outlier_repetitions outliers
    own_cpu_s parts position quality quantity reasons repetition requests run_cpu_s run_read_b samples samples_processed
    sd shapiro_p started_utc status steal_share study swapped_b target telemetry_unknown throttled
    throughput_per_s time_per_sample_s valid why_not window""".split()  # noqa: SIM905  # sixty lines of a set are no better to read
)
"""Names that no factor may have, since other columns have them; nor may it have that of a metric (framewatt.tasks)."""

_KNOWN = ("phase", "workload", "runtime", "provider", "dataset", "batch_size", "precision")
_READING_ORDER = ("phase", "workload", "dataset", "batch_size", "precision")


GIVEN = ("workload", "dataset", "load", "machine")
"""Factors that a deployment does not choose: the task, the load that arrives, and the machine."""


def given_in(factors: Iterable[str]) -> list[str]:
    """Those of GIVEN that a study has."""
    present = set(factors)
    return [name for name in GIVEN if name in present]


class AnyCell(Protocol):
    """One configuration of a study: a name, and a level of every factor."""

    @property
    def id(self) -> str:
        """Its name, unique in its study and fit for a file name."""

    def to_dict(self) -> dict[str, Any]:
        """Return the factor levels, by name."""


@dataclass(frozen=True)
class PlainCell:
    """A cell with any set of factors.

    Attributes:
        id: its name.
        levels: factor and level, in the order of the study's factors.
    """

    id: str
    levels: tuple[tuple[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the factor levels, by name."""
        return dict(self.levels)


def in_order(factors: Iterable[str]) -> list[str]:
    """Factors sorted: those that every study has first, the others in the order given."""
    names = list(dict.fromkeys(factors))
    return [name for name in _KNOWN if name in names] + [name for name in names if name not in _KNOWN]


def reading_order(factors: Iterable[str]) -> list[str]:
    """Factors in the order of tables: phase, workload, data set, batch size, precision, then the others as given."""
    names = list(factors)
    return [name for name in _READING_ORDER if name in names] + [name for name in names if name not in _READING_ORDER]


def shared(factors: Iterable[str], compared: Iterable[str]) -> list[str]:
    """Factors that are equal within a comparison: all but the compared ones, in reading order."""
    compared = set(compared)
    return [name for name in reading_order(factors) if name not in compared]


def natural(level: Any) -> list[tuple[int, float, str]]:
    """Sort key for natural order: numbers sort as numbers, also inside words (ResNet-50 before ResNet-101)."""
    if not isinstance(level, str):
        return [(0, float(level), "")]
    return [(0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in re.split(r"(\d+)", level) if part]


CLOSED = "closed"
"""Load of a loop in which each batch follows the one before."""

PATTERN = "^(closed|[1-9][0-9]{0,5}/(s|min))$"
"""Levels of the option `load`."""

MOST_TOGETHER = 64
"""Largest batch under an open loop: batches of every size up to it are held ready."""

_RATE = re.compile(r"([1-9][0-9]{0,5})/(s|min)")
_SECONDS = {"s": 1, "min": 60}


def rate_of(load: object) -> float | None:
    """Requests a second of a level such as `20/s` or `30/min`; None for anything else.

    A study of files may have a factor of that name with levels of its own.
    """
    match = _RATE.fullmatch(load) if isinstance(load, str) else None
    return int(match[1]) / _SECONDS[match[2]] if match else None
