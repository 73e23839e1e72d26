"""Joules of operators as rows: what is told apart, what is one row together, and what a figure calls it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from framewatt.profiling.api_names import FAMILIES, family_of
from framewatt.profiling.joules import BETWEEN, OperatorJoules
from framewatt.profiling.operators import ABOUT, CellJoules, about, resolved, rows_of
from framewatt.profiling.timeline import Clock

KINDS = (("conv", "f"), ("conv", "g"), ("add", "f"), ("copy", "g"))
RECORD = {"engine": "torch", "phase": "infer", "passes": {"profiled": {"units": {"count": 10}}}}


def joules(unsure_j: tuple[float, ...] = (1, 1, 1, 1), seconds: tuple[float, ...] = (2, 1, 3, 4)) -> CellJoules:
    energy_j = np.array([30.0, 10.0, 40.0, 15.0, 5.0])
    found = OperatorJoules(
        (*("a",) * 4, BETWEEN),
        energy_j,
        np.diag([*np.square(unsure_j), 0.01]),
        np.array([*seconds, 1.0]),
        np.zeros(5, np.int64),
        100.0,
        0.0,
    )
    return CellJoules(KINDS, found, np.array([5, 6, 7, 8]), Clock(0, 0, 0, 0), 100, 0.5, 0, (), "cpu:package-0", False)


def rows(found: CellJoules, by: str) -> dict[str, tuple[float, int, int]]:
    """Joules, operators and calls by name."""
    return {
        row["name"]: (row["energy_j"], row["of"], row["calls"])
        for row in rows_of(RECORD, "cell", found)
        if row["by"] == by
    }


def test_an_operator_is_one_row_whoever_called_it_and_an_api_whatever_it_called() -> None:
    assert rows(joules(), "operator") == {
        "conv": (40.0, 1, 11),
        "add": (40.0, 1, 7),
        "copy": (15.0, 1, 8),
        BETWEEN: (5.0, 0, 0),
    }
    assert rows(joules(), "api") == {"f": (70.0, 1, 12), "g": (25.0, 1, 14), BETWEEN: (5.0, 0, 0)}


def test_what_is_too_unsure_or_too_short_is_one_row_and_nothing_is_lost() -> None:
    unsure = rows(joules(unsure_j=(1, 1, 30, 9)), "operator")
    assert unsure == {"conv": (40.0, 1, 11), "2 not told apart": (55.0, 2, 15), BETWEEN: (5.0, 0, 0)}
    short = rows(joules(seconds=(2, 1, 0.1, 0.1)), "operator")
    assert short.keys() == unsure.keys()
    assert sum(energy_j for energy_j, _, _ in short.values()) == pytest.approx(100)


def test_the_uncertainty_of_two_together_is_that_of_their_sum() -> None:
    found = joules()
    covariance = found.joules.covariance.copy()
    covariance[0, 1] = covariance[1, 0] = -1.0
    opposed = OperatorJoules(**{**vars(found.joules), "covariance": covariance})
    each, _ = resolved(CellJoules(**{**vars(found), "joules": opposed}), lambda kind: kind[0])
    assert dict(zip(each.names, each.uncertainty_j, strict=True))["conv"] == pytest.approx(0)


def test_a_disturbed_pass_and_a_window_that_is_short_for_its_meter_are_told() -> None:
    def one_pass(flags: list[str], disturbed: list[str]) -> dict[str, Any]:
        domain = {"energy_gross_j": 20.0, "valid": True, "flags": flags}
        window = {"duration_s": 2.0, "domains": {"cpu:package-0": domain}, "witness": {"disturbed": disturbed}}
        return {"window": window, "units": {"count": 10}}

    passes = {"plain": one_pass([], ["other work took 30 %"]), "profiled": one_pass(["window of 0.1 s is short"], [])}
    told = about({**RECORD, "passes": passes}, joules())
    assert told["flags"] == "plain: disturbed: other work took 30 %; profiled: window of 0.1 s is short"
    lost = about({**RECORD, "passes": passes}, replace(joules(), empty_steps=3))["flags"]
    assert lost.endswith(
        "; the profiler shows no operator in 3 steps: it lost some, and their time is between operators"
    )
    assert (told["operators"], told["resolved"]) == (3, 3)
    assert told["joules_per_unit_plain"] == pytest.approx(2.0)
    assert told.keys() | {"cell", "status", "reason"} == set(ABOUT)


@pytest.mark.parametrize(
    ("operator", "family"),
    [
        ("aten::mkldnn_convolution", "convolution"),
        ("_MklNativeFusedMatMul", "matrix product"),
        ("aten::native_batch_norm_backward", "normalisation"),
        ("multi_sgd_mom_update", "optimiser"),
        ("aten::_fused_sgd_", "optimiser"),
        ("AssignAddVariableOp", "optimiser"),
        ("aten::hardtanh_backward", "activation, softmax"),
        ("ReorderOutput", "data movement"),
        ("Gemm", "matrix product"),
        ("aten::addmm", "matrix product"),
        ("aten::add_", "sums and elementwise"),
        ("83 not told apart", "not told apart"),
        (BETWEEN, BETWEEN),
        ("WaitForVar", "other operators"),
    ],
)
def test_operators_have_a_family_in_every_framework(operator: str, family: str) -> None:
    assert family_of(operator) == family
    assert family in FAMILIES
