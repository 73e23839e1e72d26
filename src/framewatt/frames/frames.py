"""Run records become frames in long form: one row per run and domain, one row per epoch and domain."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from framewatt.energy.gauges import TELEMETRY, telemetry
from framewatt.frames.totals import (
    LEAVE_OUT,
    OF_A_STUDY,
    TOTAL,
    Scope,
    computes_on_gpu,
    domains_of,
    machine_in,
    used_gpus,
)
from framewatt.host.machine import any_session_recorded, measured_by, session_of
from framewatt.runs.clocks import steps_between
from framewatt.study.records import Energy, Row, RunRecord, Window, primary_window
from framewatt.tasks import DEFAULT, TASKS
from framewatt.tasks.quality import values_of
from framewatt.witness.window import WITNESSED, witness_columns

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

_DEFAULT_METRICS = tuple(metric.name for metric in DEFAULT.metrics if metric.since == 1)
"""Metrics of a study with records without metrics: such packages keep the frames that they have."""

PLACES = ("machine", "session")
"""Columns of the place of a run: its hardware, and the boot of that hardware, see host.machine.

Missing for imported runs. If all records of a study are older than schema 4, it has the machine alone, so that its
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
"""Columns of the runs frame after study, cell and the factors; the metrics of the tasks replace _QUALITY.

`window` is the run's primary window and `duration_s` its length; `domain` is `total` or a meter's domain, `parts`
what a total sums; `status` is ok or failed, `valid` is whether the energy counts, `reasons` and `flags` are
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


def runs_columns(factors: Iterable[str], metrics: Sequence[str] = _DEFAULT_METRICS) -> list[str]:
    """Return the columns of the runs frame of a study with these factors and metrics."""
    factors = list(factors)
    names = _RUNS if "load" in factors else [name for name in _RUNS if name not in _OF_LOAD]
    return _columns(factors, _with_metrics(names, metrics))


def epochs_columns(factors: Iterable[str], metrics: Sequence[str] = _DEFAULT_METRICS) -> list[str]:
    """Return the columns of the epochs frame of a study with these factors and metrics."""
    return _columns(factors, _with_metrics(_EPOCHS, metrics))


def _columns(factors: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return each name once: packages hold studies with a factor `machine`, from before the frames had that column."""
    return list(dict.fromkeys([*HEAD, *factors, *others]))


def metrics_of(recorded: AbstractSet[str]) -> list[str]:
    """Return the metrics of all tasks of some records, task by task; those of the default task where there are none.

    Metrics that only later records have are left out where none of these has them.

    Args:
        recorded: names of metrics in these records.
    """
    metrics = [metric for task in TASKS.values() if recorded & set(task.names) for metric in task.metrics]
    return [metric.name for metric in metrics if metric.since == 1 or metric.name in recorded] or list(_DEFAULT_METRICS)


def _with_metrics(columns: Iterable[str], metrics: Sequence[str]) -> list[str]:
    return [name for column in columns for name in (metrics if column == _QUALITY else [column])]


_DRIFT_SINCE = 3
"""First schema version with idle drift in frames; packages of older records must rebuild as they were made."""


def runs_frame(
    records: Collection[RunRecord],
    idle_drift_w: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    scope: Scope = OF_A_STUDY,
) -> pd.DataFrame:
    """Return the runs frame, in measured order.

    Args:
        records: run records, schema-checked; gone over several times, and none is kept.
        idle_drift_w: by node and domain, see idle_power.drifts_w: known only after the last run, so no record has it.
        scope: what its totals cover.

    Raises:
        TypeError: they can be gone over once only.
    """
    _check_is_collection(records)
    steps, with_session = steps_between(records), any_session_recorded(records)
    scope = _with_used(scope, records)

    def rows() -> Iterator[Row]:
        for record in records:
            step = steps.get((record["cell_id"], record["repetition"]))
            yield from _placed(_run_rows(with_drift(record, idle_drift_w), step, scope), record, with_session)

    frame = _frame(rows(), runs_columns(*_factors_and_metrics(records)))
    return frame.sort_values(["position", "domain"], kind="stable", ignore_index=True)


def epochs_frame(
    records: Collection[RunRecord],
    idle_drift_w: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    scope: Scope = OF_A_STUDY,
) -> pd.DataFrame:
    """Return the epochs frame, in measured order; failed runs have no row. See `runs_frame`."""
    _check_is_collection(records)
    with_session = any_session_recorded(records)
    scope = _with_used(scope, records)
    positions: list[int] = []

    def rows() -> Iterator[Row]:
        for record in records:
            of_record = _placed(_epoch_rows(with_drift(record, idle_drift_w), scope), record, with_session)
            positions.extend([record["position"]] * len(of_record))
            yield from of_record

    frame = _frame(rows(), epochs_columns(*_factors_and_metrics(records)))
    return frame.iloc[np.argsort(positions, kind="stable")].reset_index(drop=True)


def _check_is_collection(records: object) -> None:
    """Refuse an iterator: the second pass would have no records, and the frame no rows."""
    if not isinstance(records, Collection):
        raise TypeError(f"records: a {type(records).__name__} can be read once only. Pass a collection.")


def _with_used(scope: Scope, records: Iterable[RunRecord]) -> Scope:
    """Return the scope with the GPUs that the study used, where that matters; older studies went by each run alone."""
    matters = scope.unused == LEAVE_OUT and scope.unmetered is not None
    return replace(scope, gpus=used_gpus(records)) if matters else scope


def with_drift(record: RunRecord, drifts_w: Mapping[str, Mapping[str, float]]) -> RunRecord:
    """Return a record with the drift of its node's idle power over the study in the uncertainty of its net energies."""
    idle_drift_w = drifts_w.get(record.get("node", ""), {})
    if not idle_drift_w or record["schema_version"] < _DRIFT_SINCE:
        return record

    def widened(domain: str, energy: Energy, duration_s: float) -> Energy:
        known_j = energy["energy_net_uncertainty_j"]
        if known_j is None or domain not in idle_drift_w:
            return energy
        return {**energy, "energy_net_uncertainty_j": math.hypot(known_j, idle_drift_w[domain] * duration_s)}

    windows: dict[str, Window] = {
        name: {**window, "domains": {d: widened(d, e, window["duration_s"]) for d, e in window["domains"].items()}}
        for name, window in record["windows"].items()
    }
    return {**record, "windows": windows}


def _frame(rows: Iterable[Row], columns: list[str]) -> pd.DataFrame:
    """Return rows as a frame, built by column, which is faster than by row."""
    values_by_column: dict[str, list[Any]] = {name: [] for name in columns}
    for row in rows:
        for name, values in values_by_column.items():
            values.append(row.get(name))
    frame = pd.DataFrame(values_by_column, columns=columns)
    # Empty columns need a type, too, since frames are joined by them.
    return frame if len(frame) else frame.astype(dict.fromkeys(HEAD, "str"))


def _factors_and_metrics(records: Iterable[RunRecord]) -> tuple[list[str], list[str]]:
    """Return the factors of all records, in the order in which the first names them, and the metrics of their tasks."""
    factors: dict[str, None] = {}
    metrics: set[str] = set()
    for record in records:
        factors |= dict.fromkeys(record["cell"])
        metrics |= record["quality"].keys()
    return list(factors), metrics_of(metrics)


def _head(record: RunRecord) -> Row:
    head = {name: record[name] for name in ("study", "device", "repetition")}
    return {"cell": record["cell_id"], **head, **record["cell"]}


def _placed(rows: list[Row], record: RunRecord, with_session: bool) -> list[Row]:
    """Return rows of a run with its PLACES; the session only if records of the study have theirs (`with_session`)."""
    machine = record["machine"] or {}
    place = {
        "machine": measured_by(machine, record.get("node")),
        "session": session_of(machine) if with_session else None,
    }
    return [place | row for row in rows]


def _run_rows(record: RunRecord, step: str | None, scope: Scope) -> list[Row]:
    """Return one row per domain; `step` flags that the wall clock was set before the run."""
    head = _head(record) | {
        "block": record["block"],
        "position": record["position"],
        "status": record["status"],
        "valid": record["valid"],
        "reasons": "; ".join(record["reasons"]),
        "flags": "; ".join([*record["flags"], *([step] if step else [])]),
        "started_utc": record["clock"]["utc"],
    }
    window = primary_window(record)
    if record["status"] != "ok" or window is None:
        return [head | {"domain": TOTAL}]
    latency: Mapping[str, Any] = record["latency"] or {}
    count = record["units"]["count"] if record["units"] else None
    head |= {
        "window": record["primary_window"],
        "duration_s": window["duration_s"],
        "samples_processed": count,
        "throughput_per_s": record["throughput_per_s"],
        **{f"latency_{name}": latency.get(name) for name in ("p50_s", "p95_s", "p99_s")},
        **{name: latency.get("open_loop", {}).get(name) for name in ("requests", "busy_share")},
        **values_of(record["quality"]),
        **witness_columns(window),
    }
    rows = []
    on_gpu = computes_on_gpu(record)
    for energy in domains_of(window["domains"], scope, machine_in(record), on_gpu=on_gpu):
        per_sample = None
        if energy["energy_gross_j"] is not None and count:
            per_sample = energy["energy_gross_j"] / count
        # Where a run is invalid as a whole, so is each domain's energy; the run's reasons name the domains.
        reasons = "; ".join(filter(None, [head["reasons"], energy.get("uncovered")]))
        judged = {"valid": record["valid"] and energy["valid"], "reasons": reasons, "flags": head["flags"]}
        rows.append(head | energy | judged | {"energy_per_sample_j": per_sample} | _telemetry(window, energy))
    return rows


def _epoch_rows(record: RunRecord, scope: Scope) -> list[Row]:
    if record["status"] != "ok":
        return []
    rows = []
    for epoch in record["epochs"]:
        window = record["windows"][f"epoch-{epoch['epoch']}"]
        head = _head(record) | {
            "epoch": epoch["epoch"],
            "duration_s": window["duration_s"],
            "samples_processed": epoch["units"],
            "throughput_per_s": epoch["units"] and epoch["units"] / window["duration_s"],
            "loss_mean": epoch["loss_mean"],
            **values_of(epoch["quality"]),
            **witness_columns(window),
            "flops_per_sample": (record["workload"] or {}).get("flops"),
        }
        rows += [
            head | energy | _telemetry(window, energy)
            for energy in domains_of(window["domains"], scope, machine_in(record), on_gpu=computes_on_gpu(record))
        ]
    return rows


def _telemetry(window: Mapping[str, Any], row: Mapping[str, Any]) -> Row:
    """Return telemetry of GPUs, for rows of a GPU or of a total."""
    if row["domain"] == TOTAL:
        return telemetry(window)
    return telemetry(window, row["domain"]) if row["domain"].startswith("gpu:") else {}
