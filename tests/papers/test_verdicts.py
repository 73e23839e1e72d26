"""What a recount is worth beside the number that was printed."""

import pandas as pd
import pytest

from framewatt.base.errors import FramewattError
from framewatt.papers.printed import (
    CUT_OFF,
    DEVIATES,
    OF_ROUNDED,
    REPRODUCED,
    UNKNOWN,
    Answer,
    Recount,
    judge,
    read_printed,
)
from framewatt.papers.verdicts import VERDICTS_COLUMNS, counts, verdicts


@pytest.mark.parametrize(
    ("recomputed", "printed"),
    [
        (0.604, "0.60"),
        (0.595, "0.60"),
        (12.5, "12"),
        (6.5403e-27, "6.54e-27"),
        (327561.4, "327,561"),
        (-3.04, "-3.0"),
        (0.0, "0"),
        (0.0009, "< 0.001"),
        (8.0, "> 7"),
        (11.9, "~11"),
        (10.1, "~11"),
    ],
)
def test_a_number_that_rounds_to_what_is_printed_is_reproduced(recomputed, printed):
    assert judge(Answer(recomputed), printed) == (REPRODUCED, "")


@pytest.mark.parametrize(
    ("recomputed", "printed"),
    [
        (0.6051, "0.6"),  # one digit: 0.6 reaches to 0.65, where 0.60 reaches to 0.605
        (0.65, "0.6"),
    ],
)
def test_fewer_printed_digits_allow_more(recomputed, printed):
    assert judge(Answer(recomputed), printed)[0] == REPRODUCED


@pytest.mark.parametrize(("recomputed", "printed"), [(173505.9, "173505"), (-1.99, "-1"), (0.8857, "0.88")])
def test_a_number_whose_digits_are_cut_off_is_reproduced_and_says_so(recomputed, printed):
    assert judge(Answer(recomputed), printed) == (REPRODUCED, CUT_OFF)


@pytest.mark.parametrize(
    ("recomputed", "printed"),
    [
        (0.5949, "0.60"),
        (0.6101, "0.60"),
        (173504.4, "173505"),
        (173506.0, "173505"),
        (-1.99, "1"),
        (0.001, "< 0.001"),
        (7.0, "> 7"),
        (12.1, "~11"),
        (9.9, "~11"),
    ],
)
def test_a_number_beyond_rounding_deviates(recomputed, printed):
    assert judge(Answer(recomputed), printed)[0] == DEVIATES


def test_a_number_made_of_rounded_ones_may_miss_by_their_rounding():
    # 42.18 W x 22.69 s is 957.06 J, and 956.95 J is printed: half a hundredth of a second is 0.2 J.
    product = Answer(957.0642, low=42.175 * 22.685, high=42.185 * 22.695)
    assert judge(product, "956.95") == (REPRODUCED, OF_ROUNDED)
    assert judge(product, "956.70")[0] == DEVIATES


def test_zeros_that_a_table_drops_count_as_printed():
    assert judge(Answer(1136.2), "1136")[0] == REPRODUCED
    assert judge(Answer(1136.2), "1136", decimals=2)[0] == DEVIATES


def test_words_are_compared_as_they_are():
    assert judge(Answer("large data"), "large data")[0] == REPRODUCED
    assert judge(Answer("large data"), "unknown")[0] == DEVIATES


def test_what_is_not_known_cannot_be_recomputed_and_says_why():
    assert judge(Answer(None, "raw data not given"), "12") == (UNKNOWN, "raw data not given")


def test_no_number_is_no_agreement():
    assert judge(Answer(float("nan")), "12") == (UNKNOWN, "the recount gives no number")


def test_a_number_is_not_compared_with_words():
    with pytest.raises(FramewattError, match="published number: 'about ten' is not a number"):
        judge(Answer(10.0), "about ten")


def test_no_number_is_read_out_of_words():
    assert read_printed("invalid") is None
    assert read_printed("1.2.3") is None


def test_the_frame_holds_both_numbers_and_how_far_they_are_apart():
    recounts = [
        Recount("Table 1", "row", "energy", "200", "J", Answer(205.0), "how"),
        Recount("Table 1", "row", "p", "< 0.001", "p", Answer(0.5), "how"),
        Recount("Table 2", "row", "energy", "200", "J", Answer(None, "not published"), "how"),
    ]
    frame = verdicts("study", recounts)
    assert list(frame.columns) == VERDICTS_COLUMNS
    assert frame.loc[0, "deviation"] == 5
    assert frame.loc[0, "deviation_percent"] == pytest.approx(2.5)
    assert frame["verdict"].tolist() == [DEVIATES, DEVIATES, UNKNOWN]
    assert pd.isna(frame.loc[1, "deviation"]), "a bound has no deviation"
    assert pd.isna(frame.loc[2, "recomputed"])


def test_verdicts_are_counted_in_the_order_of_the_paper():
    recounts = [
        Recount("Table 2", "row", "column", "1", "", Answer(1.0), ""),
        Recount("Table 1", "row", "column", "1", "", Answer(2.0), ""),
    ]
    counted = counts(verdicts("study", recounts))
    assert counted["table"].tolist() == ["Table 2", "Table 1"]
    assert counted[REPRODUCED].tolist() == [1, 0]
    assert counted[UNKNOWN].tolist() == [0, 0]
