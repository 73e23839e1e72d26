"""Pairs of sentences, each of a source and of its translation, as ids of pieces of words.

A target sentence is stored once, as BOS, its ids, EOS: a decoder's inputs are all but the last of these, and its labels
all but the first, so that both are rows of the same memory.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import SPLITS, TOKENS, MoreInputs
from framewatt.datasets.mapped import mapped
from framewatt.datasets.ragged import IGNORED, Ragged

PAD, UNK, BOS, EOS = range(4)
"""Ids of padding, of a piece that is not in the vocabulary, and of a sentence's begin and end."""

FIRST = 4
"""The first id of a piece."""

UNKNOWN = "<unk>"
SPECIAL = ("", UNKNOWN, "<s>", "</s>")
"""Texts of the ids below FIRST."""

GOES_ON = "@@"
"""What the text of a piece ends in where its word goes on, as subword-nmt writes it."""

TARGET_IDS = "target_ids"
"""Name of the models' second input, the target sentence without its end."""

BLEU_HIGHEST = 100.0

_SIDES = ("source", "target")
FILES = tuple(f"{side}_{split}{what}" for split in SPLITS for side in _SIDES for what in ("", "_starts"))
"""Names of the arrays of ids, and of where their sentences begin, in a file of arrays."""

_SHORTEST = 2
"""A piece and an end."""


class Corpus:
    """Pairs of sentences as they are collected, in memory once.

    Attributes:
        count: how many pairs there are.
    """

    def __init__(self) -> None:
        self.count = 0
        self._ids = {side: array("q") for side in _SIDES}
        self._starts = {side: array("q", [0]) for side in _SIDES}

    def add(self, source: Iterable[int], target: Iterable[int]) -> None:
        """One more pair; both are ids of pieces, without begin and end."""
        self._ids["source"].extend(source)
        self._ids["source"].append(EOS)
        self._ids["target"].append(BOS)
        self._ids["target"].extend(target)
        self._ids["target"].append(EOS)
        for side in _SIDES:
            self._starts[side].append(len(self._ids[side]))
        self.count += 1

    def tokens(self) -> dict[str, int]:
        """Pieces of each side, without begins and ends."""
        ends = {"source": 1, "target": 2}
        return {side: len(self._ids[side]) - ends[side] * self.count for side in _SIDES}

    def unknown(self) -> dict[str, int]:
        """Return how many pieces of each side are not in the vocabulary."""
        return {side: self._ids[side].count(UNK) for side in _SIDES}

    def arrays(self, split: str) -> dict[str, NDArray[np.int64]]:
        """Ids and starts by their names in a file, without a copy."""
        both = {"": self._ids, "_starts": self._starts}
        return {
            f"{side}_{split}{what}": np.frombuffer(values[side], np.int64)
            for side in _SIDES
            for what, values in both.items()
        }


@dataclass(frozen=True)
class Pairs(MoreInputs):
    """Pairs of sentences, each of a source and of its translation, as ids of pieces of words.

    Engines take rows of a Ragged as of an array; padded rows have shape (k, width), int64.

    Attributes:
        x_train: source sentences with EOS, a Ragged of n rows padded with PAD.
        y_train: labels: target sentences with EOS and without BOS, a Ragged of n rows padded with IGNORED.
        x_test: as `x_train`, m rows.
        y_test: as `y_train`, m rows.
        more_train: TARGET_IDS: what a decoder gets, target sentences with BOS and without EOS, a Ragged of n rows.
        more_test: the same, m rows.
        pieces: the text of each id, with `@@` at its end where a word goes on.
        references: the target sentences of the test set as text, m of them.
    """

    pieces: tuple[str, ...] = field(kw_only=True)
    references: tuple[str, ...] = field(kw_only=True)

    @property
    def main_input(self) -> str:
        """The models' name of the first input."""
        return TOKENS

    @cached_property
    def lengths_train(self) -> NDArray[np.int64]:
        """How many labels each training sentence has, shape (n,)."""
        lengths: NDArray[np.int64] = self.y_train.lengths
        return lengths

    @cached_property
    def lengths_test(self) -> NDArray[np.int64]:
        """How many labels each test sentence has, shape (m,)."""
        lengths: NDArray[np.int64] = self.y_test.lengths
        return lengths

    def lengths(self, test: bool) -> NDArray[np.int64]:
        """Return how many labels each sentence of the test set, or of the training set, has, shape (n,)."""
        return self.lengths_test if test else self.lengths_train

    def labels(self, test: bool) -> NDArray[np.int64]:
        """Return all labels of the test set, or of the training set, without padding, shape (total,)."""
        joined: NDArray[np.int64] = (self.y_test if test else self.y_train).joined()
        return joined

    def problems(self) -> Iterator[str]:
        """Yield every mismatch between the arrays, and what would be right; no training id is read."""
        classes = self.class_count
        if classes is None or len(self.pieces) != classes or self.pieces[:FIRST] != SPECIAL:
            known = ", ".join(SPECIAL[1:])
            yield f"{len(self.pieces)} pieces have {classes} ids. Use the text of each id, the first ones {known}"
            return
        if any("\n" in text for text in (*self.pieces, *self.references)):
            yield "a piece or a reference has two lines. Use one line for each"
        for split in SPLITS:
            if (problem := self._problem_of_rows(split)) is not None:
                yield problem
                return
        if len(self.references) != len(self.x_test):
            yield f"{len(self.references)} references belong to {len(self.x_test)} test sentences. Use as many"
        yield from self._problems_of_ids(classes)

    def _problem_of_rows(self, split: str) -> str | None:
        """Return what is wrong with the rows of a split, apart from their values."""
        more = self.more_inputs(split == "test")
        if list(more) != [TARGET_IDS]:
            return f"inputs after source sentences are {list(more)}. Use {TARGET_IDS}"
        rows = {
            "source": getattr(self, f"x_{split}"),
            TARGET_IDS: more[TARGET_IDS],
            "labels": getattr(self, f"y_{split}"),
        }
        for (name, values), fill in zip(rows.items(), (PAD, PAD, IGNORED), strict=True):
            if not isinstance(values, Ragged) or values.fill != fill:
                return f"{name} of {split} pairs are not rows padded with {fill}. Use a Ragged"
        counts = [len(values) for values in rows.values()]
        if len(set(counts)) > 1 or not counts[0]:
            return f"{', '.join(rows)} have {counts} {split} sentences. Use as many of each, at least one"
        each = rows["labels"].lengths
        if not np.array_equal(each, rows[TARGET_IDS].lengths):
            return f"{split} labels have other lengths than {TARGET_IDS}. Use the same"
        if (shortest := min(int(each.min()), int(rows["source"].lengths.min()))) < _SHORTEST:
            return f"a {split} sentence has {shortest} ids. Use {_SHORTEST} or more, with its end"
        return None

    def _problems_of_ids(self, classes: int) -> Iterator[str]:
        """Yield what is wrong with ids of the test set."""
        for side, rows in zip(_SIDES, (self.x_test, self.y_test), strict=True):
            ids, ends = rows.joined(), np.cumsum(rows.lengths) - 1
            inner = np.delete(ids, ends)
            if (ids[ends] != EOS).any():
                yield f"a {side} sentence has no end. Use {EOS} as its last id"
            elif ((inner < FIRST) & (inner != UNK)).any() or inner.max() >= classes:
                yield f"{side} ids are {inner.min()} to {inner.max()}. Use {UNK}, and {FIRST} to {classes - 1}"
        fed, labels = (rows.joined() for rows in (self.more_test[TARGET_IDS], self.y_test))
        ends = np.cumsum(self.y_test.lengths)
        starts = np.concatenate([[0], ends[:-1]])
        if (fed[starts] != BOS).any() or not np.array_equal(np.delete(fed, starts), np.delete(labels, ends - 1)):
            yield f"{TARGET_IDS} are not {BOS} and all labels but the last. Use these"

    def content(self) -> dict[str, Any]:
        """Return what a file holds of pairs, by name: ids and starts without a copy, and texts.

        Raises:
            FramewattError: labels are not in the memory of a decoder's inputs, as `rows_of` makes them.
        """
        stored: dict[str, Any] = {}
        for split in SPLITS:
            source, labels = getattr(self, f"x_{split}"), getattr(self, f"y_{split}")
            target = self.more_inputs(split == "test")[TARGET_IDS]
            follow = _address(labels.values) - _address(target.values) == labels.values.itemsize
            if not (follow and labels.starts is target.starts and (source.cut, target.cut, labels.cut) == (0, 1, 1)):
                raise FramewattError(
                    f"data set: labels of {split} pairs are not in the memory of their targets. Make them with rows_of."
                )
            for side, rows in zip(_SIDES, (source, target), strict=True):
                stored |= {f"{side}_{split}": rows.values, f"{side}_{split}_starts": rows.starts}
        # Lines hold no newline, so that one can be between them.
        return stored | {name: _packed(getattr(self, name)) for name in ("pieces", "references")}


def make_pairs(
    train: Corpus,
    test: Corpus,
    *,
    pieces: tuple[str, ...],
    sources: Sequence[str],
    references: Sequence[str],
    about: Mapping[str, Any],
    task: str,
) -> Pairs:
    """Make a data set of sentence pairs.

    Args:
        train: pairs to learn from.
        test: pairs to translate.
        pieces: text of each id.
        sources: source sentences of the test set, as text.
        references: target sentences of the test set, as text.
        about: what the data record states beyond counts.
        task: name of the task that the data set is for.

    Raises:
        FramewattError: BLEU cannot be computed of these references.
    """
    if bleu(references, references)[0] < BLEU_HIGHEST - 1:
        raise FramewattError(
            "test sentences: none has four words or more. Add one, since BLEU counts four words in a row."
        )
    copied, method = bleu(sources, references)
    counted = {
        "vocabulary": len(pieces),
        "pieces": sum(piece != "" for piece in pieces[FIRST:]),
        "train_tokens": train.tokens(),
        "test_tokens": test.tokens(),
        "unknown_test_pieces": test.unknown(),
        "copy_bleu": copied,
        "bleu": method,
    }
    return Pairs(
        **rows_of({**train.arrays("train"), **test.arrays("test")}),
        class_count=len(pieces),
        about={**about, **counted},
        task=task,
        pieces=pieces,
        references=tuple(references),
    )


def rows_of(arrays: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
    """Return samples, further inputs and labels of Pairs as rows of these arrays; no id is read.

    Args:
        arrays: by the names in FILES: source sentences with EOS, target sentences with BOS and EOS, one after another,
            each shape (total,), int64; and where they start, shape (n + 1,), int64.

    Raises:
        FramewattError: the starts are not those of rows.
    """
    fields: dict[str, Any] = {}
    for split in SPLITS:
        source, target = (Ragged(arrays[f"{side}_{split}"], arrays[f"{side}_{split}_starts"], PAD) for side in _SIDES)
        fields |= {
            f"x_{split}": source,
            f"more_{split}": {TARGET_IDS: Ragged(target.values, target.starts, PAD, 1)},
            f"y_{split}": Ragged(target.values[1:], target.starts, IGNORED, 1),
        }
    return fields


def load_pairs(path: Path, content: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the fields of Pairs from a file that holds what `Pairs.content` gave; ids are mapped, not read.

    Raises:
        FramewattError: the starts are not those of rows.
        ValueError, KeyError, OSError: the file is damaged.
    """
    fields = rows_of({name: mapped(path, name) for name in FILES})
    return fields | {name: _unpacked(content[name]) for name in ("pieces", "references")}


def _packed(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpacked(values: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(values.tobytes().decode().split("\n"))


def _address(values: NDArray[np.int64]) -> int:
    return int(values.__array_interface__["data"][0])


def text_of(ids: Iterable[int], pieces: Sequence[str]) -> str:
    """Return a sentence as text: pieces that go on are joined; an id without a piece is `<unk>`.

    Args:
        ids: of the sentence, below `len(pieces)`, up to its end and without it.
        pieces: text of each id.
    """
    joined = " ".join(pieces[number] or UNKNOWN for number in ids)
    return re.sub(f"{GOES_ON}( |$)", "", joined)


def bleu(translations: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    """Return BLEU of a corpus, 0 to 100, and the signature of how sacrebleu counted it.

    Source: M. Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018.

    Args:
        translations: one sentence each.
        references: what each should be.

    Raises:
        ImportError: sacrebleu is not installed.
    """
    # Not in every environment that loads data sets.
    from sacrebleu.metrics.bleu import BLEU

    # Forced: it would else warn of text with separate punctuation, which it counts alike.
    metric = BLEU(force=True)
    score = metric.corpus_score(list(translations), [list(references)]).score
    # Rounding may bring it above.
    return min(float(score), BLEU_HIGHEST), str(metric.get_signature())
