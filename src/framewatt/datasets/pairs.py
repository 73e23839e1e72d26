"""Pairs of sentences, each of a source and of its translation, as ids of pieces of words.

A target sentence is stored once, as BOS, its ids, EOS: a decoder's inputs are all but the last of these, and its labels
all but the first, so that both are rows of the same memory.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
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

TASK = "translation"
"""What is asked of a model; a name of framewatt.tasks."""

TARGET_IDS = "target_ids"
"""Name of the models' second input, the target sentence without its end."""

BLEU_HIGHEST = 100.0

_SIDES = ("source", "target")
_SPLITS = ("train", "test")
FILES = tuple(f"{side}_{split}{what}" for split in _SPLITS for side in _SIDES for what in ("", "_starts"))
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
        """How many pieces of each side are not in the vocabulary."""
        return {side: self._ids[side].count(UNK) for side in _SIDES}

    def arrays(self, split: str) -> dict[str, NDArray[np.int64]]:
        """Ids and starts by their names in a file, without a copy."""
        both = {"": self._ids, "_starts": self._starts}
        return {
            f"{side}_{split}{what}": np.frombuffer(values[side], np.int64)
            for side in _SIDES
            for what, values in both.items()
        }


def made(
    train: Corpus,
    test: Corpus,
    *,
    pieces: tuple[str, ...],
    sources: Sequence[str],
    references: Sequence[str],
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """All fields of Arrays that sentence pairs have.

    Args:
        train: pairs to learn from.
        test: pairs to translate.
        pieces: text of each id.
        sources: source sentences of the test set, as text.
        references: target sentences of the test set, as text.
        about: what the data record says beyond counts.

    Raises:
        FramewattError: BLEU can say nothing of these references.
    """
    if bleu(references, references)[0] < BLEU_HIGHEST - 1:
        raise FramewattError(
            "test sentences: found none of four words or more; allowed: one, since BLEU counts four words in a row"
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
    return {
        **fields_of({**train.arrays("train"), **test.arrays("test")}),
        "class_count": len(pieces),
        "about": {**about, **counted},
        "task": TASK,
        "pieces": pieces,
        "references": tuple(references),
    }


def fields_of(arrays: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
    """Samples and labels as rows of these arrays; no id is looked at.

    Args:
        arrays: by the names in FILES: source sentences with EOS, target sentences with BOS and EOS, one after another,
            each shape (total,), int64; and where they begin, shape (n + 1,), int64.

    Raises:
        FramewattError: the starts are none.
    """
    fields: dict[str, Any] = {}
    for split in _SPLITS:
        source, target = (Ragged(arrays[f"{side}_{split}"], arrays[f"{side}_{split}_starts"], PAD) for side in _SIDES)
        labels = Ragged(target.values[1:], target.starts, IGNORED, 1)
        fields |= {
            f"x_{split}": source,
            f"more_{split}": {TARGET_IDS: Ragged(target.values, target.starts, PAD, 1)},
            f"y_{split}": labels,
            f"lengths_{split}": labels.lengths,
        }
    return fields


def stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a file holds of pairs, by name: ids and starts without a copy, and texts.

    Args:
        fields: of Arrays, by name.

    Raises:
        FramewattError: labels are not what `fields_of` gives beside a decoder's inputs.
    """
    content: dict[str, Any] = {}
    for split in _SPLITS:
        source, target, labels = fields[f"x_{split}"], fields[f"more_{split}"][TARGET_IDS], fields[f"y_{split}"]
        follow = _address(labels.values) - _address(target.values) == labels.values.itemsize
        if not (follow and labels.starts is target.starts and (source.cut, target.cut, labels.cut) == (0, 1, 1)):
            raise FramewattError(f"data set: found {split} pairs whose labels are not in their targets' memory")
        for side, rows in zip(_SIDES, (source, target), strict=True):
            content |= {f"{side}_{split}": rows.values, f"{side}_{split}_starts": rows.starts}
    # Lines hold no newline, so that one can be between them.
    return content | {name: _packed(fields[name]) for name in ("pieces", "references")}


def loaded(path: Path, content: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The fields of Arrays from a file that holds what `stored` gave; ids are mapped, not read.

    Raises:
        FramewattError: the starts are none.
        ValueError, KeyError, OSError: the file is damaged.
    """
    fields = fields_of({name: mapped(path, name) for name in FILES})
    return fields | {name: _unpacked(content[name]) for name in ("pieces", "references")}


def problems(fields: Mapping[str, Any], classes: int | None) -> Iterator[str]:
    """Where the fields of Arrays are no pairs of sentences, and what would be right; no training id is read.

    Args:
        fields: of Arrays, by name.
        classes: size of the vocabulary.
    """
    if fields["task"] != TASK:
        yield f"pairs of sentences for the task {fields['task']}; allowed: {TASK}"
    pieces, references = fields["pieces"], fields["references"]
    if classes is None or len(pieces) != classes or pieces[:FIRST] != SPECIAL:
        yield f"{len(pieces)} pieces of {classes} ids; allowed: the text of each, from {', '.join(SPECIAL[1:])} on"
        return
    if any("\n" in text for text in (*pieces, *references)):
        yield "a piece or a reference of two lines; allowed: lines"
    if fields["categories"] or fields["main"] is not None:
        yield "categories, or a name of the main input, beside pairs of sentences; allowed: neither"
    for split in _SPLITS:
        if (problem := _of_rows(fields, split)) is not None:
            yield problem
            return
    if len(references) != len(fields["x_test"]):
        yield f"{len(references)} references of {len(fields['x_test'])} test sentences; allowed: as many"
    yield from _of_ids(fields, classes)


def _of_rows(fields: Mapping[str, Any], split: str) -> str | None:
    """What is wrong with the rows of a split, apart from their values."""
    more, lengths = fields[f"more_{split}"], fields[f"lengths_{split}"]
    if list(more) != [TARGET_IDS] or lengths is None:
        return f"inputs {list(more)} beside source sentences, or no lengths; allowed: {TARGET_IDS}, and lengths"
    rows = {"source": fields[f"x_{split}"], TARGET_IDS: more[TARGET_IDS], "labels": fields[f"y_{split}"]}
    for (name, found), fill in zip(rows.items(), (PAD, PAD, IGNORED), strict=True):
        if not isinstance(found, Ragged) or found.fill != fill:
            return f"{name} of {split} pairs that are no rows padded with {fill}; allowed: a Ragged"
    counts = [len(found) for found in rows.values()]
    if len(set(counts)) > 1 or not counts[0]:
        return f"{counts} {split} sentences of {', '.join(rows)}; allowed: as many of each, one or more"
    each = rows["labels"].lengths
    if not (np.array_equal(each, rows[TARGET_IDS].lengths) and np.array_equal(each, lengths)):
        return f"{split} labels of other lengths than {TARGET_IDS}; allowed: the same, and these as lengths"
    if (shortest := min(int(each.min()), int(rows["source"].lengths.min()))) < _SHORTEST:
        return f"a {split} sentence of {shortest} ids; allowed: {_SHORTEST} or more, with its end"
    return None


def _of_ids(fields: Mapping[str, Any], classes: int) -> Iterator[str]:
    """What is wrong with ids of the test set."""
    sides = (fields["x_test"], fields["y_test"])
    for side, rows in zip(_SIDES, sides, strict=True):
        ids, ends = rows.joined(), np.cumsum(rows.lengths) - 1
        inner = np.delete(ids, ends)
        if (ids[ends] != EOS).any():
            yield f"a {side} sentence without its end; allowed: {EOS} as its last id"
        elif ((inner < FIRST) & (inner != UNK)).any() or inner.max() >= classes:
            yield f"{side} ids {inner.min()} to {inner.max()}; allowed: {UNK}, and {FIRST} to {classes - 1}"
    fed, labels = (rows.joined() for rows in (fields["more_test"][TARGET_IDS], fields["y_test"]))
    ends = np.cumsum(fields["y_test"].lengths)
    begins = np.concatenate([[0], ends[:-1]])
    if (fed[begins] != BOS).any() or not np.array_equal(np.delete(fed, begins), np.delete(labels, ends - 1)):
        yield f"{TARGET_IDS} that are not {BOS} and all labels but the last; allowed: these"


def _packed(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpacked(values: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(values.tobytes().decode().split("\n"))


def _address(values: NDArray[np.int64]) -> int:
    return int(values.__array_interface__["data"][0])


def text_of(ids: Iterable[int], pieces: Sequence[str]) -> str:
    """A sentence as text: pieces that go on are joined; an id that is no piece is `<unk>`.

    Args:
        ids: of the sentence, below `len(pieces)`, up to its end and without it.
        pieces: text of each id.
    """
    joined = " ".join(pieces[one] or UNKNOWN for one in ids)
    return re.sub(f"{GOES_ON}( |$)", "", joined)


def bleu(translations: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    """BLEU of a corpus, 0 to 100, and the signature of how sacrebleu counted it.

    Source: M. Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018.

    Args:
        translations: one sentence each.
        references: of each, what it should be.

    Raises:
        ImportError: sacrebleu is not there.
    """
    # Not in every environment that loads data sets.
    from sacrebleu.metrics.bleu import BLEU

    # Forced: it would else warn of text whose punctuation stands apart, which it counts alike.
    metric = BLEU(force=True)
    score = metric.corpus_score(list(translations), [list(references)]).score
    # Rounding may bring it above.
    return min(float(score), BLEU_HIGHEST), str(metric.get_signature())
