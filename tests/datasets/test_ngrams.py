"""N-gram models: their probabilities are those of a slow model that is read off the formula, and sum to one."""

import itertools
from collections import Counter

import numpy as np
import pytest
from checkout import ROOT
from samples import sample

from framewatt.datasets import ngrams, wikitext
from framewatt.datasets.ngrams import (
    discounts_of,
    perplexities,
    perplexity,
    trigram_probabilities,
    unigram_probabilities,
)

WORDS = 7


def text(count: int, seed: int = 0) -> np.ndarray:
    """Words that are more or less frequent, and some of which follow each other often; the last one never occurs."""
    draw = np.random.default_rng(seed)
    words = draw.choice(WORDS - 1, count, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    follows = draw.random(count) < 0.4
    for place in np.flatnonzero(follows[1:]) + 1:
        words[place] = (words[place - 1] * 2 + 1) % (WORDS - 1)
    return words


TEXTS = {
    "long": text(400),
    "short": text(12),
    "no pair twice": np.array([0, 1, 2, 3, 4, 5]),
    "nothing rare": np.array([0, 1] * 40),
    "one word": np.zeros(30, np.int64),
    "three tokens": np.array([2, 2, 1]),
    "two tokens": np.array([2, 1]),
    "one token": np.array([3]),
}


class Slow:
    """Interpolated modified Kneser-Ney as Chen and Goodman write it, with dictionaries."""

    def __init__(self, train: np.ndarray) -> None:
        words = train.tolist()
        pairs, triples = set(itertools.pairwise(words)), Counter(zip(words, words[1:], words[2:], strict=False))
        self.counts = {
            3: dict(triples),
            2: dict(Counter((second, third) for _, second, third in triples)),
            1: dict(Counter((second,) for _, second in pairs)),
        }

    def discount(self, order: int, count: int) -> float:
        times = Counter(self.counts[order].values())
        single = times[1] / (times[1] + 2 * times[2]) if times[1] else 0.5
        if not (times[1] and times[2] and times[3]):
            return single
        three = [k - (k + 1) * single * times[k + 1] / times[k] for k in (1, 2, 3)]
        return three[min(count, 3) - 1] if min(three) > 0 else single

    def probability(self, history: tuple[int, ...], word: int) -> float:
        shorter = self.probability(history[1:], word) if history else 1 / WORDS
        order = len(history) + 1
        after = {key[-1]: count for key, count in self.counts[order].items() if key[:-1] == history}
        if not after:
            return shorter
        total = sum(after.values())
        left = after[word] - self.discount(order, after[word]) if word in after else 0
        taken = sum(self.discount(order, count) for count in after.values())
        return left / total + taken / total * shorter


@pytest.mark.parametrize("name", TEXTS)
def test_every_probability_is_that_of_the_slow_model(name: str) -> None:
    slow = Slow(TEXTS[name])
    for test in itertools.product(range(WORDS), repeat=3):
        found = trigram_probabilities(TEXTS[name], np.array(test), WORDS)
        wanted = [slow.probability(test[:1], test[1]), slow.probability(test[:2], test[2])]
        assert found == pytest.approx(wanted, rel=1e-12), test


@pytest.mark.parametrize("name", TEXTS)
def test_probabilities_of_all_words_after_any_history_sum_to_one(name: str) -> None:
    for first, second in itertools.product(range(WORDS), repeat=2):
        tests = [np.array([first, second, word]) for word in range(WORDS)]
        third = [trigram_probabilities(TEXTS[name], test, WORDS)[1] for test in tests]
        assert sum(third) == pytest.approx(1, rel=1e-12)
        assert min(third) > 0
    for first in range(WORDS):
        after = [trigram_probabilities(TEXTS[name], np.array([first, word]), WORDS)[0] for word in range(WORDS)]
        assert sum(after) == pytest.approx(1, rel=1e-12)


def test_a_whole_text_is_predicted_token_by_token() -> None:
    test = text(60, seed=1)
    slow = Slow(TEXTS["long"])
    wanted = [slow.probability(tuple(test[max(0, place - 2) : place].tolist()), test[place]) for place in range(1, 60)]
    assert trigram_probabilities(TEXTS["long"], test, WORDS) == pytest.approx(wanted, rel=1e-12)
    told = perplexities(TEXTS["long"], test, WORDS)
    assert told["trigram_perplexity"] == pytest.approx(np.exp(-np.mean(np.log(wanted))))


def test_unigrams_are_counted_with_one_added_and_sum_to_one() -> None:
    train = np.array([0, 0, 1])
    assert unigram_probabilities(train, np.array([2, 0, 1, 2]), 3).tolist() == [3 / 6, 2 / 6, 1 / 6]
    assert perplexity(np.array([0.5, 0.125])) == pytest.approx(4)
    assert perplexities(train, np.array([2, 0]), 3)["unigram_perplexity"] == pytest.approx(2)


def test_the_first_token_is_history_alone() -> None:
    unigram, trigram = unigram_probabilities, trigram_probabilities
    for probabilities in (unigram, trigram):
        assert len(probabilities(TEXTS["long"], np.array([1, 2, 3, 4]), WORDS)) == 3
    assert unigram(TEXTS["long"], np.array([0, 2]), WORDS) == unigram(TEXTS["long"], np.array([5, 2]), WORDS)


@pytest.mark.parametrize(
    ("counts", "discounts"),
    [
        # n1 to n4 are 4, 2, 1, 1: Y is 4 / 8.
        ([1, 1, 1, 1, 2, 2, 3, 4], [0.5, 2 - 1.5 * 1 / 2, 3 - 2 * 1 / 1]),
        # As many counts of three as of one: two of them would be discounted by less than nothing.
        ([1, 1, 1, 2, 3, 3, 3], [0.6, 0.6, 0.6]),
        ([1, 1, 2, 2], [1 / 3, 1 / 3, 1 / 3]),
        ([1, 1, 1], [1, 1, 1]),
        ([5, 5], [0.5, 0.5, 0.5]),
        ([], [0.5, 0.5, 0.5]),
    ],
)
def test_three_discounts_or_one_where_they_make_no_sense(counts: list[int], discounts: list[float]) -> None:
    assert discounts_of(np.array(counts, np.int64))[1:] == pytest.approx(discounts)


def test_of_a_long_text_trigrams_are_not_counted_and_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "MOST_TOKENS", 399)
    told = perplexities(TEXTS["long"], text(50), WORDS)
    assert told["unigram_perplexity"] > 1
    assert told["trigram_perplexity"] is None
    assert told["trigram_perplexity_reason"] == "400 training tokens; trigrams are counted of at most 399"
    monkeypatch.setattr(ngrams, "MOST_TOKENS", 400)
    assert "trigram_perplexity_reason" not in perplexities(TEXTS["long"], text(50), WORDS)


def test_large_vocabularies_do_not_run_over() -> None:
    """Two words of three million as one number need 43 bits; three of them would not fit 64."""
    train, test, far = text(400), text(50, seed=1), 2_999_990
    near = trigram_probabilities(train, test, 3_000_000)
    assert trigram_probabilities(train + far, test + far, 3_000_000) == pytest.approx(near, rel=1e-12)


def test_a_real_text_is_as_surprising_as_texts_are() -> None:
    """A text of 218,000 words knows few trigrams of another."""
    told = wikitext.make(sample("wikitext-2"), train="wiki.valid.tokens", test="wiki.test.tokens", segment=64).about
    assert told["unigram_perplexity"] == pytest.approx(562.024, abs=1e-3)
    assert told["trigram_perplexity"] == pytest.approx(231.403, abs=1e-3)
    assert "| `wikitext-2-valid` | 562.0 | 231.4 |" in (ROOT / "docs" / "datasets.md").read_text()
