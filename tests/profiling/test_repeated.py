"""Operators alone beside the program: what agrees, what does not, what was left out, and what is not believed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.energy.accounts import energy_of
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import write_trace
from framewatt.profiling.alone import chooser
from framewatt.profiling.repeated import failed_repetitions, frame_of
from framewatt.runs.repeated import loop_s
from framewatt.runs.timelines import write_spans
from framewatt.tables.operators import repeated_table
from framewatt.tables.table import MISSING
from framewatt.workloads.profilers import STEP, Span, Spans
from framewatt.workloads.repeaters import Case

CHANNEL = Channel("rapl", "cpu:package-0", "energy_j", COUNTER, 1e-3, resolution=1e-6, period_s=1e-3)
FLOOR_W, WATTS = 10.0, {"conv": 30.0, "gemm": 20.0, "add": 8.0}
ABOVE_S, BELOW_S = 0.02, 0.01
"""Of a convolution of one image: its own time, and that of the product in it."""

STEPS, ZERO_NS = 60, 10**12
CASES = [
    Case("conv", "[1]", {}, (1, 1, 1)),
    Case("conv", "[2]", {}, (1, 1, 1)),
    Case("add", "[1]", {}, (1, 1, 2)),
    Case("never", "[1]", {}, (1, 1, 1)),
]
Loops = list[tuple[float, float, int]]
"""Start and end in seconds, and the number of calls."""


def call_j(shape: int) -> float:
    """Joules of a convolution of so many images, with the machine's floor."""
    return shape * (ABOVE_S * (FLOOR_W + WATTS["conv"]) + BELOW_S * (FLOOR_W + WATTS["gemm"]))


def trace_of(pieces: list[tuple[float, float, float]], length_s: float) -> Trace:
    """A counter beside some pieces of time, which draw so many watts above the floor."""
    knots = np.array(sorted({0.0, length_s, *(edge for piece in pieces for edge in piece[:2])}))
    watts = np.full(len(knots) - 1, FLOOR_W)
    for start, end, more_w in pieces:
        watts[np.searchsorted(knots, start) : np.searchsorted(knots, end)] += more_w
    joules = np.concatenate(([0.0], np.cumsum(watts * np.diff(knots))))
    at_s = np.arange(-0.005, length_s + 0.005, 1e-3)
    read = np.round(np.interp(at_s, knots, joules), 6) + FLOOR_W * np.clip(at_s - length_s, 0, None)
    time_ns = ZERO_NS + np.round(at_s * 1e9).astype(np.int64)
    return Trace((CHANNEL,), time_ns, np.zeros(len(at_s), np.int32), read)


def energy_in(trace: Trace, start_s: float, end_s: float) -> dict[str, Any]:
    """A domain's energy, as a record has it."""
    found = energy_of(CHANNEL, *trace.read_channel(0), *(ZERO_NS + round(edge * 1e9) for edge in (start_s, end_s)))
    return {
        **{"instrument": "rapl", "source": "energy_j", "estimated": False, "valid": True, "reasons": [], "flags": []},
        **{"energy_gross_j": found.energy_j, "energy_uncertainty_j": found.uncertainty_j},
    }


def timeline(folder: Path, seed: int = 3) -> Path:
    """A program: steps of two convolutions, in which products lie, and of an addition, with pauses."""
    rng = np.random.default_rng(seed)
    spans, pieces, at_s = [], [], 0.0
    steps_ns = []
    for _ in range(STEPS):
        began_s = at_s
        for shape in rng.permutation([1, 2, 0]):
            at_s += rng.uniform(0.005, 0.03)
            kind, lasts_s = ("conv", shape * (ABOVE_S + BELOW_S)) if shape else ("add", 0.02)
            spans.append(Span(kind, "", f"[{max(shape, 1)}]", 0, 1e9 * at_s, 1e9 * (at_s + lasts_s)))
            if shape:
                inner_s = at_s + shape * ABOVE_S
                spans.append(Span("gemm", "", "", 0, 1e9 * inner_s, 1e9 * (at_s + lasts_s)))
                pieces.append((at_s, inner_s, WATTS["conv"]))
                pieces.append((inner_s, at_s + lasts_s, WATTS["gemm"]))
            else:
                pieces.append((at_s, at_s + lasts_s, WATTS["add"]))
            at_s += lasts_s
        spans.append(Span(STEP, "", "", 0, 1e9 * began_s, 1e9 * at_s))
        steps_ns.append(tuple(ZERO_NS + round(1e9 * edge) + off for edge, off in ((began_s, -500), (at_s, 500))))
    folder.mkdir(parents=True)
    trace = trace_of(pieces, at_s)
    write_trace(folder / "power.parquet", trace)
    write_spans(folder / "spans.parquet", Spans.from_spans(spans, steps_ns))
    window = {
        "spans_monotonic_ns": [[ZERO_NS, ZERO_NS + round(1e9 * at_s)]],
        "domains": {"cpu:package-0": energy_in(trace, 0, at_s)},
    }
    about = {"engine": "torch", "phase": "infer", "passes": {"profiled": {"window": window, "units": {"count": STEPS}}}}
    (folder / "timeline.json").write_text(json.dumps({"status": "ok", "reason": None, **about}))
    return folder


@dataclass(frozen=True)
class Alone:
    """What a call took in loops of its own: joules, and why it was not repeated."""

    joules: float = 0.0
    seconds: float = 0.0
    reason: str | None = None


def repeated(folder: Path, alone: Mapping[int, Alone], **changes: Any) -> Path:
    """The record and trace of loops of convolutions, by their shape."""
    pieces, loops, at_s = [], {shape: [] for shape in alone}, 0.0
    for _ in range(3):
        for shape, one in alone.items():
            if one.reason is None:
                calls = round(0.6 / one.seconds)
                end_s = at_s + calls * one.seconds
                pieces.append((at_s, end_s, one.joules / one.seconds - FLOOR_W))
                loops[shape].append((at_s, end_s, calls))
                at_s = end_s + 0.01
    folder.mkdir(parents=True)
    trace = trace_of(pieces, max(at_s, 0.1))
    write_trace(folder / "power.parquet", trace)
    cases = [
        {
            **{"name": "conv", "shapes": f"[{shape}]", "arguments": {}, "calls": [1, 1, 1], "reason": one.reason},
            "loops": [_loop(trace, *loop) for loop in loops[shape]],
        }
        for shape, one in alone.items()
    ]
    about = {"engine": "torch", "phase": "infer", "operators": 2, "cannot": None, "called": ["conv", "add"]}
    record = {"status": "ok", "reason": None, **about, "cases": cases, **changes}
    (folder / "repeated.json").write_text(json.dumps(record))
    return folder


def _loop(trace: Trace, start_s: float, end_s: float, calls: int) -> dict[str, Any]:
    edges = {"start_monotonic_ns": start_s, "end_monotonic_ns": end_s}
    return {
        **{name: ZERO_NS + round(1e9 * edge) for name, edge in edges.items()},
        **{"duration_s": end_s - start_s, "calls": calls, "waited_s": 0.0, "disturbed": []},
        "domains": {"cpu:package-0": energy_in(trace, start_s, end_s)},
    }


def as_in_the_program(shape: int, times: float = 1.0) -> Alone:
    return Alone(times * call_j(shape), shape * (ABOVE_S + BELOW_S))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return timeline(tmp_path_factory.mktemp("timelines") / "cell")


def beside(program: Path, folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame_of([program], [folder]).to_dict("records")
    return rows


def test_a_call_alone_takes_what_it_takes_in_the_program_with_all_that_it_calls(program: Path, tmp_path: Path) -> None:
    both = {shape: as_in_the_program(shape) for shape in (1, 2)}
    total, *calls = beside(program, repeated(tmp_path / "cell", both))
    assert [row["by"] for row in (total, *calls)] == ["operator", "call", "call"]
    assert (total["calls"], total["covered_percent"]) == (2 * STEPS, 100)
    assert total["repeated_j"] == pytest.approx((call_j(1) + call_j(2)) / 2, rel=3e-3)
    assert total["joined_s"] == pytest.approx(1.5 * (ABOVE_S + BELOW_S), rel=3e-3)
    assert total["ratio"] == pytest.approx(1, abs=0.03)
    assert total["ratio_low"] < 1 < total["ratio_high"] < 1.1
    assert total["agree"]
    for shape, row in enumerate(calls, 1):
        assert row["joined_j"] == pytest.approx(call_j(shape), rel=0.05)
        assert row["calls"] == STEPS
        assert row["agree"]


def test_a_call_that_takes_less_alone_is_not_said_to_agree(program: Path, tmp_path: Path) -> None:
    both = {shape: as_in_the_program(shape, 0.8) for shape in (1, 2)}
    total, *_ = beside(program, repeated(tmp_path / "cell", both))
    assert total["ratio"] == pytest.approx(1 / 0.8, rel=0.04)
    assert not total["agree"]


def test_what_was_not_repeated_is_no_part_of_the_comparison_and_is_said(program: Path, tmp_path: Path) -> None:
    reason = "cannot be repeated: its arguments are unknown"
    told = {1: as_in_the_program(1), 2: Alone(reason=reason)}
    total, first, second = beside(program, repeated(tmp_path / "cell", told))
    assert total["covered_percent"] == 50
    assert total["reason"] == second["reason"] == reason
    assert total["joined_j"] == pytest.approx(first["joined_j"])
    assert total["repeated_j"] == pytest.approx(call_j(1), rel=3e-3)
    assert np.isnan(second["repeated_j"])
    assert np.isnan(second["ratio"])


def test_loops_that_differ_among_each_other_widen_the_interval(program: Path, tmp_path: Path) -> None:
    folder = repeated(tmp_path / "cell", {1: as_in_the_program(1)})
    calm, *_ = beside(program, folder)
    record = json.loads((folder / "repeated.json").read_text())
    for loop, times in zip(record["cases"][0]["loops"], (0.8, 1.0, 1.2), strict=True):
        loop["calls"] = round(loop["calls"] * times)
    (folder / "repeated.json").write_text(json.dumps(record))
    rough, *_ = beside(program, folder)
    assert rough["repeated_uncertainty_j"] == pytest.approx(0.2 / 3**0.5 * call_j(1), rel=0.15)
    assert calm["repeated_uncertainty_j"] < 0.02 * call_j(1)


def test_joules_that_the_trace_does_not_give_are_not_compared(program: Path, tmp_path: Path) -> None:
    folder = repeated(tmp_path / "cell", {1: as_in_the_program(1)})
    record = json.loads((folder / "repeated.json").read_text())
    record["cases"][0]["loops"][1]["domains"]["cpu:package-0"]["energy_gross_j"] *= 1.01
    (folder / "repeated.json").write_text(json.dumps(record))
    (row,) = beside(program, folder)
    assert "Repeat the operators again" in row["reason"]
    assert np.isnan(row.get("ratio", np.nan))


def test_a_program_whose_calls_cannot_be_seen_has_its_largest_rows_with_the_reason(
    program: Path, tmp_path: Path
) -> None:
    rows = beside(program, repeated(tmp_path / "cell", {}, cannot="cannot be repeated: no way", operators=2))
    assert [row["operator"] for row in rows] == ["conv", "gemm"]
    assert {row["reason"] for row in rows} == {"cannot be repeated: no way"}
    assert rows[0]["calls"] == 2 * STEPS


def test_a_cell_of_which_nothing_is_told_apart_has_a_row_too(program: Path, tmp_path: Path) -> None:
    (row,) = beside(program, repeated(tmp_path / "cell", {}))
    assert (row["operator"], row["covered_percent"]) == ("all operators", 0)
    assert row["reason"] == "cannot be repeated: the timeline tells no operator apart that the program calls"


def test_a_failure_is_a_row_and_is_told_in_the_end(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cell"
    folder.mkdir()
    (folder / "repeated.json").write_text(json.dumps({"status": "failed", "reason": "killed"}))
    frame = frame_of([program], [folder])
    path = tmp_path / "repeated.csv"
    frame.to_csv(path, index=False)
    assert failed_repetitions([path], ()) == ["operators of cell alone: killed"]
    assert failed_repetitions([path], ("cell",)) == []
    (shown,) = repeated_table(frame).shown.to_dict("records")
    assert shown["Reason"] == "killed"
    assert set(shown.values()) == {"cell", "killed", MISSING}


def test_the_operators_that_take_most_are_chosen_by_their_shapes_in_the_timeline(program: Path) -> None:
    assert chooser(program, 1)(CASES) == [0, 1]
    assert chooser(program, 5)(CASES) == [2, 0, 1]


def test_what_no_timeline_tells_is_not_chosen(tmp_path: Path) -> None:
    (tmp_path / "timeline.json").write_text(json.dumps({"status": "failed", "reason": "no profiler"}))
    with pytest.raises(FramewattError, match=r"there is no timeline \(no profiler\)"):
        chooser(tmp_path, 1)(CASES)


def test_steps_that_call_it_another_number_of_times_are_said(program: Path, tmp_path: Path) -> None:
    folder = repeated(tmp_path / "cell", {1: as_in_the_program(1)})
    record = json.loads((folder / "repeated.json").read_text())
    for calls, told in (([1, 2, 1], True), ([1, 1, 0], False)):
        record["cases"][0]["calls"] = calls
        (folder / "repeated.json").write_text(json.dumps(record))
        flags = beside(program, folder)[0]["flags"]
        assert ("steps call it another number of times" in (flags or "")) is told


@pytest.mark.parametrize(("period_s", "lasts_s"), [(0.001, 1.0), (0.01, 1.0), (0.1, 2.0)])
def test_a_loop_lasts_for_enough_periods_of_the_meter(period_s: float, lasts_s: float) -> None:
    channel = Channel("x", "gpu:0", "energy_j", COUNTER, period_s)
    slow = Channel("x", "gpu:0", "power_w", "gauge", 1.0)
    assert loop_s([channel, slow]) == pytest.approx(lasts_s)


@pytest.mark.parametrize(
    ("key", "value"),
    [("calls", 0), ("calls", True), ("duration_s", 0), ("domains", []), ("domains", {"cpu": {"valid": True}})],
)
def test_a_record_of_another_form_is_a_row_with_the_key(program: Path, tmp_path: Path, key: str, value: object) -> None:
    folder = repeated(tmp_path / "cell", {1: as_in_the_program(1)})
    record = json.loads((folder / "repeated.json").read_text())
    record["cases"][0]["loops"][0][key] = value
    (folder / "repeated.json").write_text(json.dumps(record))
    (row,) = beside(program, folder)
    assert f"cases.0.loops.0.{key}" in row["reason"]
    assert "allowed: what repeated.schema.json says" in row["reason"]
