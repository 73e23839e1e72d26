"""What to try: found by evidence, listed where the study measured it, and called a gain only where it surely is one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame

from framewatt.profiling.advice import COLUMNS, LESS, MORE, UNKNOWN, advice
from framewatt.profiling.families import UNTOLD
from framewatt.profiling.joules import BETWEEN
from framewatt.study.cell import Cell, Chosen

TORCH, EXPORT, BAD_EXPORT = cell("torch"), cell("torch2onnx"), cell("mx2onnx")
LARGER = cell("torch", batch_size=64)
UNFUSED = {"convolution": 60.0, "normalisation": 15.0, "activation, softmax": 5.0, BETWEEN: 5.0, UNTOLD: 4.0}
SLOW = {"convolution": 50.0, BETWEEN: 30.0, UNTOLD: 20.0}


def compiled(level: str) -> Cell:
    return cell("torch", options=(Chosen("compile", level, level == "plain"),))


def joules(shares: Mapping[Cell, Mapping[str, float]]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {"cell": one.id, "by": by, "name": family, "family": family, "energy_j": 0.3 * share}
        for one, families in shares.items()
        for by in ("operator", "api")
        for family, share in families.items()
    ]
    return pd.DataFrame(rows)


def energies(rng: np.random.Generator, ratio: float = 1.0, blocks: int = 5) -> list[float]:
    return (ratio * np.exp(0.05 * rng.standard_normal(blocks))).tolist()


def told(
    shares: Mapping[Cell, Mapping[str, float]], runs: Mapping[Cell, Sequence[float | None]]
) -> list[tuple[Any, ...]]:
    found = advice(joules(shares), runs_frame(runs))
    assert list(found.columns) == list(COLUMNS)
    return list(found[["cell", "factor", "tried", "told"]].itertuples(index=False, name=None))


def test_a_gain_that_is_sure_and_a_loss_that_is_sure_are_told_as_such() -> None:
    rng = np.random.default_rng(0)
    runs = {TORCH: energies(rng), EXPORT: energies(rng, 0.3)}
    assert told({TORCH: UNFUSED}, runs) == [(TORCH.id, "runtime", "torch2onnx", LESS)]
    runs = {TORCH: energies(rng), EXPORT: energies(rng, 3.0)}
    assert told({TORCH: UNFUSED}, runs) == [(TORCH.id, "runtime", "torch2onnx", MORE)]


def test_the_ratio_is_that_of_what_was_tried_over_what_was_there() -> None:
    found = advice(joules({TORCH: UNFUSED}), runs_frame({TORCH: [2.0, 2.0, 4.0], EXPORT: [1.0, 1.1, 2.0]}))
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


def test_where_nothing_differs_a_gain_or_loss_is_told_in_at_most_one_study_in_twenty() -> None:
    """Of any of its hints: 400 studies of three."""
    rng = np.random.default_rng(3)
    plain, graph = compiled("plain"), compiled("compiled")
    wrong = 0
    for _ in range(400):
        runs = {one: energies(rng) for one in (plain, graph, LARGER, EXPORT)}
        found = told({plain: {**SLOW, "normalisation": 10.0}}, runs)
        assert len(found) == 3
        wrong += any(verdict != UNKNOWN for *_, verdict in found)
    assert wrong / 400 < 0.075
