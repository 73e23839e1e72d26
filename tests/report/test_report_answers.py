"""The head of the report and its answers in words."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from report_factory import MXNET, TENSORFLOW, TORCH, answered_study, head, judged, material, page, questions

from framewatt.frames.totals import TOTAL
from framewatt.report import problems


def test_nothing_that_counts_is_said_in_words(figures: Path) -> None:
    found = material()
    runs = found.runs[found.runs["domain"] == TOTAL].assign(status="failed", valid=False)
    epochs = found.epochs.iloc[:0]
    soup = page(dataclasses.replace(found, runs=runs, epochs=epochs, **judged(runs, epochs)), figures)
    assert "the study has no answer" in soup.select_one(".head").text
    assert f"0 of {found.planned} planned runs count" in soup.select_one(".head").text


def test_the_head_names_the_one_that_costs_least_with_its_interval_and_blocks() -> None:
    for cheap, dear in ((TORCH, TENSORFLOW), (TENSORFLOW, TORCH)):
        found = answered_study({cheap: [1.0, 1.1, 0.9, 1.0], dear: [2.02, 2.2, 1.8, 1.98]})
        # Ratios 2.02, 2, 2, 1.98: 1 - 1/2 = 50 %; Student's interval of their logarithms is 1.974 to 2.026.
        assert head(found).text == (
            f"On this machine, in this session: {cheap.runtime} takes the least energy for one sample "
            f"(Inference, batch 1 (resnet50, digits)), 50 % less than {dear.runtime} (95 % interval 49 to 51 %), "
            "after 4 blocks. 8 of 8 planned runs count."
        )


def test_the_head_says_what_is_not_settled_and_what_the_others_cost_at_least() -> None:
    near = [1.00, 1.02, 0.99, 1.01, 1.00, 1.01]
    dear = [1.50, 1.52, 1.49, 1.50, 1.51, 1.50]
    found = answered_study({TORCH: near, TENSORFLOW: [1.001 * j for j in near[::-1]], MXNET: dear})
    assert head(found).text.startswith(
        "On this machine, in this session: Not settled between torch and tensorflow in energy for one sample "
        "(Inference, batch 1 (resnet50, digits)): less than 2.2 % apart; the other, mxnet, costs at least 47 % more; "
        "after 6 blocks."
    )


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ({TORCH: [1.0, 1.1]}, "No two comparable cells have an energy that counts, so the study has no answer."),
        ({TORCH: [None], MXNET: [None]}, "No two comparable cells have an energy that counts"),
        ({TORCH: [1.0, 1.1], MXNET: [None, None]}, "No two comparable cells have an energy that counts"),
        ({TORCH: [1.0], MXNET: [9.0]}, "digits)): 1 block cannot tell, at least 3 are needed; after 1 block."),
        ({TORCH: [1.0] * 3, MXNET: [2.0] * 3}, "how far they are apart is not known; after 3 blocks."),
        ({TORCH: [1.0] * 8, MXNET: [2.0] * 8}, "50 % less than mxnet (no interval: the ratio is the same in every bl"),
        ({TORCH: [1.0, None, 1.1], MXNET: [None, 2.0, None]}, "0 blocks cannot tell, at least 3 are needed;"),
    ],
)  # fmt: skip
def test_a_study_with_too_little_says_so(levels: dict, told: str) -> None:
    assert told in head(answered_study(levels)).text


@pytest.mark.parametrize(
    ("apart", "told"),
    [
        (4300.0, "; mxnet takes 4,300x (95 % interval 4,2"),
        (12.0, "; mxnet takes 12.0x (95 % interval 11.9x to 12.1x), after 8 blocks."),
        (1.0034, ", but 0.34 % less than mxnet (95 % interval 0.3"),
        (1.0000012, ", but 0.00012 % less than mxnet ("),
        (1.02, ", 2.0 % less than mxnet (95 % interval 1.9 to 2.1 %), after 8 blocks."),
    ],
)  # fmt: skip
def test_a_difference_is_told_in_the_digits_that_say_something(apart: float, told: str) -> None:
    scatter = min(0.02, 0.05 * (apart - 1))
    base = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.0]
    shift = np.array([1.0, -0.6, 0.4, -1.0, 0.2, 0.6, -0.4, -0.2])
    found = answered_study({TORCH: base, MXNET: list(np.array(base) * apart * (1 + scatter * shift))})
    said = head(found).text
    assert told in said
    assert ("makes no practical difference" in said) == (apart < 1.005)


def test_runs_that_are_no_blocks_are_no_blocks_in_the_head() -> None:
    found = answered_study({TORCH: [1.0, 1.1, 0.9, 1.0], MXNET: [2.0, 2.2, 1.8]}, test="welch")
    assert head(found).text.endswith("after 3 runs of each. 7 of 7 planned runs count.")
    assert head(dataclasses.replace(found, plan={**found.plan, "source": "files"})).text.startswith(
        "In the runs that were read: torch takes the least"
    )


def test_one_disturbed_run_gives_no_sentence_against_the_one_that_costs_less_in_all_others() -> None:
    base = [1.0, 1.03, 0.98, 1.01, 0.97, 1.02, 1.04, 0.99, 1.0, 1.01, 0.96, 1.02]
    cheaper = [0.9 * j * f for j, f in zip(base, [1, 1.01, 0.99] * 4, strict=True)]
    disturbed = [*cheaper[:-1], 25 * cheaper[-1]]
    found = answered_study({TORCH: base, MXNET: disturbed})
    assert "Not settled between torch and mxnet" in head(found).text
    said = " ".join(sentence for one in questions(found) for sentence in one.sentences)
    assert "torch takes the least" not in said
    flags = found.comparisons["flags"]
    assert flags.str.contains("which costs more depends on the estimate").any()


def test_a_study_that_drifts_says_so_among_its_answers_and_flags() -> None:
    rising = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    found = answered_study({TORCH: rising, MXNET: [2 * j for j in rising], TENSORFLOW: [3 * j for j in rising]})
    said = " ".join(sentence for one in questions(found) for sentence in one.sentences)
    assert (
        "Over the study energy drifted: the last runs took 50 % more than the first (r = 1.00 over 6 blocks)." in said
    )
    (row, _) = next(table.rows for table in problems.flag_tables(found) if table.name == "drift")
    assert row[:3] == ["energy_per_sample_j", "6 blocks", "+50"]
    steady = answered_study({TORCH: [1.0, 1.1, 0.9, 1.0], MXNET: [2.0, 2.2, 1.8, 2.1]})
    assert "drift" not in {table.name for table in problems.flag_tables(steady)}


def test_one_procedure_speaks_unless_the_study_asks_for_another() -> None:
    levels = {TORCH: [1.0, 1.1, 0.9, 1.0], MXNET: [2.0, 2.2, 1.8, 2.1], TENSORFLOW: [3.0, 3.2, 2.8, 3.1]}
    for test, beside in (("t", False), ("wilcoxon", True)):
        said = " ".join(s for one in questions(answered_study(levels, test=test)) for s in one.sentences)
        assert "torch takes the least energy" in said
        assert ("Friedman" in said) == beside
        assert "significant" not in said


def test_largest_variation_is_named_with_its_cell() -> None:
    found = material()
    cells = found.cells.copy()
    row = cells.index[(cells["quantity"] == "energy_per_sample_j")][2]
    cells.loc[row, "cv_percent"] = 104.0
    answer = next(a for a in questions(dataclasses.replace(found, cells=cells)) if "repeat" in a.question)
    assert "104 %" in answer.sentences[0]
    assert cells.loc[row, "cell"] in answer.sentences[0]
    assert answer.sentences[1].startswith("1 of 15 cells")


def test_runs_that_break_what_the_tests_take_for_granted_are_told_beside_the_answer() -> None:
    steady = [1.00, 1.02, 0.99, 1.01, 1.00, 1.01, 0.98, 1.02]
    question = "What do these answers assume?"
    sound = answered_study({TORCH: steady, TENSORFLOW: [2.0 * j for j in steady[::-1]]})
    (told,) = [one.sentences for one in questions(sound) if one.question == question]
    assert told[1] == "There is no sign of either. Few blocks would not show one."
    assert "than its others" not in head(sound).text
    dear = [2 * j for j in steady]
    slow = answered_study({TORCH: steady, TENSORFLOW: [*dear[:4], 9.0, *dear[5:]]})
    sign = "1 of 8 runs of tensorflow took far more than its others"
    assert sign in head(slow).text
    (told,) = [one.sentences for one in questions(slow) if one.question == question]
    assert [one for one in told if one.startswith(f"Inference, batch 1 (resnet50, digits), energy: {sign}")]
    alone = answered_study({TORCH: steady})
    assert question not in [one.question for one in questions(alone)]


def test_a_study_that_compares_nothing_names_what_varies_and_the_line_that_compares_it() -> None:
    found = answered_study({TORCH: [1.0, 1.1, 1.05], TENSORFLOW: [2.0, 2.2, 2.1]})
    settings = found.plan["settings"]
    plan = {**found.plan, "settings": {**settings, "statistics": {**settings["statistics"], "compare": ["provider"]}}}
    lead = head(dataclasses.replace(found, plan=plan, answers=found.answers.iloc[:0])).lead
    assert lead == (
        "No cell of the study is compared with another, since runtime varies and is not compared. To compare the "
        "cells, add to the study: statistics: {compare: [provider, runtime]}."
    )
