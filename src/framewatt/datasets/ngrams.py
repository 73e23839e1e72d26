"""What n-gram models reach on a text, so that a neural model's perplexity can be judged.

Source of the trigram model, interpolated modified Kneser-Ney: S. F. Chen and J. Goodman, An Empirical Study of
Smoothing Techniques for Language Modeling, TR-10-98, Harvard University, 1998; of the single discount where too few
n-grams are rare: H. Ney, U. Essen and R. Kneser, On structuring probabilistic dependences in stochastic
language modelling, 1994.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.segments import Tokens

MOST_TOKENS = 20_000_000
"""The longest training text that trigrams are counted in, in about 2 GB."""

_HALF = 0.5
"""The discount where no n-gram was seen once."""


def perplexities(train: Tokens, test: Tokens, vocabulary: int) -> dict[str, Any]:
    """Perplexities of a unigram and of a trigram model, for a data set's record.

    They are over all test tokens but the first, each with those before it as its history.

    Args:
        train: the text that is counted, shape (t,), int64, ids from 0.
        test: the text that is predicted, shape (n,), int64, n at least 2.
        vocabulary: how many ids there are.

    Returns:
        `unigram_perplexity`, `trigram_perplexity`; the latter None with `trigram_perplexity_reason` for a training text
        of more than MOST_TOKENS.
    """
    facts: dict[str, Any] = {"unigram_perplexity": perplexity(unigram_probabilities(train, test, vocabulary))}
    if len(train) > MOST_TOKENS:
        reason = f"{len(train)} training tokens; trigrams are counted of at most {MOST_TOKENS}"
        return {**facts, "trigram_perplexity": None, "trigram_perplexity_reason": reason}
    return {**facts, "trigram_perplexity": perplexity(trigram_probabilities(train, test, vocabulary))}


def perplexity(probabilities: NDArray[np.float64]) -> float:
    """Perplexity of tokens: e to their mean negative log-likelihood.

    Args:
        probabilities: of each token, shape (n,), above 0.
    """
    return float(np.exp(-np.log(probabilities).mean()))


def unigram_probabilities(train: Tokens, test: Tokens, vocabulary: int) -> NDArray[np.float64]:
    """Each test token's share of the training text, with one added to every count.

    Returns:
        Of all test tokens but the first, shape (n - 1,).
    """
    counts = np.bincount(train, minlength=vocabulary) + 1
    shares: NDArray[np.float64] = counts[test[1:]] / counts.sum()
    return shares


def trigram_probabilities(train: Tokens, test: Tokens, vocabulary: int) -> NDArray[np.float64]:
    """Each test token's probability after the two before it, by interpolated modified Kneser-Ney smoothing.

    The second token has but one before it. Behind unigrams stand equal shares, so that a word that was never seen can
    come, too.

    Returns:
        Of all test tokens but the first, shape (n - 1,).
    """
    pairs, place = np.unique(_keys(train[:-1], train[1:], vocabulary), return_inverse=True)
    triples, counts = np.unique(_keys(place[:-1], train[2:], vocabulary), return_counts=True)
    # What two tokens come behind: of how many different ones a pair, or a single token, is the end.
    endings, after = np.unique(
        _keys(pairs[triples // vocabulary] % vocabulary, triples % vocabulary, vocabulary), return_counts=True
    )
    words, before = np.unique(pairs % vocabulary, return_counts=True)
    of_three, of_two, of_one = (
        _counted(keys, times, vocabulary) for keys, times in ((triples, counts), (endings, after), (words, before))
    )
    nothing = np.zeros(len(test) - 1, np.int64)
    lower = of_one.interpolated(nothing, test[1:], np.full(len(nothing), 1 / vocabulary))
    lower = of_two.interpolated(test[:-1], test[1:], lower)
    pairs_before = _keys(test[:-2], test[1:-1], vocabulary)
    places = _place_of(pairs, pairs_before)
    return np.concatenate([lower[:1], of_three.interpolated(places, test[2:], lower[1:])])


@dataclass(frozen=True)
class _Counted:
    """How often words come after contexts, both numbered; sorted by context and word.

    Attributes:
        keys: context * vocabulary + word, shape (k,).
        left: of each, its count less its discount.
        contexts: those that there are, shape (c,).
        total: of each context, its counts.
        taken: of each context, its discounts.
        vocabulary: how many words there are.
    """

    keys: Tokens
    left: NDArray[np.float64]
    contexts: Tokens
    total: NDArray[np.float64]
    taken: NDArray[np.float64]
    vocabulary: int

    def interpolated(self, contexts: Tokens, words: Tokens, lower: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of words after contexts: what is left of the counts, and of the discounts the lower's share.

        Args:
            contexts: shape (n,); one that is unknown, such as -1, leaves all to the lower probabilities.
            words: shape (n,).
            lower: probabilities of a shorter context, shape (n,).
        """
        if not len(self.contexts):
            return lower
        context = _place_of(self.contexts, contexts)
        pair = _place_of(self.keys, _keys(contexts, words, self.vocabulary))
        left = np.where(pair < 0, 0.0, self.left[pair])
        shares = (left + self.taken[context] * lower) / self.total[context]
        return np.where(context < 0, lower, shares)


def _counted(keys: Tokens, counts: Tokens, vocabulary: int) -> _Counted:
    discounts = discounts_of(counts)[np.minimum(counts, 3)]
    contexts, place = np.unique(keys // vocabulary, return_inverse=True)
    total, taken = (np.bincount(place, weights=values).astype(np.float64) for values in (counts, discounts))
    return _Counted(keys, counts - discounts, contexts, total, taken, vocabulary)


def discounts_of(counts: Tokens) -> NDArray[np.float64]:
    """Return what is taken from counts of 1, of 2, and of 3 or more; index 0 is unused.

    Chen and Goodman's three where they are between 0 and the count. Else one for all, Ney's: in a text of few words, or
    one that was drawn, there may be no count of 1 to 4, or more of the larger ones.

    Args:
        counts: of different n-grams, shape (k,), 1 or more.

    Returns:
        Shape (4,).
    """
    once, twice, thrice, four = (int((counts == times).sum()) for times in (1, 2, 3, 4))
    one = once / (once + 2 * twice) if once else _HALF
    if min(once, twice, thrice) == 0:
        return np.array([0, one, one, one])
    three = np.array([1 - 2 * one * twice / once, 2 - 3 * one * thrice / twice, 3 - 4 * one * four / thrice])
    if (three <= 0).any():
        return np.array([0, one, one, one])
    return np.array([0, *three])


def _keys(contexts: Tokens, words: Tokens, vocabulary: int) -> Tokens:
    """Two numbers as one; there are fewer contexts than 2**63 / vocabulary."""
    keys: Tokens = contexts * np.int64(vocabulary) + words
    return keys


def _place_of(known: Tokens, wanted: Tokens) -> Tokens:
    """Return where numbers are among sorted ones; -1 of those that are not."""
    if not len(known):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    of_wanted: Tokens = np.where(known[places] == wanted, places, -1)
    return of_wanted
