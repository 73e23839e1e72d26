"""Columns of the runs and epochs frames, in their order."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from framewatt.energy.gauges import TELEMETRY
from framewatt.tasks import DEFAULT, TASKS
from framewatt.witness.window import WITNESSED

_ENERGY = [
    "energy_gross_j",
    "energy_idle_j",
    "energy_net_j",
    "energy_uncertainty_j",
    "energy_net_uncertainty_j",
    "mean_power_w",
    "samples",
    "largest_gap_s",
]

HEAD = ["study", "cell"]
"""First columns of both frames."""

_QUALITY = "quality"

_OF_LOAD = ("requests", "busy_share")
"""Columns of studies with the factor `load`: requests of an open loop, and the share of its window in which a batch was
being answered."""

_USUAL = tuple(metric.name for metric in DEFAULT.metrics if metric.since == 1)
"""Metrics of a study whose records tell of none: such packages keep the frames that they have."""

PLACES = ("machine", "session")
"""Columns that say where a run took place: on which hardware, and in which boot of it, see host.machine.

Missing for imported runs. A study of which all records are older than schema 4 gives the machine alone, so that its
statistics stay as they were. A study of files that has a factor of that name keeps the factor in its place.
"""

_RUNS = [
    "device",
    *PLACES,
    "repetition",
    "block",
    "position",
    "status",
    "valid",
    "reasons",
    "flags",
    "domain",
    "parts",
    "instrument",
    "estimated",
    "window",
    "started_utc",
    "duration_s",
    *_ENERGY,
    "energy_per_sample_j",
    "samples_processed",
    "throughput_per_s",
    "latency_p50_s",
    "latency_p95_s",
    "latency_p99_s",
    *_OF_LOAD,
    _QUALITY,
    *TELEMETRY,
    *WITNESSED,
]
"""Columns of the runs frame after study, cell and the factors; in the place of _QUALITY stand the metrics of the tasks.

`window` is the run's primary window and `duration_s` its length; `domain` is `total` or a meter's domain, `parts`
what a total sums; `status` is ok or failed, `valid` says whether the energy counts, `reasons` and `flags` are
joined with "; ". A sample is a unit of work of its task, such as a token.
TELEMETRY is that of the row's GPU, or of all GPUs together in a total; WITNESSED is of the primary
window, whatever the domain. A failed run has one row, domain total, with every number missing.
"""

_EPOCHS = [
    "device",
    *PLACES,
    "repetition",
    "epoch",
    "domain",
    "estimated",
    "duration_s",
    *_ENERGY,
    "samples_processed",
    "throughput_per_s",
    "loss_mean",
    _QUALITY,
    *TELEMETRY,
    *WITNESSED,
    "flops_per_sample",
]
"""Columns of the epochs frame after study, cell and the factors: one row per epoch of a training run and domain.

`flops_per_sample` is the framework's own count of a forward pass, missing where it has none.
"""


def runs_columns(factors: Iterable[str], metrics: Sequence[str] = _USUAL) -> list[str]:
    """Columns of the runs frame of a study with these factors and metrics."""
    factors = list(factors)
    names = _RUNS if "load" in factors else [name for name in _RUNS if name not in _OF_LOAD]
    return _columns(factors, _with_metrics(names, metrics))


def epochs_columns(factors: Iterable[str], metrics: Sequence[str] = _USUAL) -> list[str]:
    """Columns of the epochs frame of a study with these factors and metrics."""
    return _columns(factors, _with_metrics(_EPOCHS, metrics))


def _columns(factors: Iterable[str], others: Iterable[str]) -> list[str]:
    """Each name once: packages hold studies with a factor `machine`, from before the frames had that column."""
    return list(dict.fromkeys([*HEAD, *factors, *others]))


def metrics_of(told: AbstractSet[str]) -> list[str]:
    """The metrics of all tasks that some records are of, task by task; those of the default task where there are none.

    Metrics that only later records have are left out where none of these has them.

    Args:
        told: names of metrics in these records.
    """
    found = [metric for task in TASKS.values() if told & set(task.names) for metric in task.metrics]
    return [metric.name for metric in found if metric.since == 1 or metric.name in told] or list(_USUAL)


def _with_metrics(columns: Iterable[str], metrics: Sequence[str]) -> list[str]:
    return [name for column in columns for name in (metrics if column == _QUALITY else [column])]
