"""Run records as the runner writes them, for tests."""

from collections.abc import Mapping
from typing import Any

from framewatt.runs.records import SCHEMA_VERSION
from framewatt.study.records import QUALITY_SINCE
from framewatt.tasks.quality import described, values_of

QUALITY = {
    **dict.fromkeys(("accuracy", "precision_macro", "recall_macro", "f1_macro"), 0.9),
    **{"top1_error": 0.1, "top5_error": 0.05},
}


def energy(gross_j: float | None, *, idle_j: float = 20.0, estimated: bool = False, **change: Any) -> dict[str, Any]:
    """Energy of a domain in a window of 10 s; None is an invalid one."""
    known = gross_j is not None
    return {
        "instrument": "estimate" if estimated else "rapl",
        "source": "energy_j",
        "estimated": estimated,
        "energy_gross_j": gross_j,
        "energy_idle_j": idle_j,
        "energy_net_j": gross_j - idle_j if known else None,
        "energy_uncertainty_j": 3.0 if known else None,
        "energy_net_uncertainty_j": 4.0 if known else None,
        "mean_power_w": gross_j / 10 if known else None,
        "samples": 1000,
        "failed_reads": 0,
        "largest_gap_s": 0.01,
        "valid": known,
        "reasons": [] if known else ["counter went back: it was reset"],
        "flags": [],
        "cross_checks": [],
        **change,
    }


def window(domains: dict[str, Any], start_ns: int = 0) -> dict[str, Any]:
    """A window of 10 s."""
    end_ns = start_ns + 10_000_000_000
    return {
        "start_monotonic_ns": start_ns,
        "end_monotonic_ns": end_ns,
        "start_utc": "2026-01-01T00:00:00.000000+00:00",
        "end_utc": "2026-01-01T00:00:10.000000+00:00",
        "duration_s": 10.0,
        "spans_monotonic_ns": [[start_ns, end_ns]],
        "domains": domains,
        "gauges": {},
    }


def run_record(domains: dict[str, Any] | None = None, **change: Any) -> dict[str, Any]:
    """A run of 100 samples in 10 s, with some keys replaced."""
    domains = {"cpu:package-0": energy(100.0)} if domains is None else domains
    return {
        "schema_version": SCHEMA_VERSION,
        "framewatt_version": "0.1.0",
        "purpose": "measure",
        "study": "trial",
        "cell_id": "infer-resnet50-digits-torch-b1",
        "cell": {
            "phase": "infer",
            "workload": "resnet50",
            "runtime": "torch",
            "provider": "native",
            "dataset": "digits",
            "batch_size": 1,
            "precision": "fp32",
        },
        "repetition": 1,
        "block": 1,
        "position": 1,
        "attempt": 1,
        "job_sha256": None,
        "status": "ok",
        "valid": all(domain["valid"] for domain in domains.values()),
        "reasons": [],
        "flags": [],
        "device": "cpu",
        "threads": 2,
        "meters": ["rapl"],
        "cool_down_s": 0,
        "returned_to_idle": None,
        "clock": {"monotonic_ns": 0, "utc": "2026-01-01T00:00:00+00:00"},
        "windows": {"process": window(domains), "steady": window(domains)},
        "primary_window": "steady",
        "units": {"name": "sample", "count": 100},
        "throughput_per_s": 10.0,
        "latency": {"batches": 100, "mean_s": 0.1, "p50_s": 0.1, "p95_s": 0.12, "p99_s": 0.13, "max_s": 0.2},
        "quality": described(QUALITY, None),
        "epochs": [],
        "workload": {"parameters": 25_000_000},
        "identity": {"code": {"commit": None}},
        "machine": {"cpu_model": "a processor", "id": "a machine", "session": "a boot"},
        "preflight": [],
        "sampler": {"core_share": 0.004},
        **change,
    }


def without_errors(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as one from before schema 5, whose classification had no errors of the best class and the best five."""

    def of(quality: Mapping[str, Any]) -> dict[str, Any]:
        return {name: told for name, told in quality.items() if not name.endswith("_error") or name[:3] != "top"}

    epochs = [{**epoch, "quality": of(epoch["quality"])} for epoch in record["epochs"]]
    return {**record, "quality": of(record["quality"]), "epochs": epochs}


def as_then(record: Mapping[str, Any], schema_version: int) -> dict[str, Any]:
    """A record as one of an earlier schema version said it: `samples_processed` and `metrics` by name alone."""
    kept = {key: value for key, value in record.items() if key not in ("units", "quality")}
    record = without_errors(record)
    return {
        **kept,
        "schema_version": schema_version,
        "samples_processed": (record["units"] or {}).get("count"),
        "metrics": values_of(record["quality"]),
        "epochs": [
            {
                **{key: epoch[key] for key in ("epoch", "loss_mean")},
                "samples_processed": epoch["units"],
                "metrics": values_of(epoch["quality"]),
            }
            for epoch in record["epochs"]
        ],
    }


def as_told(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record that was read, as its own schema version said it."""
    version = record["schema_version"]
    return dict(record) if version >= QUALITY_SINCE else as_then(record, version)
