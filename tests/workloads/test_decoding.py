"""How models that make their answers token by token are asked to, and what is refused."""

from types import SimpleNamespace
from typing import Any

import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.synthetic_language import make
from framewatt.datasets.synthetic_text import make as make_text
from framewatt.workloads.contract import Spec
from framewatt.workloads.decoding import beam_of, check_plain, in_words, searches

SEARCHES = SimpleNamespace(decode=lambda source, beam: source, beam=5)
AT_ONCE = SimpleNamespace()
PAIRS = make(vocabulary=40, train_pairs=8, test_pairs=8, longest=8, seed=0)
TEXT = make_text(vocabulary=80, train_tokens=161, test_tokens=81, segment=8, seed=0)


def spec(**options: Any) -> Spec:
    return Spec("m", 4, "cpu", "native", 1, 0, None, {}, options)


def test_a_search_keeps_as_many_hypotheses_as_the_model_says_or_one() -> None:
    assert (beam_of(spec(), SEARCHES, PAIRS), beam_of(spec(decoding="greedy"), SEARCHES, PAIRS)) == (5, 1)
    assert (in_words(5), in_words(1), in_words(None)) == ({"decoding": "beam of 5"}, {"decoding": "greedy"}, {})


def test_greedy_of_a_model_that_answers_at_once_is_refused() -> None:
    assert beam_of(spec(), AT_ONCE, PAIRS) is None
    with pytest.raises(
        FramewattError, match=r"decoding: m answers at once and cannot be greedy\. Use decoding: default"
    ):
        beam_of(spec(decoding="greedy"), AT_ONCE, PAIRS)


def test_a_users_autoencoder_has_a_decode_and_searches_for_nothing() -> None:
    autoencoder = SimpleNamespace(encode=lambda pixels: pixels, decode=lambda code: code)
    assert beam_of(spec(), autoencoder, TEXT) is None
    assert not searches(autoencoder, TEXT)
    assert searches(SEARCHES, PAIRS)


def test_sentences_are_not_compiled_length_by_length() -> None:
    with pytest.raises(FramewattError, match=r"compile: m takes sentences, .* Use compile: plain"):
        check_plain(spec(compile="compiled"), PAIRS)
    check_plain(spec(), PAIRS)
    check_plain(spec(compile="compiled"), TEXT)
