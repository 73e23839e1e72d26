"""Spearman's correlation, of values and of the cells of a group."""

import math

import pytest
from frames_factory import cell, runs_frame, study_frame
from statistics_settings import settings

from framewatt.statistics.trends import correlate, spearman

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")


def test_by_hand() -> None:
    # 1 - 6 sum d^2 / (n (n^2 - 1)) = 1 - 6 * 4 / 120; two-sided p of 0.8 at n = 5 in printed tables: 0.133.
    rho, p = spearman([10, 20, 30, 40, 50], [2, 1, 4, 3, 5])
    assert rho == pytest.approx(0.8)
    assert p == pytest.approx(16 / 120)


def test_ties_take_their_mean_rank() -> None:
    # Ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 1.5, variances 1.5 and 2.
    assert spearman([5, 5, 9], [1, 2, 3])[0] == pytest.approx(1.5 / math.sqrt(1.5 * 2))


def test_p_is_never_below_what_n_can_give() -> None:
    assert spearman(range(3), range(3))[1] == pytest.approx(2 / 6)
    assert spearman(range(10), range(10))[1] == pytest.approx(2 / math.factorial(10))


def test_a_constant_side_has_no_correlation() -> None:
    assert spearman([1, 1, 1], [1, 2, 3]) == (None, None)


def test_rho_is_of_the_cells_of_a_group_and_has_no_p() -> None:
    names = ("torch", "tensorflow", "mxnet", "torch2onnx", "tf2onnx")
    small, large = ([cell(name, batch_size=size) for name in names] for size in (1, 64))
    # Within a batch size energy falls as time rises; pooled over both it would rise with it.
    energy = {one: [5.0 - i] * 2 for i, one in enumerate(small)} | {one: [50.0 - i] * 2 for i, one in enumerate(large)}
    time = {one: [1.0 + i] * 2 for i, one in enumerate(small)} | {one: [10.0 + i] * 2 for i, one in enumerate(large)}
    found = correlate(runs_frame(energy, time), settings())
    assert found["rho"].tolist() == pytest.approx([-1, -1])
    assert found["n_cells"].tolist() == [5, 5]
    assert not {"p", "rho_low"} & set(found.columns)


def test_two_cells_have_no_correlation() -> None:
    assert correlate(runs_frame({TORCH: [1, 2], MXNET: [2, 3], TENSORFLOW: [None]}), settings()).empty


def test_an_estimate_says_that_it_follows_time() -> None:
    found = correlate(study_frame(3, estimated=True), settings())
    assert found["flags"].str.contains("estimated from processor time").all()
