"""What to try: found by evidence, listed where the study measured it, and called a gain only where it surely is one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame

from framewatt.base.spreadsheet import read_csv
from framewatt.profiling.advice import COLUMNS, HINTS, LESS, MORE, UNKNOWN, advice, weights_in_exports
from framewatt.profiling.api_names import UNTOLD
from framewatt.profiling.joules import BETWEEN
from framewatt.study.cell import Cell, Chosen
from framewatt.tables.operators import operator_table

TORCH, EXPORT, BAD_EXPORT = cell("torch"), cell("torch2onnx"), cell("mx2onnx")
LARGER = cell("torch", batch_size=64)
UNFUSED = {"convolution": 60.0, "normalisation": 15.0, "activation, softmax": 5.0, BETWEEN: 5.0, UNTOLD: 4.0}
SLOW = {"convolution": 50.0, BETWEEN: 30.0, UNTOLD: 20.0}


def compiled(level: str) -> Cell:
    return cell("torch", options=(Chosen("compile", level, level == "plain"),))


def with_option(runtime: str, option: str, level: str, usual: str, **levels: Any) -> dict[str, Cell]:
    """A cell at the default of an option, and one at another level, by level."""
    chosen = {one: Chosen(option, one, one == usual) for one in (usual, level)}
    return {one: cell(runtime, options=(choice,), **levels) for one, choice in chosen.items()}


HEAP = with_option("torch", "heap", "kept", "default")
UPDATE = with_option("torch", "update", "one_by_one", "fused", phase="train")
LOSS = with_option("torch", "loss_read", "step", "epoch", phase="train")
WEIGHTS = with_option("mx2onnx", "weight_inputs", "removed", "as_exported")
PLAIN = {"convolution": 97.0, BETWEEN: 3.0}
"""Shares that suggest nothing."""


def joules(shares: Mapping[Cell, Mapping[str, float]], by: Sequence[str] = ("operator", "api")) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {"cell": one.id, "by": of, "name": family, "family": family, "energy_j": 0.3 * share}
        for one, families in shares.items()
        for of in by
        for family, share in families.items()
    ]
    return pd.DataFrame(rows, columns=["cell", "by", "name", "family", "energy_j"])


def timelines(reads: Mapping[Cell, float | None] | None = None) -> pd.DataFrame:
    """A row a timeline: of calls in which the host waits, a step."""
    rows = [{"cell": one.id, "status": "ok", "host_reads_per_step": calls} for one, calls in (reads or {}).items()]
    return pd.DataFrame(rows, columns=["cell", "status", "host_reads_per_step"])


def faulting(frame: pd.DataFrame, faults_per_cpu_s: Mapping[Cell, float | None]) -> pd.DataFrame:
    """Runs with a witness, which took as many processor seconds as they lasted."""
    rates = {one.id: np.nan if rate is None else rate for one, rate in faults_per_cpu_s.items()}
    faults = frame["cell"].map(rates).astype(float) * frame["duration_s"]
    return frame.assign(run_cpu_s=frame["duration_s"], minor_faults=faults)


def energies(rng: np.random.Generator, ratio: float = 1.0, blocks: int = 5) -> list[float]:
    return (ratio * np.exp(0.05 * rng.standard_normal(blocks))).tolist()


def told(
    shares: Mapping[Cell, Mapping[str, float]], runs: Mapping[Cell, Sequence[float | None]]
) -> list[tuple[Any, ...]]:
    return rows_of(advice(joules(shares), timelines(), runs_frame(runs), {}))


def rows_of(found: pd.DataFrame) -> list[tuple[Any, ...]]:
    assert list(found.columns) == list(COLUMNS)
    return list(found[["cell", "factor", "tried", "told"]].itertuples(index=False, name=None))


def test_a_gain_that_is_sure_and_a_loss_that_is_sure_are_told_as_such() -> None:
    rng = np.random.default_rng(0)
    runs = {TORCH: energies(rng), EXPORT: energies(rng, 0.3)}
    assert told({TORCH: UNFUSED}, runs) == [(TORCH.id, "runtime", "torch2onnx", LESS)]
    runs = {TORCH: energies(rng), EXPORT: energies(rng, 3.0)}
    assert told({TORCH: UNFUSED}, runs) == [(TORCH.id, "runtime", "torch2onnx", MORE)]


def test_the_ratio_is_that_of_what_was_tried_over_what_was_there() -> None:
    runs = runs_frame({TORCH: [2.0, 2.0, 4.0], EXPORT: [1.0, 1.1, 2.0]})
    found = advice(joules({TORCH: UNFUSED}), timelines(), runs, {})
    assert found["ratio"].tolist() == pytest.approx([(0.5 * 0.55 * 0.5) ** (1 / 3)])
    assert found["blocks"].tolist() == [3]
    assert found["share_percent"].tolist() == pytest.approx([100 * 20 / 89])


def test_what_the_study_did_not_measure_is_not_advised() -> None:
    assert told({TORCH: UNFUSED}, {TORCH: [1.0, 1.1]}) == []


def test_without_evidence_nothing_is_advised() -> None:
    runs = {TORCH: [1.0, 1.1], EXPORT: [0.1, 0.1], LARGER: [0.2, 0.2]}
    assert told({TORCH: {"convolution": 98.0, BETWEEN: 2.0}}, runs) == []


def test_each_hint_is_about_cells_that_differ_in_what_it_changes_alone() -> None:
    rng = np.random.default_rng(0)
    plain, graph = compiled("plain"), compiled("compiled")
    runs = {one: energies(rng) for one in (plain, graph)} | {LARGER: energies(rng)}
    assert [(one[1], one[2]) for one in told({plain: SLOW}, runs)] == [("batch_size", 64), ("compile", "compiled")]
    assert [one[1] for one in told({graph: SLOW}, {plain: energies(rng), graph: energies(rng)})] == []


def test_an_export_with_normalisation_left_in_it_is_told_of_others() -> None:
    rng = np.random.default_rng(0)
    runs = {EXPORT: energies(rng, 0.3), BAD_EXPORT: energies(rng)}
    shares = {BAD_EXPORT: {"convolution": 80.0, "normalisation": 10.0, BETWEEN: 1.0}, EXPORT: {"convolution": 99.0}}
    assert told(shares, runs) == [(BAD_EXPORT.id, "runtime", "torch2onnx", LESS)]


def test_runs_that_failed_tell_nothing() -> None:
    assert told({TORCH: UNFUSED}, {TORCH: [1.0, 1.1], EXPORT: [None, None]}) == [
        (TORCH.id, "runtime", "torch2onnx", UNKNOWN)
    ]
    assert told({TORCH: UNFUSED}, {TORCH: [1.0], EXPORT: [0.1]})[0][-1] == UNKNOWN, "one block shows no noise"


def settings(rng: np.random.Generator, cells: Mapping[str, Cell], ratio: float = 0.5) -> pd.DataFrame:
    """Runs of the default and of another level, which takes so many times as much."""
    return runs_frame({one: energies(rng, ratio if place else 1.0) for place, one in enumerate(cells.values())})


@pytest.mark.parametrize(("ratio", "verdict"), [(0.5, LESS), (2.0, MORE)])
def test_page_faults_suggest_a_heap_that_is_kept_and_a_loss_is_told_as_one(ratio: float, verdict: str) -> None:
    runs = settings(np.random.default_rng(0), HEAP, ratio)
    faults = faulting(runs, {HEAP["default"]: 20_000, HEAP["kept"]: 100})
    found = advice(joules({}), timelines(), faults, {})
    assert rows_of(found) == [(HEAP["default"].id, "heap", "kept", verdict)], "it needs no timeline"
    assert found["evidence"].tolist() == ["page faults: 20,000 a processor second"]
    assert found["share_percent"].isna().all()


@pytest.mark.parametrize(
    "faults",
    [
        {HEAP["default"]: 1_000, HEAP["kept"]: 100},
        {HEAP["default"]: None, HEAP["kept"]: None},
        {HEAP["default"]: 100, HEAP["kept"]: 90_000},
    ],
)
def test_few_page_faults_unknown_ones_and_those_of_another_cell_suggest_nothing(faults: dict) -> None:
    runs = settings(np.random.default_rng(0), HEAP)
    assert rows_of(advice(joules({}), timelines(), faulting(runs, faults), {})) == []
    assert rows_of(advice(joules({}), timelines(), runs, {})) == [], "no witness"


def test_runs_of_no_processor_time_have_no_rate_of_faults() -> None:
    runs = faulting(settings(np.random.default_rng(0), HEAP), {HEAP["default"]: 20_000, HEAP["kept"]: 100})
    assert rows_of(advice(joules({}), timelines(), runs.assign(run_cpu_s=0.0), {})) == []


def test_an_update_of_many_operators_suggests_a_fused_one() -> None:
    runs = settings(np.random.default_rng(0), {name: UPDATE[name] for name in ("one_by_one", "fused")})
    shares = {one: {"torch.optim.SGD.step": 12.0, "torch.optim.SGD.zero_grad": 1.0, **PLAIN} for one in UPDATE.values()}
    found = advice(joules(shares), timelines(), runs, {})
    assert rows_of(found) == [(UPDATE["one_by_one"].id, "update", "fused", LESS)], "what is fused is told nothing"
    assert found["evidence"].tolist() == ["torch.optim.SGD.step"]
    assert found["share_percent"].tolist() == pytest.approx([100 * 12 / 113])


@pytest.mark.parametrize("api", ["torch.optim.SGD.zero_grad", "mxnet.gluon.Trainer.step", "2 not told apart"])
def test_an_update_that_is_not_told_apart_or_another_api_suggests_none(api: str) -> None:
    runs = settings(np.random.default_rng(0), {name: UPDATE[name] for name in ("one_by_one", "fused")})
    assert rows_of(advice(joules({UPDATE["one_by_one"]: {api: 50.0, **PLAIN}}), timelines(), runs, {})) == []
    shares = {UPDATE["one_by_one"]: {"torch.optim.SGD.step": 0.5, **PLAIN}}
    assert rows_of(advice(joules(shares), timelines(), runs, {})) == []


def test_numbers_that_are_read_in_each_step_suggest_to_read_them_later() -> None:
    runs = settings(np.random.default_rng(0), {name: LOSS[name] for name in ("step", "epoch")}, 1.0)
    found = advice(joules({LOSS["step"]: PLAIN}), timelines({LOSS["step"]: 1.0, LOSS["epoch"]: 3.0}), runs, {})
    assert rows_of(found) == [(LOSS["step"].id, "loss_read", "epoch", UNKNOWN)]
    assert found["evidence"].tolist() == ["item(), nonzero(): 1 a step"]
    assert found["share_percent"].isna().all(), "too short to have joules of its own"
    shares = {LOSS["step"]: {"aten::_local_scalar_dense": 10.0, "aten::conv2d": 90.0}}
    found = advice(joules(shares), timelines({LOSS["step"]: 1.0}), runs, {})
    assert found["share_percent"].tolist() == pytest.approx([10.0])


@pytest.mark.parametrize("reads", [{LOSS["step"]: 0.0}, {LOSS["step"]: None}, {LOSS["epoch"]: 4.0}, {}])
def test_numbers_read_elsewhere_or_by_who_knows_suggest_nothing(reads: dict) -> None:
    runs = settings(np.random.default_rng(0), {name: LOSS[name] for name in ("step", "epoch")})
    assert rows_of(advice(joules({LOSS["step"]: PLAIN}), timelines(reads), runs, {})) == []
    older = timelines({LOSS["step"]: 1.0}).drop(columns="host_reads_per_step")
    assert rows_of(advice(joules({LOSS["step"]: PLAIN}), older, runs, {})) == [], "an older table"


def test_weights_among_inputs_suggest_to_take_them_off() -> None:
    runs = settings(np.random.default_rng(0), WEIGHTS)
    found = advice(joules({}), timelines(), runs, {"resnet50-digits-mxnet": 267})
    assert rows_of(found) == [(WEIGHTS["as_exported"].id, "weight_inputs", "removed", LESS)]
    assert found["evidence"].tolist() == ["weights among inputs: 267"]
    for exports in ({"resnet50-digits-mxnet": 0}, {"resnet50-digits-mxnet": None}, {"resnet50-digits-torch": 9}, {}):
        assert rows_of(advice(joules({}), timelines(), runs, exports)) == []


def test_weights_are_those_of_the_check_of_each_export_and_unknown_where_it_failed(tmp_path: Path) -> None:
    told = {
        "resnet50-digits-mxnet/check": {"status": "ok", "weights_among_inputs": 267},
        "resnet50-digits-mxnet/int8_static/check": {"status": "ok", "weights_among_inputs": 0},
        "resnet50-digits-torch/check": {"status": "failed", "reason": "no environment"},
    }
    for name, record in told.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "check.json").write_text(json.dumps(record))
    assert weights_in_exports([tmp_path / name for name in told]) == {
        "resnet50-digits-mxnet": 267,
        "resnet50-digits-mxnet/int8_static": 0,
        "resnet50-digits-torch": None,
    }


def test_tables_say_what_the_evidence_is_and_no_share_where_it_is_none(tmp_path: Path) -> None:
    runs = settings(np.random.default_rng(0), WEIGHTS)
    joules({}).to_csv(tmp_path / "joules.csv", index=False)
    timelines({TORCH: None}).to_csv(tmp_path / "timelines.csv", index=False)
    about, shares = (read_csv(tmp_path / name) for name in ("timelines.csv", "joules.csv"))
    table = operator_table("advice", shares, about, runs, {"resnet50-digits-mxnet": 267})
    assert table.shown[["Evidence", "Share (%)", "Tried", "It"]].to_numpy().tolist() == [
        ["weights among inputs: 267", "n/a", "Weight inputs: removed", LESS]
    ]


def test_a_level_that_an_older_study_does_not_name_is_not_tried() -> None:
    runs = faulting(settings(np.random.default_rng(0), {"torch": TORCH, "larger": LARGER}), {TORCH: 90_000})
    assert rows_of(advice(joules({}), timelines(), runs, {"resnet50-digits-torch": 9})) == []


def test_where_nothing_differs_a_gain_or_loss_is_told_in_at_most_one_study_in_twenty() -> None:
    """Of any of its hints: 400 studies in which every hint has its evidence, and one more cell of larger batches."""
    rng = np.random.default_rng(3)
    plain, graph = compiled("plain"), compiled("compiled")
    # In training the defaults of both options are one cell, as are here the plain one and that of a heap as it is.
    tried = [HEAP["kept"], *UPDATE.values(), LOSS["step"], *WEIGHTS.values()]
    images = cell("torch", options=(Chosen("layout", "channels_last", False),))
    shares = {
        plain: {**SLOW, "normalisation": 10.0},
        UPDATE["one_by_one"]: {"torch.optim.SGD.step": 10.0, **PLAIN},
        WEIGHTS["as_exported"]: {"convolution": 90.0, "normalisation": 10.0},
    }
    told_of = timelines({LOSS["step"]: 1.0})
    table, wrong = joules(shares), 0
    runs = runs_frame(dict.fromkeys((plain, graph, LARGER, EXPORT, images, *tried), [1.0] * 5))
    frame = faulting(runs[runs["domain"] == "total"], {plain: 20_000})
    for _ in range(400):
        noisy = frame.assign(energy_per_sample_j=energies(rng, blocks=len(frame)))
        found = advice(table, told_of, noisy, {"resnet50-digits-mxnet": 267})
        assert set(found["hint"]) == {hint.name for hint in HINTS}
        wrong += bool((found["told"] != UNKNOWN).any())
    assert wrong / 400 < 0.075
