"""Run records become frames in long form: one row per run and domain, one row per epoch and domain."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from framewatt.energy.gauges import telemetry
from framewatt.frames.columns import HEAD, epochs_columns, metrics_of, runs_columns
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
from framewatt.study.records import Energy, RunRecord, Window, primary_window
from framewatt.tasks.quality import values_of
from framewatt.witness.window import witness_columns

_DRIFT_SINCE = 3
"""First schema version whose frames include idle drift; packages of older records must rebuild as they were made."""


def runs_frame(
    records: Collection[RunRecord],
    idle_drift_w: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    scope: Scope = OF_A_STUDY,
) -> pd.DataFrame:
    """The runs frame, in measured order.

    Args:
        records: run records, schema-checked; gone over several times, and none is kept.
        idle_drift_w: by node and domain, see idle_power.drifts_w: known only after the last run, so no record has it.
        scope: what its totals cover.

    Raises:
        TypeError: they can be gone over once only.
    """
    _lasting(records)
    steps, told = steps_between(records), any_session_recorded(records)
    scope = _with_used(scope, records)

    def rows() -> Iterator[dict[str, Any]]:
        for record in records:
            step = steps.get((record["cell_id"], record["repetition"]))
            yield from _placed(_run_rows(with_drift(record, idle_drift_w), step, scope), record, told)

    frame = _frame(rows(), runs_columns(*_factors_and_metrics(records)))
    return frame.sort_values(["position", "domain"], kind="stable", ignore_index=True)


def epochs_frame(
    records: Collection[RunRecord],
    idle_drift_w: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    scope: Scope = OF_A_STUDY,
) -> pd.DataFrame:
    """The epochs frame, in measured order; failed runs have no row. See `runs_frame`."""
    _lasting(records)
    told = any_session_recorded(records)
    scope = _with_used(scope, records)
    positions: list[int] = []

    def rows() -> Iterator[dict[str, Any]]:
        for record in records:
            made = _placed(_epoch_rows(with_drift(record, idle_drift_w), scope), record, told)
            positions.extend([record["position"]] * len(made))
            yield from made

    frame = _frame(rows(), epochs_columns(*_factors_and_metrics(records)))
    return frame.iloc[np.argsort(positions, kind="stable")].reset_index(drop=True)


def _lasting(records: object) -> None:
    """Refuse what can be gone over once only: the second time there would be no records, and so no rows."""
    if not isinstance(records, Collection):
        raise TypeError(f"records: found {type(records).__name__}; allowed: a collection, gone over several times")


def _with_used(scope: Scope, records: Iterable[RunRecord]) -> Scope:
    """The scope with the GPUs that the study used, where that matters; studies of before went by each run alone."""
    matters = scope.unused == LEAVE_OUT and scope.unmetered is not None
    return replace(scope, gpus=used_gpus(records)) if matters else scope


def with_drift(record: RunRecord, drifts_w: Mapping[str, Mapping[str, float]]) -> RunRecord:
    """A record whose net energies get the uncertainty of its node's idle power's drift over the whole study."""
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


def _frame(rows: Iterable[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """Rows as a frame, built by column, which is several times as fast as by row."""
    made: dict[str, list[Any]] = {name: [] for name in columns}
    for row in rows:
        for name, values in made.items():
            values.append(row.get(name))
    frame = pd.DataFrame(made, columns=columns)
    # Empty columns need a type, too, since frames are joined by them.
    return frame if len(frame) else frame.astype(dict.fromkeys(HEAD, "str"))


def _factors_and_metrics(records: Iterable[RunRecord]) -> tuple[list[str], list[str]]:
    """The factors of all records, in the order in which the first names them, and the metrics of their tasks."""
    factors: dict[str, None] = {}
    told: set[str] = set()
    for record in records:
        factors |= dict.fromkeys(record["cell"])
        told |= record["quality"].keys()
    return list(factors), metrics_of(told)


def _head(record: RunRecord) -> dict[str, Any]:
    head = {name: record[name] for name in ("study", "device", "repetition")}
    return {"cell": record["cell_id"], **head, **record["cell"]}


def _placed(rows: list[dict[str, Any]], record: RunRecord, told: bool) -> list[dict[str, Any]]:
    """Rows of a run with its PLACES; the session only if the study has records that tell theirs (`told`)."""
    machine = record["machine"] or {}
    place = {"machine": measured_by(machine, record.get("node")), "session": session_of(machine) if told else None}
    return [place | row for row in rows]


def _run_rows(record: RunRecord, step: str | None, scope: Scope) -> list[dict[str, Any]]:
    """One row per domain; `step` flags that the wall clock was set before the run."""
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


def _epoch_rows(record: RunRecord, scope: Scope) -> list[dict[str, Any]]:
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


def _telemetry(window: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Telemetry of GPUs, for rows of a GPU or of a total."""
    if row["domain"] == TOTAL:
        return telemetry(window)
    return telemetry(window, row["domain"]) if row["domain"].startswith("gpu:") else {}
