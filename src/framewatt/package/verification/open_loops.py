"""What the record of an open loop says of its requests, against what the study asked for."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.package.verification.compare import differences
from framewatt.runs.open_loop import length_s, requests_of
from framewatt.study.cell import Cell
from framewatt.study.load import CLOSED, rate_of

_ROUNDED_S = 1e-3
_QUANTILES = ("p50_s", "p95_s", "p99_s", "max_s")


def is_open(record: Mapping[str, Any]) -> bool:
    """Whether requests arrived at a rate in a run, by its record."""
    return "open_loop" in (record["latency"] or {})


def problems(cell: Cell, record: Mapping[str, Any], minimum_s: float, test_samples: int) -> Iterator[str]:
    """Where rate, requests, batches, latencies and the window of an inference do not fit together.

    Args:
        cell: of the run.
        record: with `latency`.
        minimum_s: of the study's window.
        test_samples: of the data set.
    """
    load = str(cell.to_dict().get("load", CLOSED))
    rate_per_s = rate_of(load)
    latency = record["latency"]
    loop = latency.get("open_loop")
    if (rate_per_s is None) != (loop is None):
        yield f"latency.open_loop: the record has {'none' if loop is None else 'one'}, of a load {load}"
        return
    if rate_per_s is None or loop is None:
        return
    requests = requests_of(rate_per_s, minimum_s)
    told = {"rate_per_s": loop["rate_per_s"], "requests": loop["requests"]}
    yield from differences(told, {"rate_per_s": rate_per_s, "requests": requests}, why="the study file gives")
    largest = min(cell.batch_size, test_samples)
    if not 1 <= loop["largest_batch"] <= largest or not requests / largest <= latency["batches"] <= requests:
        batches = f"{latency['batches']} batches of up to {loop['largest_batch']}"
        yield f"latency: {batches} are not those of {requests} requests"
    if record["units"]["name"] == "sample" and record["units"]["count"] != requests:
        yield f"units: the record says {record['units']['count']}, of {requests} requests"
    values = [latency[name] for name in _QUANTILES]
    if values != sorted(values) or not 0 <= latency["mean_s"] <= latency["max_s"]:
        yield "latency: its percentiles do not ascend"
    window = record["windows"].get(record["primary_window"])
    if window is None:
        return
    arrived_s = length_s(rate_per_s, minimum_s)
    if window["duration_s"] < arrived_s - _ROUNDED_S:
        yield f"window: requests arrived for {arrived_s:.6g} s, it has {window['duration_s']:.6g} s"
    if latency["max_s"] > window["duration_s"] + _ROUNDED_S:
        yield f"latency: {latency['max_s']:.6g} s is longer than the window of {window['duration_s']:.6g} s"
