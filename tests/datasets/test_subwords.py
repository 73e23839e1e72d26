"""Words in pieces: joined they give the word back, and the same text gives the same pieces and ids."""

import hashlib
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.datasets.pairs import SPECIAL, text_of
from framewatt.datasets.subwords import Merges, learnt, vocabulary_of

# Letters of subword-nmt's own signs, of regular expressions, and of more than one byte.
WORDS = st.text("ab@</w>\\.#:é日🙂\ufeff\x00\u200b", min_size=1, max_size=8)
LEARNT = WORDS.filter(lambda word: not word.endswith("@@"))
LOWER = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def test_the_merges_are_those_of_the_paper() -> None:
    """Sennrich et al., algorithm 1; of pairs that are equally frequent, subword-nmt takes the last by letters."""
    found = learnt(LOWER, 4)
    assert found.codes == ("s t</w>", "e st</w>", "l o", "w est</w>")
    assert found.pieces("lowest") == ["lo@@", "west"]
    assert found.pieces("newest") == ["n@@", "e@@", "west"]
    assert found.sha256 == hashlib.sha256(b"#version: 0.2\ns t</w>\ne st</w>\nl o\nw est</w>\n").hexdigest()


def test_pairs_that_occur_once_are_not_merged(capfd: pytest.CaptureFixture[str]) -> None:
    assert learnt({"abc": 1, "abd": 1}, 100).codes == ("a b",)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("words", [{"a": 9, "b": 2}, {"ab": 1, "cd": 1}])
def test_a_text_without_pairs_is_letters(words: dict[str, int]) -> None:
    found = learnt(words, 10)
    assert found.codes == ()
    assert found.pieces("abc") == ["a@@", "b@@", "c"]
    assert found.pieces("a") == ["a"]


@pytest.mark.parametrize("merges", [0, -1])
def test_no_merges_are_refused(merges: int) -> None:
    with pytest.raises(FramewattError, match=f"^merges: {merges} is not possible. Use 1 or more"):
        learnt(LOWER, merges)


@settings(max_examples=150, deadline=None)
@given(st.lists(LEARNT, min_size=1, max_size=12), st.lists(WORDS, min_size=1, max_size=6), st.integers(1, 40))
def test_the_pieces_of_any_words_give_them_back(known: list[str], others: list[str], merges: int) -> None:
    """Also of words that were not learnt, even such as end in what says that a word goes on."""
    found = learnt(Counter(known * 2), merges)
    for words in (known, others):
        cut = [found.pieces(word) for word in words]
        assert all(piece.endswith("@@") for its in cut for piece in its[:-1])
        vocabulary = vocabulary_of(Counter(chain.from_iterable(cut)))
        ids = [vocabulary.index(piece, 4) for its in cut for piece in its]
        assert text_of(ids, vocabulary) == " ".join(words)


def test_ids_are_given_by_falling_frequency_and_among_equals_to_the_first() -> None:
    found = vocabulary_of({"c": 1, "b": 3, "a": 3, "d": 7})
    assert found[:8] == (*SPECIAL, "d", "b", "a", "c")
    assert found[8:] == ("",) * 24


@pytest.mark.parametrize(("pieces", "ids"), [(1, 32), (28, 32), (29, 64), (60, 64)])
def test_a_vocabulary_has_a_multiple_of_32_ids(pieces: int, ids: int) -> None:
    found = vocabulary_of({f"p{number}": 1 for number in range(pieces)})
    assert (len(found), sum(text != "" for text in found[4:])) == (ids, pieces)


def test_real_text_gives_the_same_merges_in_every_order_of_equal_words_and_every_call() -> None:
    text = (sample("wmt-en-de-opennmt") / "src-val.txt").read_text(encoding="utf-8").split()
    found = learnt(Counter(text), 200)
    assert learnt(Counter(text), 200).codes == found.codes == learnt(Counter(text[::-1]), 200).codes
    assert len(found.codes) == 200
    assert Merges(found.codes).pieces("Parliament") == found.pieces("Parliament")
    assert text_of_words(found, text) == " ".join(text)


def text_of_words(merges: Merges, words: list[str]) -> str:
    cut = [piece for word in words for piece in merges.pieces(word)]
    vocabulary = vocabulary_of(Counter(cut))
    places = {piece: number for number, piece in enumerate(vocabulary) if number > 3}
    return text_of([places[piece] for piece in cut], vocabulary)
