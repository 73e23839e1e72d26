"""What a plan's number of runs can show at best, told before and after measuring."""

from frames_factory import cell, runs_frame, study_frame
from statistics_settings import settings

from framewatt.statistics.best_set import comparable_pairs
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.power import reachable_significance
from framewatt.statistics.selection import cells_of
from framewatt.study.factors import COMPARED

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")


def test_count_agrees_with_the_comparisons_made() -> None:
    runs = study_frame(2)
    made = compare_cells(runs, settings())
    # 3 frameworks train: 3 pairs; 6 runtimes infer at two batch sizes: 15 pairs each.
    assert len(comparable_pairs(cells_of(runs), COMPARED)) == 33 == (made["quantity"] == "energy_per_sample_j").sum()


def test_a_cell_whose_runs_failed_stays_in_the_count() -> None:
    runs = runs_frame({TORCH: [1, 2], TENSORFLOW: [None, None], MXNET: [3, 4]})
    made = compare_cells(runs, settings())
    assert (
        (made["quantity"] == "time_per_sample_s").sum()
        == len(comparable_pairs([TORCH, TENSORFLOW, MXNET], COMPARED))
        == 3
    )


def test_five_runs_never_reach_five_percent() -> None:
    found = reachable_significance(5, 1, settings())
    assert (found.smallest_p, found.smallest_p_corrected, found.reachable) == (0.0625, 0.0625, False)
    assert found.smallest_n == 6
    assert "no difference can be significant at alpha = 0.05; at least 6 runs a cell could" in found.sentence


def test_ten_runs_reach_it_for_few_comparisons() -> None:
    # 25 * 2 / 1024 = 0.0488 and 26 * 2 / 1024 = 0.0508.
    assert reachable_significance(10, 25, settings()).reachable
    assert not reachable_significance(10, 26, settings()).reachable
    assert reachable_significance(10, 26, settings()).smallest_n == 11


def test_mann_whitney_reaches_it_with_fewer() -> None:
    # 2 / C(6, 3) = 0.1, 2 / C(8, 4) = 0.0286.
    found = reachable_significance(3, 1, settings(test="mannwhitney"))
    assert (found.smallest_p, found.smallest_n) == (0.1, 4)


def test_no_correction() -> None:
    assert reachable_significance(6, 1000, settings(correction="none")).smallest_p_corrected == 2 / 64


def test_nothing_to_compare() -> None:
    assert reachable_significance(5, 0, settings()).sentence.startswith("No two cells")


def test_the_bound_before_measuring_is_the_bound_after() -> None:
    made = compare_cells(study_frame(5), settings())
    planned = reachable_significance(5, 33, settings())
    assert set(made["smallest_p"]) == {planned.smallest_p}
    assert set(made["smallest_p_corrected"]) == {planned.smallest_p_corrected}
