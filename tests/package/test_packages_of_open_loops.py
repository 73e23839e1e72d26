"""What the record of an open loop may say of its requests."""

from typing import Any

import pytest
from records_factory import energy, run_record

from framewatt.package.verification.outcome import open_loop_problems
from framewatt.study.cell import Cell, Chosen

CELL = Cell("infer", "resnet50", "torch", "native", "digits", 4, "fp32", (Chosen("load", "20/s", default=False),))
LOOP = {"rate_per_s": 20.0, "requests": 200, "busy_share": 0.4, "largest_batch": 3}
LATENCY = {"batches": 150, "mean_s": 0.01, "p50_s": 0.01, "p95_s": 0.02, "p99_s": 0.03, "max_s": 0.04}


def said(cell: Cell = CELL, samples: int = 360, units: int = 200, *, loop: Any = None, **latency: Any) -> list[str]:
    record = run_record({"cpu:package-0": energy(100.0)}, units={"name": "sample", "count": units})
    told = {**LATENCY, **latency, "open_loop": {**LOOP, **(loop or {})}}
    return list(open_loop_problems(cell, {**record, "latency": told}, 10, samples))


def test_a_record_of_what_was_asked_for_is_believed() -> None:
    assert said() == []
    # Of a test set of 3 samples, no batch has 4.
    assert said(samples=3) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"loop": {"requests": 190}}, "requests: the record states 190, the study file gives 200"),
        ({"loop": {"rate_per_s": 30.0}}, "rate_per_s: the record states 30"),
        ({"loop": {"largest_batch": 5}}, "batches of up to 5 are not those of 200 requests"),
        ({"batches": 40}, "latency: 40 batches of up to 3"),
        ({"samples": 2}, "batches of up to 3"),
        ({"units": 100}, "units: the record states 100, of 200 requests"),
        ({"p95_s": 0.001}, "latency: its percentiles do not ascend"),
        ({"max_s": 11.0}, "latency: 11 s is longer than the window of 10 s"),
    ],
)
def test_what_cannot_be_is_named(change: dict, told: str) -> None:
    assert any(told in line for line in said(**change)), said(**change)


def test_a_closed_loop_has_no_requests_and_an_open_one_has_them() -> None:
    at_default = (Chosen("load", "closed", default=True),)
    closed = Cell("infer", "resnet50", "torch", "native", "digits", 4, "fp32", at_default)
    assert said(closed) == ["latency.open_loop: the record has one, of a load closed"]
    record = run_record({"cpu:package-0": energy(100.0)}, latency=LATENCY)
    assert list(open_loop_problems(CELL, record, 10, 360)) == ["latency.open_loop: the record has none, of a load 20/s"]
    assert list(open_loop_problems(closed, record, 10, 360)) == []
    assert said(Cell("infer", "resnet50", "torch", "native", "digits", 4, "fp32")) != []
