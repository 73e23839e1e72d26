"""Language modelling: how a text is dealt into streams, and perplexity over all of its tokens."""

import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest

from framewatt.datasets.contract import Arrays
from framewatt.datasets.segments import make_segments
from framewatt.tasks import task_of
from framewatt.tasks.contract import TEST, TRAIN, Step

TASK = task_of("language_modelling")
WORDS = 50


def text(tokens: int, segment: int = 4) -> Arrays:
    """A text of some tokens to learn from and to predict."""
    drawn = np.random.default_rng(0).integers(WORDS, size=tokens)
    return make_segments(
        drawn, drawn[::-1].copy(), segment=segment, vocabulary=WORDS, about={}, task="language_modelling"
    )


def steps(split: str, data: Arrays, batch_size: int) -> list[Step]:
    return list(TASK.plan(split, data, batch_size))


@pytest.mark.parametrize("batch_size", [1, 3, 7, 10, 64])
def test_every_token_of_the_test_text_is_predicted_once(batch_size: int) -> None:
    """Ten segments, of which the last has two tokens, in as many streams as a batch has samples."""
    data = text(39)
    dealt = steps(TEST, data, batch_size)
    assert sorted(np.concatenate([step.indices for step in dealt])) == list(range(10))
    assert sum(step.units for step in dealt) == 38
    assert [len(step.indices) for step in dealt] == sorted((len(step.indices) for step in dealt), reverse=True)


@pytest.mark.parametrize("split", [TRAIN, TEST])
def test_a_stream_goes_on_where_it_was(split: str) -> None:
    """What a row of a batch has seen is what comes right before its segment; only the first step begins anew."""
    dealt = steps(split, text(39), 3)
    assert [step.carries_state for step in dealt] == [False] + [True] * (len(dealt) - 1)
    for before, after in itertools.pairwise(dealt):
        assert (after.indices == before.indices[: len(after.indices)] + 1).all()


def test_streams_of_the_training_text_are_equally_long_and_leave_the_rest_out() -> None:
    dealt = steps(TRAIN, text(4 * 10 + 1), 3)
    assert [step.indices.tolist() for step in dealt] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert [step.units for step in dealt] == [12, 12, 12]


def test_outputs_come_back_in_the_order_of_the_text() -> None:
    data = text(39)
    dealt = steps(TEST, data, 3)
    outputs = [np.repeat(step.indices[:, None].astype(float), 4, axis=1) for step in dealt]
    assert TASK.in_order(outputs, dealt)[:, 0].tolist() == list(range(10))


def test_a_model_that_knows_nothing_is_as_undecided_as_there_are_words() -> None:
    data = text(39)
    judged = TASK.judge(np.full((10, 4), np.log(WORDS), np.float32), data)
    assert judged.values == {"perplexity": pytest.approx(WORDS)}


def test_padding_behind_the_last_token_does_not_count() -> None:
    data = text(39)
    each = np.full((10, 4), np.log(8.0))
    each[-1, 2:] = 1e9
    assert TASK.judge(each, data).values["perplexity"] == pytest.approx(8)
    each[-1, 1] = np.log(8.0) + 38
    assert TASK.judge(each, data).values["perplexity"] == pytest.approx(8 * np.e)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda each: each[:, :3], r"outputs of shape \(10, 3\) are no likelihoods of \(10, 4\) tokens"),
        (lambda each: np.where(each > 2, np.nan, each), "outputs are not numbers"),
        (lambda each: each + 1e4, "outputs are not numbers"),
        (lambda each: each - 4, "some token is more probable than 1"),
    ],
)
def test_what_cannot_be_a_likelihood_gives_no_perplexity(change: Callable[[np.ndarray], np.ndarray], why: str) -> None:
    judged = TASK.judge(change(np.full((10, 4), 2.5)), text(39))
    assert judged.values == {"perplexity": None}
    assert re.fullmatch(why, judged.unknown or "")
