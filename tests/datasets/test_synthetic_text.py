"""Drawn text: its own grammar knows it best, and a model with a memory can know more of it than trigrams do."""

from typing import Any

import numpy as np
import pytest
from checkout import ROOT

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays, synthetic_text
from framewatt.datasets.catalogue import load_catalogue
from framewatt.datasets.contract import Arrays
from framewatt.datasets.synthetic_text import Grammar

FEW = {"vocabulary": 120, "train_tokens": 4000, "test_tokens": 1000, "segment": 16}
END, TOPICS, FIRST = 0, 8, 9
CATALOGUE = load_catalogue(ROOT / "config/datasets.yaml", ROOT / "config/schemas/datasets.schema.yaml")


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.drawn(80, np.random.default_rng(0))


def few(**changed: Any) -> Arrays:
    return synthetic_text.make(**{**FEW, "seed": 0, **changed})


@pytest.mark.parametrize("name", ["synthetic-text", "synthetic-text-few"])
def test_its_source_knows_it_best_then_trigrams_then_unigrams(name: str) -> None:
    data = make_arrays(CATALOGUE.definitions[name])
    source, trigram, unigram = (data.about[f"{model}_perplexity"] for model in ("source", "trigram", "unigram"))
    # What is between the source and trigrams is what a memory of the topic is good for, and what was seen too seldom.
    assert source * 1.4 < trigram < unigram / 1.6
    assert unigram < data.classes
    assert data.about["synthetic"] is True
    row = f"| `{name}` | {unigram:.1f} | {trigram:.1f} | {source:.1f} |"
    assert row in (ROOT / "docs" / "datasets.md").read_text().splitlines()


def test_there_are_as_many_tokens_as_asked_for() -> None:
    data = few()
    assert (data.about["train_tokens"], data.about["test_tokens"], data.classes) == (4000, 1000, 120)
    assert (data.x_train.shape, data.x_test.shape) == ((249, 16), (63, 16))
    assert data.lengths_test.sum() == 999


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    one, again, other = few(), few(), few(seed=1)
    assert np.array_equal(one.x_train, again.x_train)
    assert np.array_equal(one.x_test, again.x_test)
    assert one.about == again.about
    assert not np.array_equal(one.x_test, other.x_test)


def test_training_and_test_are_drawn_apart() -> None:
    data = few(test_tokens=4000)
    assert np.mean(data.x_train == data.x_test[:249]) < 0.1


def test_words_are_numbered_by_falling_frequency_in_training() -> None:
    data = few(segment=1)
    tokens = np.append(data.x_train, data.y_train[-1])
    counts = np.bincount(tokens, minlength=120)
    assert (np.diff(counts) <= 0).all()
    assert (counts[0], counts.sum()) == (max(counts), 4000)


def test_documents_begin_with_their_topic_which_stands_nowhere_else(grammar: Grammar) -> None:
    text = grammar.text(50_000, np.random.default_rng(1))
    begins = np.append(True, text[:-1] == END)
    named = (text > END) & (text < FIRST)
    assert np.array_equal(begins, named)
    assert set(text) <= set(range(80))
    # All topics are as likely, and documents end after 50 words on average.
    shares = np.bincount(text[begins], minlength=FIRST)[1:FIRST] / begins.sum()
    assert shares == pytest.approx(np.full(TOPICS, 1 / TOPICS), abs=0.03)
    assert np.mean(text[~begins] == END) == pytest.approx(0.02, abs=0.003)


def test_the_grammars_probabilities_sum_to_one_after_any_words(grammar: Grammar) -> None:
    text = grammar.text(200, np.random.default_rng(2))
    begins = [0, *(np.flatnonzero(text[:-1] == END) + 1)]
    for count in (*range(1, 60), 199):
        words = range(1, FIRST) if count in begins else range(80)
        total = sum(grammar.probabilities(np.append(text[:count], word))[-1] for word in words)
        assert total == pytest.approx(1, rel=1e-12)
    first = [grammar.probabilities(np.array([topic]))[0] for topic in range(1, FIRST)]
    assert first == [1 / TOPICS] * TOPICS


def test_a_probability_is_the_one_that_the_grammar_says(grammar: Grammar) -> None:
    """Of a word that follows the last one most often, is the topic's second, and is in its place among all words."""
    last, topic = 40, 3
    one = Grammar(80, grammar.successors.copy(), grammar.of_topic.copy())
    word = 50
    one.successors[last], one.of_topic[topic, :2] = [word, 60, 61, 62], [70, word]
    one.of_topic[topic, 2:] = range(9, 27)
    found = one.probabilities(np.array([1 + topic, last, word, END]))
    of_four, of_twenty, of_all = (sum(1 / rank for rank in range(1, size + 1)) for size in (4, 20, 80 - 9))
    wanted = 0.98 * (0.5 / of_four + 0.35 / 2 / of_twenty + 0.15 / (word - 9 + 1) / of_all)
    assert found[[0, 2, 3]] == pytest.approx([1 / 8, wanted, 0.02])


def test_words_come_as_often_as_their_probability_says(grammar: Grammar) -> None:
    """Were a text drawn otherwise than its probabilities are worked out, the source's perplexity would be a lie."""
    text = grammar.text(8_000, np.random.default_rng(3))
    ends = np.flatnonzero(text == END)
    said, came = [], []
    for begin, end in zip(ends[:-1] + 1, ends[1:], strict=True):
        for place in range(begin + 1, end + 1):
            follows, of_topic = grammar.successors[text[place - 1], 0], grammar.of_topic[text[begin] - 1, 0]
            for word in (END, follows, of_topic):
                said.append(grammar.probabilities(np.append(text[begin:place], word))[-1])
                came.append(text[place] == word)
    chances, hits = np.array(said).reshape(-1, 3), np.array(came).reshape(-1, 3)
    deviations = (hits - chances).sum(axis=0) / np.sqrt((chances * (1 - chances)).sum(axis=0))
    assert (np.abs(deviations) < 4).all(), deviations


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"train_tokens": 16}, "training tokens: there are 16. Use 17 or more"),
        ({"test_tokens": 1}, "test tokens: there are 1. Use 2 or more"),
        ({"train_tokens": 0}, "training tokens: there are 0. Use 17 or more"),
        ({"test_tokens": 0}, "test tokens: there are 0. Use 2 or more"),
        ({"segment": 0}, "segment: 0 is too small"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed: dict[str, int], reason: str) -> None:
    with pytest.raises(FramewattError, match=f"^{reason}"):
        few(**changed)


def test_the_smallest_text_is_one() -> None:
    data = few(vocabulary=64, train_tokens=2, test_tokens=2, segment=1)
    assert (data.x_train.shape, data.x_test.shape, data.classes) == ((1, 1), (1, 1), 64)
