"""A language that is drawn, and its translation into another: it can be learnt, and is like no real language.

Its names in config/datasets.yaml must begin with `synthetic`, so that every table and figure shows what it is.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.datasets.options import Limits, Positive, Seed
from framewatt.datasets.pairs import FIRST, UNK, Corpus, Pairs, make_pairs
from framewatt.datasets.record import about
from framewatt.datasets.subwords import vocabulary_of

SHORTEST = 4
"""Words of the shortest sentence: BLEU counts four in a row."""

_TRIES = 100
"""How many sentences are drawn, for each that is wanted, until it is clear that there are not so many."""

Sentence = tuple[int, ...]
"""Numbers of words, from 0."""


def make(
    *,
    vocabulary: Annotated[int, Limits(2)],
    train_pairs: Positive,
    test_pairs: Positive,
    longest: Annotated[int, Limits(SHORTEST)],
    seed: Seed,
) -> Pairs:
    """Sentences of words that are frequent as 1 / rank, each translated word by word and turned round.

    A lexicon, which is drawn, has one word of the other language for each; both languages have the same words. The
    first word of a translation is that of the source's last: a model has to look back, and ever further. No sentence
    comes twice, and none of the test set in training.

    Args:
        vocabulary: words.
        train_pairs: pairs to learn from.
        test_pairs: pairs to translate.
        longest: most words of a sentence; the fewest are 4.
        seed: of lexicon and sentences.

    Raises:
        FramewattError: there are not so many different sentences.
    """
    draw = np.random.default_rng(seed)
    lexicon = draw.permutation(vocabulary).tolist()
    sentences = _drawn(vocabulary, train_pairs + test_pairs, longest, draw)
    translated = [tuple(lexicon[word] for word in reversed(sentence)) for sentence in sentences]
    # Sentences that were drawn late are rarer, since none comes twice.
    order = draw.permutation(len(sentences)).tolist()
    learnt, tested = ([(sentences[one], translated[one]) for one in some] for some in _split(order, train_pairs))
    counts = Counter(chain.from_iterable(chain(*pair) for pair in learnt))
    pieces = vocabulary_of({_text([word]): count for word, count in counts.items()})
    ids = {text: number for number, text in enumerate(pieces) if number >= FIRST}
    facts = about("drawn sentences; ids by falling frequency in the training pairs", synthetic=True, seed=seed)
    sources, references = ([_text(sentence) for sentence in side] for side in zip(*tested, strict=True))
    train, test = (_corpus(pairs, ids) for pairs in (learnt, tested))
    return make_pairs(
        *(train, test), pieces=pieces, sources=sources, references=references, about=facts, task="translation"
    )


def _drawn(vocabulary: int, count: int, longest: int, draw: np.random.Generator) -> list[Sentence]:
    """So many sentences, each another one."""
    shares = 1 / np.arange(1, vocabulary + 1)
    sentences: dict[Sentence, None] = {}
    for _ in range(_TRIES):
        lengths = draw.integers(SHORTEST, longest + 1, size=count).tolist()
        words = draw.choice(vocabulary, (count, longest), p=shares / shares.sum()).tolist()
        for sentence, length in zip(words, lengths, strict=True):
            sentences[tuple(sentence[:length])] = None
            if len(sentences) == count:
                return list(sentences)
    raise FramewattError(
        f"pairs: there are {len(sentences)} different sentences of {vocabulary} words, and {count} pairs are wanted. "
        "Use fewer pairs, more words, or longer sentences."
    )


def _split(order: Sequence[int], first: int) -> tuple[Sequence[int], Sequence[int]]:
    return order[:first], order[first:]


def _text(sentence: Iterable[int]) -> str:
    return " ".join(f"w{word}" for word in sentence)


def _corpus(pairs: Iterable[tuple[Sentence, Sentence]], ids: dict[str, int]) -> Corpus:
    corpus = Corpus()
    for pair in pairs:
        source, target = ([ids.get(_text([word]), UNK) for word in sentence] for sentence in pair)
        corpus.add(source, target)
    return corpus
