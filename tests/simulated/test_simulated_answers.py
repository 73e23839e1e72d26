"""`make simulate`: it judges what the head says, and a number that misses its target is seen."""

import numpy as np
import pytest

from simulated import answers
from simulated.disturbed import COSTS, PROCEDURES, SEVEN, Procedure, measured, row_of
from simulated.heads import judge
from simulated.procedures import AT_LEAST, AT_MOST, Row
from simulated.studies import NOISES, truths


@pytest.mark.parametrize("noise", NOISES)
def test_a_head_is_seldom_wrong(noise: str) -> None:
    for truth in truths(7).values():
        found = judge(NOISES[noise], truth, 5, 400, np.random.default_rng(1))
        assert found.false <= 0.05
        assert found.missed <= 0.05
        assert found.covered >= 0.94


def test_of_two_equal_cells_one_is_named_in_one_study_of_twenty() -> None:
    found = judge(NOISES["normal noise"], truths(2)["none differ"], 8, 4000, np.random.default_rng(1))
    assert found.named == pytest.approx(0.05, abs=0.01)
    assert found.false == pytest.approx(0.05, abs=0.01), "and what is said of it is then false"
    assert found.missed == 0


@pytest.mark.parametrize("procedure", PROCEDURES, ids=lambda procedure: procedure.name)
@pytest.mark.parametrize("name", ["2 cells, equal", "7 cells, 1 to 4"])
def test_on_a_busy_machine_no_rule_names_a_wrong_cell_too_often(procedure: Procedure, name: str) -> None:
    row = row_of(procedure, np.array(COSTS[name]), 1200, 1, by_length=True)
    assert row["wrong"] <= 0.0626, "two standard deviations above 5 %"
    assert row["covered"] >= 0.92


def test_on_a_busy_machine_setting_aside_finds_most_of_what_a_quiet_one_finds() -> None:
    rows = {one.name: row_of(one, np.array(SEVEN), 600, 1, by_length=False) for one in PROCEDURES}
    share = {name: row["of_quiet"] for name, row in rows.items()}
    assert share["all runs"] < 0.2
    assert share["flagged runs set aside"] > 0.35
    assert share["and their neighbours"] > 0.65
    assert share["and their neighbours, at most 20 blocks"] > 0.8
    assert share["framewatt's, one call"] > 0.5
    assert share["framewatt's, two calls"] > 0.65
    assert share["framewatt's, one call, at most 20 blocks"] > 0.75
    assert row_of(PROCEDURES[3], np.array(SEVEN), 600, 1, by_length=False, missed=0.0)["of_quiet"] > 0.8


def test_bursts_slow_a_fifth_of_the_time_and_hit_neighbours() -> None:
    study = measured(np.array(SEVEN), 12, 2000, np.random.default_rng(2), by_length=False)
    slowed = study.busy - study.quiet
    assert 0.2 < (slowed > np.log(1.05)).mean() < 0.3
    assert slowed.max() < np.log(25)
    assert study.flagged.mean() == pytest.approx(0.8 * (slowed > -np.log(0.75)).mean(), abs=0.01)
    around = study.with_neighbours
    assert (study.flagged <= study.set_aside).all()
    assert (study.set_aside <= around).all()
    assert study.set_aside.mean() < 0.9 * around.mean()
    # Bursts of four runs: a flagged run has flagged neighbours, and a run that was missed mostly has one, too.
    assert around.mean() < 2 * study.flagged.mean()
    missed = (slowed > -np.log(0.75)) & ~study.flagged
    assert around[missed].mean() > 0.7


def test_a_missed_target_stays_visible(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    kept, missed = Row("x", "y", 0.051, AT_MOST, 0.05, 1000), Row("x", "y", 0.81, AT_LEAST, 0.94, 1000)
    assert kept.met, "by no more than chance"
    assert not missed.met
    assert not Row("x", "y", 0.08, AT_MOST, 0.05, 4000).met
    monkeypatch.setattr(answers, "rows", lambda _: iter([kept, missed]))
    monkeypatch.setattr(answers, "BLOCKS", ())
    answers.main(10)
    said = capsys.readouterr().out
    assert "| x | y | **81.0 %** | at least 94 % |" in said
    assert "1 of the numbers above miss their target." in said
