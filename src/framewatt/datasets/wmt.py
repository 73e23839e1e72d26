"""A parallel corpus: two files of text, in which each line is the translation of the other's, as WMT publishes them.

Source: O. Bojar et al., Findings of the 2016 Conference on Machine Translation, WMT 2016.
"""

import codecs
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.datasets.options import Positive
from framewatt.datasets.pairs import FIRST, GOES_ON, UNK, Corpus, Pairs, make_pairs
from framewatt.datasets.record import about
from framewatt.datasets.subwords import Merges, learnt, vocabulary_of

_BOM = "\ufeff"
"""The mark of an encoding at a file's begin, which is no part of its text."""

_EMPTY, _AMBIGUOUS, _LONG = "empty_side", f"word_that_ends_in_{GOES_ON}", "too_long"
"""Why a training pair is left out."""

Files = tuple[Path, Path]
"""Of one text: source, target."""


def make(folder: Path, *, train: Sequence[str], test: Sequence[str], merges: Positive, longest: Positive) -> Pairs:
    """Pairs of sentences in pieces of words; both languages have one vocabulary.

    Words are between blanks, and stay as they are in the files: the pieces of a sentence, joined, give its words back.
    Pieces and ids are learnt from the training text alone; pieces of the test text that it lacks become `<unk>`, and
    are counted. Training pairs are left out, and counted, where a side is empty, has a word that ends in `@@` (which
    stands for a word that goes on), or has too many pieces; the last still have a part in the
    vocabulary. Every test pair counts. The record's `copy_bleu` is the BLEU of the source handed out as its own
    translation: a model that is no better translates nothing.

    Args:
        folder: with all four files, or with one folder that has them.
        train: names of the source file and of the target file to learn from.
        test: names of those to translate, and to compare translations with.
        merges: most pairs of pieces that become one.
        longest: most pieces of a side of a training pair, its end not counted.

    Raises:
        FramewattError: the files are not there, two of them hold the same text, a source has not as many lines as its
            target, a line is not UTF-8, a test pair has an empty side, no training pair is left, or BLEU can say
            nothing of the test text.
    """
    learning, tested = _all_files(folder, train, test)
    for files in (learning, tested):
        _check_lines(files)
    words: Counter[str] = Counter()
    for _, *sides in _pairs(learning):
        if _left_out(sides) is None:
            words.update(chain(*sides))
    if not words:
        raise FramewattError(f"{learning[0]}: it has no training pair with a word on both sides. Use one or more.")
    learnt_merges = learnt(words, merges)
    pieces, ids = _numbered(words, learnt_merges)
    known, left_out = _learnt(learning, ids, longest)
    to_translate, sources, references = _test_pairs(tested, learnt_merges, pieces, ids)
    facts = about(
        "words between blanks in pieces by byte pair encoding of both languages; ids by falling frequency in training",
        read=[*learning, *tested],
        root=folder,
        merges=len(learnt_merges.codes),
        merges_sha256=learnt_merges.sha256,
        train_pairs_left_out=left_out,
    )
    return make_pairs(
        *(known, to_translate), pieces=pieces, sources=sources, references=references, about=facts, task="translation"
    )


def _hash_of_lines(path: Path) -> str:
    """Of the text, whatever its lines end in, and with or without the last one's end and a mark of its encoding."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for number, line in enumerate(file):
            text = line.removeprefix(codecs.BOM_UTF8) if number == 0 else line
            digest.update(text.rstrip(b"\r\n") + b"\n")
    return digest.hexdigest()


def _all_files(folder: Path, train: Sequence[str], test: Sequence[str]) -> tuple[Files, Files]:
    """All four files, which are in one folder and differ."""
    for option, names in (("train", train), ("test", test)):
        if isinstance(names, str) or len(names) != 2:
            raise FramewattError(f"{option}: {names} is not possible. Use the names of a source and of a target file.")
    names = [*train, *test]
    places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    whole = [place for place in places if all((place / name).is_file() for name in names)]
    if len(whole) != 1:
        raise FramewattError(
            f"{folder}: it has {len(whole)} folders with {', '.join(names)}. Use one, it or one folder below."
        )
    paths = [whole[0] / name for name in names]
    hashes = {path: _hash_of_lines(path) for path in paths}
    for one, other in combinations(paths, 2):
        if hashes[one] == hashes[other]:
            raise FramewattError(
                f"{other}: it has the same text as {one.name}. Use a source and its translation, "
                "and a test text that a model has not learnt."
            )
    return (paths[0], paths[1]), (paths[2], paths[3])


def _check_lines(files: Files) -> None:
    counts = []
    for path in files:
        with path.open("rb") as file:
            counts.append(sum(1 for _ in file))
        if not counts[-1]:
            raise FramewattError(f"{path}: the file is empty. Use one line or more.")
    if counts[0] != counts[1]:
        raise FramewattError(
            f"{files[1]}: it has {counts[1]} lines, {files[0].name} has {counts[0]}. Use as many, each the "
            "translation of the other."
        )


def _lines(path: Path) -> Iterator[str]:
    r"""Each line without its end, which is \n or \r\n; nothing else ends a line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise FramewattError(
                    f"{path}: line {number}: it has bytes that are no UTF-8 ({error.reason}). Use UTF-8."
                ) from error
            text = text.removesuffix("\n").removesuffix("\r")
            yield text.removeprefix(_BOM) if number == 1 else text


def _pairs(files: Files) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield the number of each line, from 1, and its words on both sides."""
    for number, (source, target) in enumerate(zip(*map(_lines, files), strict=True), 1):
        yield number, source.split(), target.split()


def _left_out(sides: Sequence[list[str]]) -> str | None:
    """Return why a training pair is left out before its pieces are known; None where it is not."""
    if not all(sides):
        return _EMPTY
    return _AMBIGUOUS if any(word.endswith(GOES_ON) for word in chain(*sides)) else None


def _numbered(words: Mapping[str, int], merges: Merges) -> tuple[tuple[str, ...], dict[str, tuple[int, ...]]]:
    """Return the vocabulary of a text's words, and each word as ids."""
    cut = {word: merges.pieces(word) for word in words}
    counts: Counter[str] = Counter()
    for word, its in cut.items():
        for piece in its:
            counts[piece] += words[word]
    pieces = vocabulary_of(counts)
    ids = _ids_of(pieces)
    return pieces, {word: tuple(ids[piece] for piece in its) for word, its in cut.items()}


def _ids_of(pieces: tuple[str, ...]) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(pieces) if number >= FIRST and piece}


def _learnt(files: Files, ids: Mapping[str, tuple[int, ...]], longest: int) -> tuple[Corpus, dict[str, int]]:
    """Return the training pairs, and how many are left out for each reason."""
    known, left_out = Corpus(), dict.fromkeys((_EMPTY, _AMBIGUOUS, _LONG), 0)
    for _, *sides in _pairs(files):
        why = _left_out(sides)
        if why is None:
            source, target = ([one for word in words for one in ids[word]] for words in sides)
            if max(len(source), len(target)) <= longest:
                known.add(source, target)
                continue
            why = _LONG
        left_out[why] += 1
    if not known.count:
        raise FramewattError(
            f"{files[0]}: it has no training pair of at most {longest} pieces a side. Use one or more."
        )
    return known, left_out


def _test_pairs(
    files: Files, merges: Merges, pieces: tuple[str, ...], ids: Mapping[str, tuple[int, ...]]
) -> tuple[Corpus, list[str], list[str]]:
    """Return the test pairs, and both their sides as text."""
    numbers, words = _ids_of(pieces), dict(ids)
    tested = Corpus()
    for number, *sides in _pairs(files):
        for path, side in zip(files, sides, strict=True):
            if not side:
                raise FramewattError(
                    f"{path}: line {number}: it has no word. Use a sentence, since every test pair counts."
                )
            for word in side:
                if word not in words:
                    words[word] = tuple(numbers.get(piece, UNK) for piece in merges.pieces(word))
        source, target = ([one for word in side for one in words[word]] for side in sides)
        tested.add(source, target)
    return tested, list(_lines(files[0])), list(_lines(files[1]))
