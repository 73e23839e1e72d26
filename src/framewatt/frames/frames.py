"""Run records become frames in long form: one row per run and domain, one row per epoch and domain."""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from framewatt.datasets.contract import Arrays
from framewatt.energy.mirrors import DIE
from framewatt.energy.telemetry import TELEMETRY, telemetry
from framewatt.host.machine import machine_of, session_of, sessions_told
from framewatt.runs.clocks import steps_between
from framewatt.tasks import TASKS
from framewatt.tasks.quality import values_of
from framewatt.witness.columns import WITNESSED, witness_columns

TOTAL = "total"
"""Domain that sums the others: all measured ones, or the estimate where nothing was measured."""

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

_HEAD = ["study", "cell"]

_QUALITY = "quality"

_USUAL = TASKS[Arrays.task].names
"""Metrics of a study whose records tell of none."""

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

_INSIDE = ("cpu:core", "cpu:uncore")
"""Prefixes of domains that lie inside a package and are never added to it."""

_WHOLES = ("external:", "cpu:psys")
"""Prefixes of domains that include others, the largest first; they are never added to those."""


_DRIFT_SINCE = 3
"""First schema version whose frames include idle drift; packages of older records must rebuild as they were made."""


def runs_frame(
    records: Iterable[Mapping[str, Any]], idle_drift_w: Mapping[str, float] = MappingProxyType({})
) -> pd.DataFrame:
    """The runs frame, in measured order.

    Args:
        records: run records, schema-checked.
        idle_drift_w: by domain, see idle_power.drift_w: known only after the last run, so no record has it.
    """
    records = [_with_drift(record, idle_drift_w) for record in records]
    steps = steps_between(records)
    runs = [(record, steps.get((record["cell_id"], record["repetition"]))) for record in records]
    told = sessions_told(records)
    rows = [row for record, step in runs for row in _placed(_run_rows(record, step), record, told)]
    frame = _frame(rows, runs_columns(_factors(records), metrics_of(records)))
    return frame.sort_values(["position", "domain"], kind="stable", ignore_index=True)


def epochs_frame(
    records: Iterable[Mapping[str, Any]], idle_drift_w: Mapping[str, float] = MappingProxyType({})
) -> pd.DataFrame:
    """The epochs frame, in measured order; failed runs have no row. See `runs_frame`."""
    records = sorted((_with_drift(record, idle_drift_w) for record in records), key=lambda r: r["position"])
    told = sessions_told(records)
    rows = [row for record in records for row in _placed(_epoch_rows(record), record, told)]
    return _frame(rows, epochs_columns(_factors(records), metrics_of(records)))


def runs_columns(factors: Iterable[str], metrics: Sequence[str] = _USUAL) -> list[str]:
    """Columns of the runs frame of a study with these factors and metrics."""
    return _columns(factors, _with_metrics(_RUNS, metrics))


def epochs_columns(factors: Iterable[str], metrics: Sequence[str] = _USUAL) -> list[str]:
    """Columns of the epochs frame of a study with these factors and metrics."""
    return _columns(factors, _with_metrics(_EPOCHS, metrics))


def _columns(factors: Iterable[str], others: Iterable[str]) -> list[str]:
    """Each name once: packages hold studies with a factor `machine`, from before the frames had that column."""
    return list(dict.fromkeys([*_HEAD, *factors, *others]))


def metrics_of(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The metrics of all tasks that some records are of, task by task; those of classification where none is told."""
    told = {name for record in records for name in record["quality"]}
    found = [name for task in TASKS.values() if told.intersection(task.names) for name in task.names]
    return found or list(_USUAL)


def _with_metrics(columns: Iterable[str], metrics: Sequence[str]) -> list[str]:
    return [name for column in columns for name in (metrics if column == _QUALITY else [column])]


def _with_drift(record: Mapping[str, Any], idle_drift_w: Mapping[str, float]) -> Mapping[str, Any]:
    """A record whose net energies get the uncertainty of idle power's drift over the whole study."""
    if not idle_drift_w or record["schema_version"] < _DRIFT_SINCE:
        return record

    def widened(domain: str, energy: Mapping[str, Any], duration_s: float) -> Mapping[str, Any]:
        known_j = energy["energy_net_uncertainty_j"]
        if known_j is None or domain not in idle_drift_w:
            return energy
        return {**energy, "energy_net_uncertainty_j": math.hypot(known_j, idle_drift_w[domain] * duration_s)}

    windows = {
        name: {**window, "domains": {d: widened(d, e, window["duration_s"]) for d, e in window["domains"].items()}}
        for name, window in record["windows"].items()
    }
    return {**record, "windows": windows}


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """Rows as a frame, built by column, which is several times as fast as by row."""
    frame = pd.DataFrame({name: [row.get(name) for row in rows] for name in columns}, columns=columns)
    # Empty columns need a type, too, since frames are joined by them.
    return frame if rows else frame.astype(dict.fromkeys(_HEAD, "str"))


def _factors(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The factors of all records, in the order in which the first names them."""
    return list(dict.fromkeys(name for record in records for name in record["cell"]))


def _head(record: Mapping[str, Any]) -> dict[str, Any]:
    head = {name: record[name] for name in ("study", "device", "repetition")}
    return {"cell": record["cell_id"], **head, **record["cell"]}


def _placed(rows: list[dict[str, Any]], record: Mapping[str, Any], told: bool) -> list[dict[str, Any]]:
    """Rows of a run with its PLACES; the session only if the study has records that tell theirs (`told`)."""
    machine = record["machine"] or {}
    place = {"machine": machine_of(machine), "session": session_of(machine) if told else None}
    return [place | row for row in rows]


def _run_rows(record: Mapping[str, Any], step: str | None) -> list[dict[str, Any]]:
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
    window = record["windows"].get(record["primary_window"])
    if record["status"] != "ok" or window is None:
        return [head | {"domain": TOTAL}]
    latency, count = record["latency"] or {}, (record["units"] or {}).get("count")
    head |= {
        "window": record["primary_window"],
        "duration_s": window["duration_s"],
        "samples_processed": count,
        "throughput_per_s": record["throughput_per_s"],
        **{f"latency_{name}": latency.get(name) for name in ("p50_s", "p95_s", "p99_s")},
        **values_of(record["quality"]),
        **witness_columns(window),
    }
    rows = []
    for energy in _domains(window["domains"]):
        per_sample = None
        if energy["energy_gross_j"] is not None and count:
            per_sample = energy["energy_gross_j"] / count
        # Where a run is invalid as a whole, so is each domain's energy; the run's reasons name the domains.
        judged = {"valid": record["valid"] and energy["valid"], "reasons": head["reasons"], "flags": head["flags"]}
        rows.append(head | energy | judged | {"energy_per_sample_j": per_sample} | _telemetry(window, energy))
    return rows


def _epoch_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
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
        rows += [head | energy | _telemetry(window, energy) for energy in _domains(window["domains"])]
    return rows


def _telemetry(window: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Telemetry of GPUs, for rows of a GPU or of a total."""
    if row["domain"] == TOTAL:
        return telemetry(window)
    return telemetry(window, row["domain"]) if row["domain"].startswith("gpu:") else {}


def _domains(domains: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns of each domain, and of their total."""
    each: list[dict[str, Any]] = [{"domain": name, "parts": name, **energy} for name, energy in sorted(domains.items())]
    return [_total(each), *each]


def _parts(domains: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The domains that add up to the total without overlap; a measured total holds no estimate (design, 5.4)."""
    measured = [d for d in domains if not d["estimated"] and not d["domain"].startswith(_INSIDE)]
    apart = _without_dies([d for d in measured if not d["domain"].startswith(_WHOLES)])
    if any(d["domain"].startswith("cpu:") for d in apart):
        return apart
    wall, psys = ([d for d in measured if d["domain"].startswith(whole)] for whole in _WHOLES)
    # A graphics card has its own power supply lines, which psys does not measure.
    return wall[:1] or psys[:1] + apart or domains


def _without_dies(domains: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The domains without dies of a package that is metered as a whole; without the whole if only its dies count."""
    dropped: set[str] = set()
    for whole in domains:
        dies = [d for d in domains if d["domain"].startswith(f"{whole['domain']}{DIE}")]
        alone = dies and all(die["valid"] for die in dies) and not whole["valid"]
        dropped |= {d["domain"] for d in ([whole] if alone else dies)}
    return [d for d in domains if d["domain"] not in dropped]


def _total(domains: list[dict[str, Any]]) -> dict[str, Any]:
    """Sum of the domains that do not overlap."""
    parts = _parts(domains)
    if len(parts) == 1:
        return parts[0] | {"domain": TOTAL}
    total: dict[str, Any] = {
        "domain": TOTAL,
        "parts": " + ".join(d["domain"] for d in parts),
        "instrument": " + ".join(dict.fromkeys(d["instrument"] for d in parts)),
        "estimated": any(d["estimated"] for d in parts),
        "valid": bool(parts) and all(d["valid"] for d in parts),
        "samples": min((d["samples"] for d in parts), default=None),
    }
    for name in ("energy_gross_j", "energy_idle_j", "energy_net_j", "mean_power_w"):
        values = [d[name] for d in parts]
        total[name] = sum(values) if values and all(v is not None for v in values) else None
    for name in ("energy_uncertainty_j", "energy_net_uncertainty_j"):
        values = [d[name] for d in parts]
        known = values and all(v is not None for v in values)
        total[name] = sum(v**2 for v in values) ** 0.5 if known else None
    gaps = [d["largest_gap_s"] for d in parts if d["largest_gap_s"] is not None]
    total["largest_gap_s"] = max(gaps, default=None)
    return total
