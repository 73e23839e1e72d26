"""WikiText: articles of Wikipedia as words between spaces, in `wiki.train.tokens` and the like for valid and test.

Source: S. Merity et al., Pointer Sentinel Mixture Models, ICLR 2017 (arXiv 1609.07843).
"""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets.ngrams import perplexities
from framewatt.datasets.options import Positive
from framewatt.datasets.record import about
from framewatt.datasets.segments import Segments, Tokens, by_frequency, make_segments, renumber

END = "<eos>"
"""What ends a line; no word of the text."""

UNKNOWN = "<unk>"
"""What stands for a word that is not in the vocabulary, as in the original files."""


def make(folder: Path, *, train: str, test: str, segment: Positive) -> Segments:
    """Return the words of a file to learn from, and those of another to predict, each as one stream of tokens.

    The vocabulary is that of the training file alone, by falling frequency, of equally frequent words the one that
    comes first; the test file has no part in it. `<unk>` is its last word where the training file has none. Words of
    the test file that it lacks become `<unk>`, and are counted.

    Args:
        folder: with both files, or with a folder that has them.
        train: name of the file to learn from.
        test: name of the file to predict.
        segment: tokens of a segment.

    Raises:
        FramewattError: the files are not there, hold the same text, are empty, are not UTF-8, or hold `<eos>`; see
            streams.make_segments.
    """
    learnt, predicted = _both_files(folder, train, test)
    numbers: dict[str, int] = {}
    known = _learnt(learnt, numbers)
    numbers.setdefault(UNKNOWN, len(numbers))
    tested, unknown = _predicted(predicted, numbers)
    ranks = by_frequency(known, len(numbers))
    for tokens in (known, tested):
        renumber(tokens, ranks)
    facts = about(
        "words between spaces, <eos> behind each line; ids by falling frequency in the training file",
        read=[learnt, predicted],
        root=folder,
        unknown_test_words=unknown,
    )
    arrays = make_segments(
        known, tested, segment=segment, vocabulary=len(numbers), about=facts, task="language_modelling"
    )
    return replace(arrays, about={**arrays.about, **perplexities(known, tested, len(numbers))})


def _both_files(folder: Path, train: str, test: str) -> tuple[Path, Path]:
    """Both files, which are in one folder and not the same."""
    places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    both = [(one / train, one / test) for one in places if (one / train).is_file() and (one / test).is_file()]
    if len(both) != 1:
        raise FramewattError(
            f"{folder}: it has {len(both)} folders with {train} and {test}. Use one, it or one folder below."
        )
    learnt, predicted = both[0]
    if sha256_of(learnt) == sha256_of(predicted):
        raise FramewattError(f"{predicted}: it has the same text as {train}. Use a text that a model has not learnt.")
    return learnt, predicted


def _learnt(path: Path, numbers: dict[str, int]) -> Tokens:
    """Return the words of a file as numbers, shape (n,); words without one get the next."""
    tokens = array("q")
    for words in _lines(path):
        tokens.extend([numbers.setdefault(word, len(numbers)) for word in words])
    return np.frombuffer(tokens, np.int64)


def _predicted(path: Path, numbers: Mapping[str, int]) -> tuple[Tokens, int]:
    """Return the words of a file as numbers, shape (n,), and how many are none of those that have one."""
    tokens, unknown, named = array("q"), numbers[UNKNOWN], 0
    for words in _lines(path):
        tokens.extend([numbers.get(word, unknown) for word in words])
        named += words.count(UNKNOWN)
    return np.frombuffer(tokens, np.int64), tokens.count(unknown) - named


def _lines(path: Path) -> Iterator[list[str]]:
    r"""The words of each line and what ends it.

    Lines end at \n alone. Words are between any blanks, as those who count WikiText's words have it: also a no-break
    space, or what other programs take as the end of a line, is between two words.
    """
    with path.open("rb") as file:
        number = 0
        for number, line in enumerate(file, 1):
            try:
                words = line.decode("utf-8").split()
            except UnicodeDecodeError as error:
                raise _wrong(path, number, f"bytes that are no UTF-8 ({error.reason})", "UTF-8") from error
            if END in words:
                raise _wrong(path, number, f"the word {END}", "text without it, since it stands for a line's end")
            words.append(END)
            yield words
    if not number:
        raise FramewattError(f"{path}: the file is empty. Use one line or more.")


def _wrong(path: Path, line: int, problem: str, allowed: str) -> FramewattError:
    return FramewattError(f"{path}: line {line}: it has {problem}. Use {allowed}.")
