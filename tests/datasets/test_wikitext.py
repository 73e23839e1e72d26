"""WikiText: which words are tokens, in which order they are numbered, and that the test text has no part in it."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.datasets import wikitext
from framewatt.datasets.contract import Arrays
from framewatt.datasets.segments import make_segments

FILES = {"train": "wiki.train.tokens", "test": "wiki.test.tokens"}
TRAIN = " \n = b = \n \n a b c b \n"
TEST = " \n b d \n <unk> e b \n"


def made(folder: Path, train: str | bytes = TRAIN, test: str | bytes = TEST, segment: int = 2) -> Arrays:
    for name, text in zip(FILES.values(), (train, test), strict=True):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return wikitext.make(folder, **FILES, segment=segment)


def stream_of(folder: Path, text: str | bytes) -> list[int]:
    """All tokens of a training text; those of one line `a` are numbered 0, its end 1."""
    data = made(folder, text, segment=1)
    return [*data.x_train[:, 0].tolist(), int(data.y_train[-1, 0])]


def test_words_are_numbered_by_falling_frequency_and_equals_by_their_first_occurrence(tmp_path: Path) -> None:
    data = made(tmp_path, segment=1)
    # Four ends of lines, three b, two =, then a and c; <unk>, which the text lacks, is the last.
    end, b, equals, a, c = range(5)
    tokens = [end, equals, b, equals, end, end, a, b, c, b, end]
    assert [*data.x_train[:, 0], data.y_train[-1, 0]] == tokens
    assert (data.classes, data.about["vocabulary"]) == (6, 6)


def test_test_words_that_training_lacks_are_unknown_and_are_counted(tmp_path: Path) -> None:
    data = made(tmp_path)
    end, b, unknown = 0, 1, 5
    tokens = [end, b, unknown, end, unknown, unknown, b, end]
    assert data.labels(test=True).tolist() == tokens[1:]
    assert data.x_test[0, 0] == end
    # The test file's own <unk> is none of those that were replaced.
    assert data.about["unknown_test_words"] == 2


def test_an_unk_of_the_training_text_is_a_word_as_any_other(tmp_path: Path) -> None:
    data = made(tmp_path, "<unk> a <unk> b <unk>\n", "a d\n")
    assert data.classes == 4
    assert data.x_train.tolist() == [[0, 1], [0, 2]]
    assert data.labels(test=True).tolist() == [0, 3]
    assert data.about["unknown_test_words"] == 1


def test_the_test_text_has_no_part_in_the_vocabulary(tmp_path: Path) -> None:
    one, other = made(tmp_path), made(tmp_path, test="c c c c a e f g\n")
    assert np.array_equal(one.x_train, other.x_train)
    assert one.classes == other.classes
    assert other.labels(test=True).tolist() == [4, 4, 4, 3, 5, 5, 5, 0]


def test_lines_end_with_a_token_also_empty_ones_and_a_last_one_without_its_newline(tmp_path: Path) -> None:
    a, end = 0, 1
    assert stream_of(tmp_path, "a a a\n") == [a, a, a, end]
    assert stream_of(tmp_path, "a a a") == [a, a, a, end]
    # The end is as frequent as the word now, and comes later.
    assert stream_of(tmp_path, "a a\n\n") == [a, a, end, end]
    assert stream_of(tmp_path, "a a a\r\n") == [a, a, a, end]


@pytest.mark.parametrize("blank", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\r", "\t", "\xa0", "  "])
def test_only_a_newline_ends_a_line_and_every_other_blank_is_between_words(tmp_path: Path, blank: str) -> None:
    assert stream_of(tmp_path, f"a{blank}a a\n") == [0, 0, 0, 1]


@pytest.mark.parametrize("letter", ["\u200b", "\ufeff", "\x00", "\u0301", "日本", "🙂"])
def test_what_is_no_blank_is_of_a_word(tmp_path: Path, letter: str) -> None:
    assert stream_of(tmp_path, f"a{letter}a a{letter}a\n") == [0, 0, 1]


def test_segments_and_perplexities_are_those_of_the_streams(tmp_path: Path) -> None:
    data = made(tmp_path)
    tokens = [np.array([0, 2, 1, 2, 0, 0, 3, 1, 4, 1, 0]), np.array([0, 1, 5, 0, 5, 5, 1, 0])]
    same = make_segments(*tokens, segment=2, vocabulary=6, about={}, task="language_modelling")
    assert np.array_equal(data.x_train, same.x_train)
    assert np.array_equal(data.y_test, same.y_test)
    # Counts with one added, of 17: 5 of an end, 4 of b, 1 of <unk>.
    shares = np.array([4, 1, 5, 1, 1, 4, 5]) / 17
    assert data.about["unigram_perplexity"] == pytest.approx(np.exp(-np.log(shares).mean()))
    assert data.about["trigram_perplexity"] > 1


@pytest.mark.parametrize("split", FILES)
def test_bytes_that_are_no_utf_8_are_named_with_their_line(tmp_path: Path, split: str) -> None:
    texts = {"train": TRAIN.encode(), "test": TEST.encode()} | {split: b"a\na\n\na caf\xe9 b\n"}
    with pytest.raises(FramewattError, match=rf"{FILES[split]}: line 4: it has bytes that are no UTF-8 .*. Use UTF"):
        made(tmp_path, **texts)


@pytest.mark.parametrize("split", FILES)
def test_an_empty_file_is_named(tmp_path: Path, split: str) -> None:
    with pytest.raises(FramewattError, match=f"{FILES[split]}: the file is empty. Use one line or more"):
        made(tmp_path, **{split: b""})


@pytest.mark.parametrize("split", FILES)
def test_a_text_whose_lines_have_their_ends_already_is_named(tmp_path: Path, split: str) -> None:
    """Each line would else end twice."""
    with pytest.raises(FramewattError, match=f"{FILES[split]}: line 2: it has the word <eos>. Use text without it"):
        made(tmp_path, **{split: "a <eos>b\nb a <eos>\n"})


def test_a_text_of_too_few_words_is_told(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match="test tokens: there are 1"):
        made(tmp_path, test="\n")
    with pytest.raises(FramewattError, match="training tokens: there are 1"):
        made(tmp_path, "\n")


def test_the_same_text_to_learn_and_to_predict_is_refused(tmp_path: Path) -> None:
    reason = r"it has the same text as wiki\.\w+\.tokens. Use a text that a model has not learnt"
    with pytest.raises(FramewattError, match=rf"wiki\.test\.tokens: {reason}"):
        made(tmp_path, TRAIN, TRAIN)
    with pytest.raises(FramewattError, match=rf"wiki\.test\.tokens: {reason}"):
        wikitext.make(tmp_path, train=FILES["test"], test=FILES["test"], segment=2)


def test_files_are_found_in_the_folder_or_one_below_and_never_in_two(tmp_path: Path) -> None:
    options = {**FILES, "segment": 2}
    missing = r"it has 0 folders with wiki\.train\.tokens and wiki\.test\.tokens. Use one, it or one folder below"
    with pytest.raises(FramewattError, match=missing):
        wikitext.make(tmp_path, **options)
    (tmp_path / "wikitext-2").mkdir()
    made(tmp_path / "wikitext-2")
    assert wikitext.make(tmp_path, **options).about["original_files"] == 2
    (tmp_path / "wikitext-103").mkdir()
    made(tmp_path / "wikitext-103")
    with pytest.raises(FramewattError, match="it has 2 folders with"):
        wikitext.make(tmp_path, **options)
    # A file of one corpus and a file of another are no pair.
    (tmp_path / "wikitext-2" / FILES["train"]).unlink()
    (tmp_path / "wikitext-103" / FILES["test"]).unlink()
    with pytest.raises(FramewattError, match=missing):
        wikitext.make(tmp_path, **options)


def test_the_official_files_have_the_official_counts() -> None:
    """Merity et al., table 1: 245,569 tokens to test and 217,646 to validate."""
    folder = sample("wikitext-2")
    data = wikitext.make(folder, train="wiki.valid.tokens", test="wiki.test.tokens", segment=64)
    assert (data.about["test_tokens"], data.about["train_tokens"]) == (245_569, 217_646)
    assert data.about["train_tokens_left_out"] == 217_646 - 3400 * 64 - 1
    assert (data.lengths_test.sum(), len(data.x_train), len(data.x_test)) == (245_568, 3400, 3837)
    words = (folder / "wiki.valid.tokens").read_text(encoding="utf-8").replace("\n", " <eos> ").split()
    # Counter, too, has those first that came first, among equals.
    numbers = {word: number for number, (word, _) in enumerate(Counter(words).most_common())}
    assert data.classes == len(numbers) == 13_777
    assert data.labels(test=False).tolist() == [numbers[word] for word in words[1 : 3400 * 64 + 1]]
