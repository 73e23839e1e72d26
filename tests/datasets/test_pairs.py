"""Pairs of sentences: what a model gets and what it is to say, stored once, and mapped when they are loaded."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resident import needs_proc, resident_mb

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets.contract import Texts
from framewatt.datasets.mapped import write_npz
from framewatt.datasets.pairs import (
    BOS,
    EOS,
    FILES,
    PAD,
    SPECIAL,
    UNK,
    Corpus,
    Pairs,
    bleu,
    make_pairs,
    rows_of,
    text_of,
)
from framewatt.datasets.ragged import IGNORED, Ragged
from framewatt.datasets.record import record_of
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.tasks import task_for

PIECES = (*SPECIAL, "the", "a@@", "b", "c", "dog", "cat", "", "")
TRAIN = [([4, 5, 6], [7]), ([8], [9, 9, 4, 6]), ([5, 7], [5, 6])]
TEST = [([8, 9], [4, 7, 8, 9]), ([5, 6, UNK], [9])]


def corpus(pairs: Sequence[tuple[list[int], list[int]]]) -> Corpus:
    found = Corpus()
    for source, target in pairs:
        found.add(source, target)
    return found


def some(train: Sequence[Any] = TRAIN, test: Sequence[Any] = TEST) -> Pairs:
    sources, references = ([text_of(pair[side], PIECES) for pair in test] for side in (0, 1))
    about = {"synthetic": True}
    return make_pairs(
        *(corpus(train), corpus(test)),
        pieces=PIECES,
        sources=sources,
        references=references,
        about=about,
        task="translation",
    )


def test_a_decoder_gets_what_comes_before_each_label() -> None:
    data = some()
    assert [row[:5].tolist() for row in data.x_train[:]] == [[4, 5, 6, EOS, PAD], [8, EOS, 0, 0, 0], [5, 7, EOS, 0, 0]]
    fed, labels = data.more_train["target_ids"][:], data.y_train[:]
    assert fed[:, :5].tolist() == [[BOS, 7, 0, 0, 0], [BOS, 9, 9, 4, 6], [BOS, 5, 6, 0, 0]]
    assert labels[:, :5].tolist() == [[7, EOS, -1, -1, -1], [9, 9, 4, 6, EOS], [5, 6, EOS, -1, -1]]
    assert fed.shape == labels.shape == (3, 8)
    assert data.lengths_train.tolist() == [2, 5, 3]
    assert (data.labels(test=True) == [4, 7, 8, 9, EOS, 9, EOS]).all()
    assert (data.labels(test=False) == [7, EOS, 9, 9, 4, 6, EOS, 5, 6, EOS]).all()


def test_engines_find_what_they_ask_of_arrays() -> None:
    data = some()
    assert list(data.inputs_test) == ["input_ids", "target_ids"]
    assert (data.task, data.classes, data.categories, data.layout) == ("translation", 12, (), "NL")
    assert (data.input_shape, data.lengths(test=True).tolist()) == ((4,), [5, 2])
    for values in (*data.inputs_train.values(), data.y_train):
        assert (len(values), values.dtype, values[np.array([2, 0])].shape) == (3, np.int64, (2, 8))


def test_labels_and_a_decoders_inputs_are_the_same_memory() -> None:
    data = some()
    assert np.shares_memory(data.y_train.values, data.more_train["target_ids"].values)


def test_pairs_are_counted() -> None:
    about = some().about
    assert (about["vocabulary"], about["pieces"], about["synthetic"]) == (12, 6, True)
    assert about["train_tokens"] == {"source": 6, "target": 7}
    assert about["test_tokens"] == {"source": 5, "target": 5}
    assert about["unknown_test_pieces"] == {"source": 1, "target": 0}
    assert about["bleu"] == bleu(["a"], ["b"])[1]
    assert about["copy_bleu"] == bleu(["dog cat", "ab <unk>"], ["the c dog cat", "cat"])[0]


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([4, 8], "the dog"),
        ([5, 6, 8], "ab dog"),
        ([5, 5, 6], "aab"),
        # A piece that goes on, at a sentence's end or before an id that is none.
        ([8, 5], "dog a"),
        ([5, UNK], "a<unk>"),
        ([10, 8, 11], "<unk> dog <unk>"),
        ([BOS, 8], "<s> dog"),
        ([], ""),
    ],
)
def test_pieces_become_text(ids: list[int], text: str) -> None:
    assert text_of(ids, PIECES) == text


def test_only_the_sign_at_a_pieces_end_says_that_its_word_goes_on() -> None:
    pieces = (*SPECIAL, "a@@b", "x@@@@", "y@", "@@@@z")
    assert text_of([4, 4], pieces) == "a@@b a@@b"
    assert text_of([5, 4], pieces) == "x@@a@@b"
    assert text_of([6, 4], pieces) == "y@ a@@b"
    assert text_of([7], pieces) == "@@@@z"


def test_bleu_says_how_it_was_counted_and_is_never_above_100() -> None:
    """Sacrebleu's own rounding gives 100.00000000000004 of these."""
    value, method = bleu(["a b c d e", "d e"], ["a b c d e", "d e"])
    assert value == 100.0
    assert {part.partition(":")[0] for part in method.split("|")} == {
        "nrefs",
        "case",
        "eff",
        "tok",
        "smooth",
        "version",
    }
    assert bleu(["", ""], ["a b c d e", "d e"])[0] == 0.0


def test_references_of_which_bleu_is_always_0_are_refused() -> None:
    reason = "^test sentences: none has four words or more"
    with pytest.raises(FramewattError, match=reason):
        some(test=[([4], [7, 8, 9])])
    assert len(some(test=[([4], [7, 8, 9, 4])]).x_test) == 1


def test_the_record_counts_sentences_and_lists_no_vocabulary() -> None:
    record = record_of("some", {}, "0", some(), [])
    assert (record["task"], record["classes"]) == ("translation", 12)
    assert (record["train_samples"], record["test_samples"]) == (3, 2)
    assert record["inputs"] == {"input_ids": "int64", "target_ids": "int64"}
    # These would be read as units of work, which are sentences.
    assert not {"train_units", "test_units"} & set(record)
    assert not [name for name in record if name.endswith("per_class")]


def saved(folder: Path, data: Pairs, name: str = "some.npz") -> Path:
    save_arrays(folder / name, data)
    return folder / name


def test_the_file_holds_each_sentence_once_and_gives_the_same_arrays_back(tmp_path: Path) -> None:
    many = [([4, 5, 6] * 10, [7, 8] * 20)] * 1000
    data = some(train=many)
    path = saved(tmp_path, data)
    assert path.stat().st_size < 8 * 1000 * (31 + 42 + 2) + 8192
    again = load_arrays(path)
    for name in ("x_train", "y_train", "x_test", "y_test"):
        assert np.array_equal(getattr(again, name)[:], getattr(data, name)[:]), name
    for name in ("lengths_train", "lengths_test"):
        assert np.array_equal(getattr(again, name), getattr(data, name)), name
    for more, other in ((again.more_train, data.more_train), (again.more_test, data.more_test)):
        assert np.array_equal(more["target_ids"][:], other["target_ids"][:])
    for name in ("about", "classes", "task", "pieces", "references", "categories", "class_count"):
        assert getattr(again, name) == getattr(data, name), name
    assert sha256_of(saved(tmp_path, again, "again.npz")) == sha256_of(path)


@pytest.mark.parametrize("text", ["the  dog\t", "", "\ufeffa\x00", "the\r dog\u2028", "日本 🙂"])
def test_references_come_back_as_they_were(tmp_path: Path, text: str) -> None:
    data = replace(some(), references=("the c dog cat", text))
    assert load_arrays(saved(tmp_path, data)).references == data.references


@needs_proc
def test_a_large_corpus_is_not_read_until_it_is_looked_at(tmp_path: Path) -> None:
    """600,000 pairs of 25 ids a side: 30 million tokens."""
    count, each = 600_000, 25
    starts = np.arange(count + 1) * each
    of_test = corpus(TEST).arrays("test")
    train = {
        name: starts if name.endswith("starts") else np.full(count * each, 4)
        for name in FILES
        if name.partition("_")[2].startswith("train")
    }
    path = saved(tmp_path, replace(some(), **rows_of({**train, **of_test})))
    loaded_mb, planned_mb, read_mb = resident_mb(
        path,
        "data = load_arrays(path)",
        "next(task_of('translation').plan('train', data, 64))",
        "data.x_train.values.sum() + data.y_train.values.sum()",
    )
    assert loaded_mb < 50
    # Lengths of all pairs and their order.
    assert planned_mb < 75
    # Had the first numbers been those of a process whose memory is not counted, this one would be small, too.
    assert read_mb > 230


def content(**changed: Any) -> dict[str, Any]:
    """What a file of pairs holds, with some of it changed, or left out by None."""
    texts = {"pieces": "\n".join(PIECES), "references": "the c dog cat\ncat"}
    whole = {
        **corpus(TRAIN).arrays("train"),
        **corpus(TEST).arrays("test"),
        **{name: np.frombuffer(text.encode(), np.uint8) for name, text in texts.items()},
        "class_count": np.int64(12),
        "about": np.array("{}"),
        "task": np.array("translation"),
    }
    return {name: values for name, values in {**whole, **changed}.items() if values is not None}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"source_train": np.zeros(9, np.int32)}, r"source_train is of shape \(9,\), int32. Use \(n,\) int64"),
        ({"target_test": None}, "There is no item named 'target_test.npy' in the archive"),
        ({"source_train_starts": np.array([0, 4, 6])}, "9 values belong to rows that end at 6"),
        ({"source_train_starts": np.array([0, 4, 6, 99])}, "9 values belong to rows that end at 99"),
        ({"target_train_starts": np.array([0, 7, 3, 13])}, "starts of rows do not rise from 0"),
        ({"source_train_starts": np.array([0, 4, 9])}, r"source, target_ids, labels have \[2, 3, 3\] train sentences"),
        (
            {"source_train_starts": np.array([0, 4, 5, 9])},
            "a train sentence has 1 ids. Use 2 or more, with its end",
        ),
        ({"source_test": np.array([8, 12, 3, 5, 6, 1, 3])}, "source ids are 1 to 12. Use 1, and 4 to 11"),
        ({"source_test": np.array([8, 3, 3, 5, 6, 1, 3])}, "source ids are 1 to 8"),
        ({"source_test": np.array([8, 9, 3, 5, -6, 1, 3])}, "source ids are -6 to 9"),
        (
            {"source_test": np.array([8, 9, 3, 5, 6, 1, 4])},
            "a source sentence has no end. Use 3 as its last id",
        ),
        ({"target_test": np.array([2, 4, 7, 8, 9, 4, 2, 9, 3])}, "a target sentence has no end"),
        (
            {"target_test": np.array([4, 4, 7, 8, 9, 3, 2, 9, 3])},
            "target_ids are not 2 and all labels but the last",
        ),
        ({"references": np.frombuffer(b"one", np.uint8)}, "1 references belong to 2 test sentences. Use as many"),
        ({"references": np.frombuffer(b"\xff\n", np.uint8)}, "'utf-8' codec can't decode"),
        (
            {"class_count": np.int64(13)},
            "12 pieces have 13 ids. Use .* <unk>, <s>, </s>",
        ),
        ({"pieces": np.frombuffer(b"a\nb", np.uint8)}, "2 pieces have 12 ids"),
        ({"pieces": None}, "pieces"),
        ({"categories": np.array([3, 4])}, "categories is not a part of Pairs"),
    ],
)
def test_a_file_of_no_pairs_is_one_line(tmp_path: Path, changed: dict[str, Any], reason: str) -> None:
    path = tmp_path / "some.npz"
    write_npz(path, content())
    assert load_arrays(path).references == ("the c dog cat", "cat")
    write_npz(path, content(**changed))
    with pytest.raises(FramewattError, match=rf"some\.npz: cannot read .*{reason}.* Remove the file") as caught:
        load_arrays(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, some())
    whole = path.read_bytes()
    for length in range(0, len(whole), 23):
        path.write_bytes(whole[:length])
        with pytest.raises(FramewattError, match=r"some\.npz: cannot read a data set"):
            load_arrays(path)


def test_any_byte_may_be_wrong_and_the_answer_is_one_line_or_arrays(tmp_path: Path) -> None:
    path = saved(tmp_path, some())
    whole = path.read_bytes()
    told = []
    for place in range(0, len(whole), 11):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            # A number of training that is wrong is not noticed; no place outside the file is looked at for it.
            assert len(load_arrays(path).x_train[:]) == 3
        except FramewattError as error:
            told.append(str(error))
    assert len(told) > len(whole) / 40
    assert not [line for line in told if "\n" in line]


def test_labels_that_are_not_those_of_the_decoders_inputs_are_not_saved(tmp_path: Path) -> None:
    data = some()
    copied = Ragged(data.y_train.values.copy(), data.y_train.starts, IGNORED, 1)
    with pytest.raises(FramewattError, match="labels of train pairs are not in the memory of their targets"):
        saved(tmp_path, replace(data, y_train=copied))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"x_test": np.zeros((2, 4), np.int64)},
            "source of test pairs are not rows padded with 0. Use a Ragged",
        ),
        ({"x_train": np.zeros((3, 4), np.int64)}, "source of train pairs are not rows padded with 0"),
        ({"y_test": np.zeros((2, 4), np.int64)}, "labels of test pairs are not rows padded with -1"),
        ({"y_train": some().more_train["target_ids"]}, "labels of train pairs are not rows padded with -1"),
        ({"more_test": {}}, r"inputs after source sentences are \[\]. Use target_ids"),
        ({"y_test": some(test=TEST[::-1]).y_test}, "test labels have other lengths than target_ids. Use the same"),
        ({"references": ("a",)}, "1 references belong to 2 test sentences. Use as many"),
        ({"references": ("a", "b\nc")}, "a piece or a reference has two lines"),
        ({"pieces": ()}, "0 pieces have 12 ids"),
        ({"class_count": None}, "12 pieces have None ids"),
        (
            {"x_test": Ragged(np.zeros(0, np.int64), np.array([0]), PAD)},
            r".* have \[0, 2, 2\] test sentences",
        ),
    ],
)
def test_arrays_that_are_no_pairs_are_told(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(FramewattError, match=f"data set: {reason}"):
        replace(some(), **changed)


def test_a_translation_of_plain_arrays_and_pairs_of_another_task_are_refused() -> None:
    ids = np.zeros((2, 3), np.int64)
    with pytest.raises(FramewattError, match="the task translation does not take Texts"):
        task_for(Texts(ids, ids[:, 0], ids, ids[:, 0], class_count=5, task="translation"))
    for task in ("tagging", None):
        with pytest.raises(FramewattError, match="does not take Pairs"):
            task_for(replace(some(), task=task))
