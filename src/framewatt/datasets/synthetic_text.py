"""Text by a grammar that is drawn: it can be learnt, and is like no real language.

Its names in config/datasets.yaml must begin with `synthetic`, so that every table and figure shows what it is.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.ngrams import perplexities, perplexity
from framewatt.datasets.options import Limits, Positive, Seed
from framewatt.datasets.record import about
from framewatt.datasets.segments import Segments, Tokens, by_frequency, make_segments, renumber

FEWEST = 64
"""Words of the smallest vocabulary."""

_END = 0
_TOPICS = 8
_FIRST = 1 + _TOPICS
"""The first word that is neither the end of a document nor a topic."""

_SUCCESSORS = 4
_OF_TOPIC = 20
_END_SHARE, _SUCCESSOR_SHARE, _TOPIC_SHARE = 0.02, 0.5, 0.35
"""How often a document ends; and if not, how often the next word is a successor of the last, or one of the topic's."""


def make(
    *,
    vocabulary: Annotated[int, Limits(FEWEST)],
    train_tokens: Positive,
    test_tokens: Annotated[int, Limits(2)],
    segment: Positive,
    seed: Seed,
) -> Segments:
    """Documents of about 50 words, each started by its topic; training and test are drawn apart by the same grammar.

    The next word is one of four that often follow the last, or one of the topic's own, or any. A trigram can know the
    first; a topic, which only the first word of its document names, takes a memory of that length. The record's
    `source_perplexity` is what the grammar itself reaches on the test text: no model is expected to be better.

    Args:
        vocabulary: words, with those that end a document or name its topic.
        train_tokens: tokens to learn from.
        test_tokens: tokens to predict.
        segment: tokens of a segment.
        seed: of grammar and texts.

    Raises:
        FramewattError: see streams.make_segments.
    """
    draw = np.random.default_rng(seed)
    grammar = Grammar.drawn(vocabulary, draw)
    train, test = (grammar.text(count, draw) for count in (train_tokens, test_tokens))
    of_test = grammar.probabilities(test)[1:]
    ranks = by_frequency(train, vocabulary)
    for tokens in (train, test):
        renumber(tokens, ranks)
    facts = about(
        f"drawn documents of {_TOPICS} topics; ids by falling frequency in the training text", synthetic=True, seed=seed
    )
    arrays = make_segments(train, test, segment=segment, vocabulary=vocabulary, about=facts, task="language_modelling")
    reached = {"source_perplexity": perplexity(of_test), **perplexities(train, test, vocabulary)}
    return replace(arrays, about={**arrays.about, **reached})


@dataclass(frozen=True)
class Grammar:
    """What comes after what. Words are frequent as 1 / rank, among successors and among a topic's words, too.

    Attributes:
        vocabulary: words: the one that ends a document, the topics, and all others.
        successors: of each word, shape (vocabulary, 4).
        of_topic: of each topic, its own words, shape (topics, 20).
    """

    vocabulary: int
    successors: Tokens
    of_topic: Tokens

    @classmethod
    def drawn(cls, vocabulary: int, draw: np.random.Generator) -> "Grammar":
        """Return a grammar of so many words, at least FEWEST."""
        others = np.arange(_FIRST, vocabulary)
        shares = _zipf(len(others))
        successors = [draw.choice(others, _SUCCESSORS, replace=False, p=shares) for _ in range(vocabulary)]
        of_topic = [draw.choice(others, _OF_TOPIC, replace=False) for _ in range(_TOPICS)]
        return cls(vocabulary, np.array(successors), np.array(of_topic))

    def text(self, count: int, draw: np.random.Generator) -> Tokens:
        """Documents one after another, the last one cut; shape (count,), int64."""
        ended = [_END_SHARE, *(share * (1 - _END_SHARE) for share in _shares())]
        kinds = draw.choice(4, count, p=ended).tolist()
        which = [draw.choice(size, count, p=_zipf(size)).tolist() for size in (_SUCCESSORS, _OF_TOPIC)]
        any_word = (_FIRST + draw.choice(self.vocabulary - _FIRST, count, p=_zipf(self.vocabulary - _FIRST))).tolist()
        topics = draw.integers(_TOPICS, size=count).tolist()
        successors, of_topic = self.successors.tolist(), self.of_topic.tolist()
        tokens, word, topic = np.empty(count, np.int64), _END, 0
        for place, kind in enumerate(kinds):
            if word == _END:
                topic = topics[place]
                word = 1 + topic
            else:
                word = (
                    _END,
                    successors[word][which[0][place]],
                    of_topic[topic][which[1][place]],
                    any_word[place],
                )[kind]
            tokens[place] = word
        return tokens

    def probabilities(self, tokens: Tokens) -> NDArray[np.float64]:
        """Return the grammar's own probability of each word after all words before it, from the document's first on.

        Args:
            tokens: as `text` gives them, shape (n,).

        Returns:
            Shape (n,).
        """
        before = np.concatenate([[_END], tokens[:-1]])
        begins = before == _END
        # The place where each word's document started, and the topic there.
        topic = tokens[np.maximum.accumulate(np.where(begins, np.arange(len(tokens)), 0))] - 1
        by = [
            (self.successors[before] == tokens[:, None]) @ _zipf(_SUCCESSORS),
            (self.of_topic[topic] == tokens[:, None]) @ _zipf(_OF_TOPIC),
            np.where(tokens < _FIRST, 0.0, _zipf(self.vocabulary - _FIRST)[tokens - _FIRST]),
        ]
        goes_on = (1 - _END_SHARE) * np.array(_shares()) @ np.array(by)
        first = ((tokens >= 1) & (tokens < _FIRST)) / _TOPICS
        shares: NDArray[np.float64] = np.where(begins, first, np.where(tokens == _END, _END_SHARE, goes_on))
        return shares


def _shares() -> tuple[float, float, float]:
    """Return how often a word of a document is a successor, one of the topic's, or any."""
    return _SUCCESSOR_SHARE, _TOPIC_SHARE, 1 - _SUCCESSOR_SHARE - _TOPIC_SHARE


def _zipf(size: int) -> NDArray[np.float64]:
    """Shares as 1 / rank, shape (size,)."""
    weights = 1 / np.arange(1, size + 1)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares
