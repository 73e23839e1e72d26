"""`make simulate`: it judges what the head says, and a number that misses its target is seen."""

import numpy as np
import pytest

from simulated import answers
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
