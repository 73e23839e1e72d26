"""Which of the two rank tests, in which form, gives a printed p."""

import numpy as np
import pytest

from framewatt.papers.methods import RANK_SUM, SIGNED_RANK, rank_sum_p, variants

APART = np.arange(10.0) + 100, np.arange(10.0)


def row(frame, test, form, family=1):
    return frame.set_index(["test", "form", "bonferroni_over"]).loc[(test, form, family)]


def test_the_exact_rank_sum_test_of_ten_runs_that_do_not_overlap():
    assert rank_sum_p(*APART) == pytest.approx(2 / 184756)


def test_the_least_p_of_ten_runs_tells_the_tests_apart():
    found = variants([], [], [1, 24], 10)
    assert row(found, RANK_SUM, "exact")["least_p"] == pytest.approx(1.08e-5, rel=0.01)
    assert row(found, RANK_SUM, "exact", 24)["least_p"] == pytest.approx(24 * 1.0825e-5, rel=0.001)
    assert row(found, SIGNED_RANK, "exact")["least_p"] == pytest.approx(2 / 1024)


def test_a_printed_p_of_runs_is_reproduced_by_the_test_that_made_it():
    found = variants([(*APART, "< 0.001")], [], [1, 48], 10)
    assert row(found, RANK_SUM, "exact")["reproduced"] == 1
    assert row(found, RANK_SUM, "exact", 48)["reproduced"] == 1
    assert row(found, SIGNED_RANK, "exact")["reproduced"] == 0
    assert row(found, RANK_SUM, "normal approximation", 48)["reproduced"] == 0
    assert (found["printed"] == 1).all()


@pytest.mark.parametrize(
    ("pair", "test", "family", "attainable"),
    [
        (("0.48", "0.6"), RANK_SUM, 1, 1),  # U = 60 of 100: p = 0.4813
        (("0.48", "0.6"), RANK_SUM, 6, 0),  # p = 0.08 would have an A12 of 0.73
        (("0.48", "0.9"), RANK_SUM, 1, 0),  # p and A12 of different samples
        (("0.48", "0.6"), SIGNED_RANK, 1, 0),  # exact p of 10 pairs are 0.43, 0.49, …
        (("< 0.001", "1"), SIGNED_RANK, 1, 0),
    ],
)
def test_what_some_ten_runs_could_give_is_known_without_them(pair, test, family, attainable):
    found = variants([], [pair], [family], 10)
    assert row(found, test, "exact", family)["attainable"] == attainable
