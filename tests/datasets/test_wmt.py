"""Parallel corpora: which pairs are learnt, which words are known, and what is said of a text that is none."""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets import wmt
from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import EOS, UNK, bleu, text_of
from framewatt.datasets.ragged import Ragged
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.datasets.subwords import learnt, vocabulary_of

NAMES = {"train": ["train.en", "train.de"], "test": ["test.en", "test.de"]}
TEXTS = {
    "train.en": "the dog sees the cat\na dog\nthe cat sees it\n",
    "train.de": "der hund sieht die katze\nein hund\ndie katze sieht ihn\n",
    "test.en": "a cat sees the dog\nthe dog\n",
    "test.de": "eine katze sieht den hund\nder hund\n",
}
FILES = tuple(TEXTS)


def written(folder: Path, **changed: str | bytes) -> Path:
    """The texts as files, some of them others (`train_en` for train.en)."""
    texts = {**TEXTS, **{name.replace("_", "."): text for name, text in changed.items()}}
    for name, text in texts.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def made(folder: Path, merges: int = 20, longest: int = 50, **changed: str | bytes) -> Arrays:
    return wmt.make(written(folder, **changed), **NAMES, merges=merges, longest=longest)


def texts_of(rows: Ragged, data: Arrays) -> list[str]:
    """Sentences as text, without ends and padding."""
    return [text_of([one for one in row if one == UNK or one > EOS], data.pieces) for row in rows[:].tolist()]


def test_the_pieces_of_every_sentence_give_its_words_back(tmp_path: Path) -> None:
    data = made(tmp_path)
    assert texts_of(data.x_train, data) == TEXTS["train.en"].splitlines()
    assert texts_of(data.y_train, data) == TEXTS["train.de"].splitlines()
    assert data.references == tuple(TEXTS["test.de"].splitlines())
    assert texts_of(data.x_test, data) == TEXTS["test.en"].splitlines()


def test_ids_are_given_by_falling_frequency_of_pieces_in_both_languages(tmp_path: Path) -> None:
    data = made(tmp_path)
    words = Counter(chain.from_iterable(TEXTS[name].split() for name in NAMES["train"]))
    merges = learnt(words, 20)
    counts = Counter(piece for word, count in words.items() for piece in merges.pieces(word) * count)
    ids = [counts[piece] for piece in data.pieces[4:] if piece]
    assert ids == sorted(ids, reverse=True)
    assert set(data.pieces[4:]) - {""} == set(counts)
    assert (len(data.pieces), data.classes, data.about["pieces"]) == (32, 32, len(counts))
    assert (data.about["merges"], data.about["merges_sha256"]) == (20, merges.sha256)


def test_equally_frequent_pieces_come_as_the_text_has_them_line_by_line(tmp_path: Path) -> None:
    data = made(tmp_path, train_en="c a\nd\n", train_de="b\na c\n", test_en="a b c d\n", test_de="d c b a\n")
    assert data.pieces[4:9] == ("c", "a", "b", "d", "")
    assert data.x_test[:][0, :5].tolist() == [5, 6, 4, 7, EOS]


def test_the_test_text_has_no_part_in_pieces_and_ids(tmp_path: Path) -> None:
    one = made(tmp_path)
    other = made(tmp_path, test_en="xylophone xylophone\n", test_de="ein xylophon ist ein xylophon\n")
    assert one.pieces == other.pieces
    assert np.array_equal(one.x_train[:], other.x_train[:])
    assert one.about["merges_sha256"] == other.about["merges_sha256"]


def test_pieces_that_training_lacks_are_unknown_and_are_counted(tmp_path: Path) -> None:
    data = made(tmp_path, test_en="the Dog 🙂\n", test_de="der hund é é sieht\n")
    # D@@ and o@@ and g: the first is in no word of the training text; a piece is unknown, not its whole word.
    assert texts_of(data.x_test, data)[0].startswith("the <unk>")
    assert data.about["unknown_test_pieces"] == {"source": (data.x_test[:] == UNK).sum(), "target": 2}
    assert data.about["unknown_test_pieces"]["source"] >= 2
    assert data.references == ("der hund é é sieht",)


def test_training_pairs_that_are_left_out_are_counted(tmp_path: Path) -> None:
    data = made(
        tmp_path,
        train_en="the dog\n\n \t \nA B\nC@@ D\nx x x x x x x x x\n a dog \n",
        train_de="der hund\nein hund\nB\n\nD\ny\nD@@\n",
        longest=8,
    )
    assert data.about["train_pairs_left_out"] == {"empty_side": 3, "word_that_ends_in_@@": 2, "too_long": 1}
    assert texts_of(data.x_train, data) == ["the dog"]
    # What is too long is in the vocabulary all the same.
    assert {"x", "y"} < set(data.pieces)
    assert not {"A", "B", "C", "D", "C@@", "D@@"} & set(data.pieces)


def test_longest_counts_pieces_of_either_side_without_their_end(tmp_path: Path) -> None:
    texts = {"train_en": "a\na a a\n", "train_de": "b b\nb\n"}
    assert len(made(tmp_path, longest=3, **texts).x_train) == 2
    assert texts_of(made(tmp_path, longest=2, **texts).x_train, made(tmp_path, longest=2, **texts)) == ["a"]
    with pytest.raises(FramewattError, match="it has no training pair of at most 1 pieces a side"):
        made(tmp_path, longest=1, **texts)


def test_no_test_pair_is_left_out_for_its_length(tmp_path: Path) -> None:
    data = made(tmp_path, longest=5, test_en="dog " * 40 + "\n", test_de="hund " * 80 + "\n")
    assert len(data.x_test) == 1
    assert data.x_test.shape[1] > 40
    assert data.y_test.shape[1] > 80


@pytest.mark.parametrize("word", ["x@@", "@@", "@@@", "a@@b", "</w>", "<unk>", "<s>", "\\", "#version:", "0"])
def test_words_that_look_like_signs_are_words(tmp_path: Path, word: str) -> None:
    """Also in the test text, where a word that ends in @@ can be no piece that goes on."""
    learnt_too = not word.endswith("@@")
    pair = {"train_en": "ab ab b @ x@ @a\nb\n", "train_de": f"ba ba x {word if learnt_too else ''}\na\n"}
    data = made(tmp_path, test_en=f"ab {word} ab b\n", test_de=f"ba {word} ba {word}\n", merges=50, **pair)
    assert data.references == (f"ba {word} ba {word}",)
    found = texts_of(data.x_test, data)[0]
    if learnt_too:
        assert found == f"ab {word} ab b"
    # Its last piece is no piece that goes on: the next word stands apart.
    assert found.startswith("ab ")
    assert found.endswith("@ ab b" if "@@" in word[-2:] else " ab b")


def test_the_copy_is_scored_as_a_translation_would_be(tmp_path: Path) -> None:
    data = made(tmp_path, test_en="one two three four x\n", test_de="one two three four y\n")
    assert data.about["copy_bleu"] == bleu(["one two three four x"], ["one two three four y"])[0]
    assert 50 < data.about["copy_bleu"] < 100


@pytest.mark.parametrize("split", NAMES)
@pytest.mark.parametrize("longer", [0, 1])
def test_files_of_unequal_length_are_told_with_both_counts(tmp_path: Path, split: str, longer: int) -> None:
    name = NAMES[split][longer]
    lines = TEXTS[name].count("\n")
    counts = [lines + 3 if side == longer else lines for side in (0, 1)]
    with pytest.raises(
        FramewattError,
        match=rf"{NAMES[split][1]}: it has {counts[1]} lines, {NAMES[split][0]} has {counts[0]}. Use as many",
    ):
        made(tmp_path, **{name.replace(".", "_"): TEXTS[name] + "x\ny\nz"})


@pytest.mark.parametrize("name", FILES)
def test_bytes_that_are_no_utf_8_are_named_with_their_line(tmp_path: Path, name: str) -> None:
    lines = TEXTS[name].encode().splitlines(keepends=True)
    lines[1] = b"ein caf\xe9\n"
    with pytest.raises(FramewattError, match=rf"{name}: line 2: it has bytes that are no UTF-8 .*. Use UTF-8"):
        made(tmp_path, **{name.replace(".", "_"): b"".join(lines)})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "latin-1", "cp1252"])
def test_a_text_in_another_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    text = TEXTS["train.de"].replace("hund", "hünd").encode(encoding)
    with pytest.raises(FramewattError, match=r"train\.de: "):
        made(tmp_path, train_de=text)


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FramewattError, match=f"{name}: the file is empty. Use one line or more"):
        made(tmp_path, **{name.replace(".", "_"): b""})


@pytest.mark.parametrize("blanks", ["\n\n\n", " \n\t\n\r\n", "\u2028\n\xa0\n \n"])
def test_a_training_file_of_blanks_is_told(tmp_path: Path, blanks: str) -> None:
    for side in ("train_en", "train_de"):
        with pytest.raises(FramewattError, match=r"train\.en: it has no training pair with a word on both sides"):
            made(tmp_path, **{side: blanks})


@pytest.mark.parametrize("side", NAMES["test"])
@pytest.mark.parametrize("line", ["", "  ", "\t\r", "\u3000"])
def test_a_test_pair_with_an_empty_side_is_named_with_its_line(tmp_path: Path, side: str, line: str) -> None:
    with pytest.raises(FramewattError, match=f"{side}: line 2: it has no word. Use a sentence, since every test pair"):
        made(tmp_path, **{side.replace(".", "_"): f"one two three four\n{line}\n"})


def test_lines_that_end_as_on_windows_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "unix").mkdir()
    (tmp_path / "windows").mkdir()
    one = made(tmp_path / "unix")
    texts = {name.replace(".", "_"): text.replace("\n", "\r\n") for name, text in TEXTS.items()}
    other = made(tmp_path / "windows", **texts)
    assert same(one, other)
    assert other.references[0] == "eine katze sieht den hund"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    for name in ("unmarked", "marked"):
        (tmp_path / name).mkdir()
    texts = {name.replace(".", "_"): f"\ufeff{text}" for name, text in TEXTS.items()}
    assert same(made(tmp_path / "unmarked"), made(tmp_path / "marked", **texts))
    # Elsewhere than at a file's begin it is a letter.
    data = made(tmp_path / "marked", train_en=TEXTS["train.en"].replace("a dog", "\ufeffa dog"))
    assert any("\ufeff" in piece for piece in data.pieces)


def test_a_last_line_without_its_end_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "short").mkdir()
    texts = {name.replace(".", "_"): text.removesuffix("\n") for name, text in TEXTS.items()}
    assert same(made(tmp_path), made(tmp_path / "short", **texts))


@pytest.mark.parametrize("blank", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\r", "\t", "\xa0", "  "])
def test_only_a_newline_ends_a_line_and_every_other_blank_is_between_words(tmp_path: Path, blank: str) -> None:
    (tmp_path / "blank").mkdir()
    changed = {
        "train_en": TEXTS["train.en"].replace("the dog", f"the{blank}dog"),
        "test_de": TEXTS["test.de"].replace("eine katze", f"eine{blank}katze"),
    }
    one, other = made(tmp_path), made(tmp_path / "blank", **changed)
    assert one.pieces == other.pieces
    assert np.array_equal(one.x_train[:], other.x_train[:])
    assert np.array_equal(one.y_test[:], other.y_test[:])
    # The reference is the file's; BLEU does not tell blanks apart.
    assert other.references[0] == f"eine{blank}katze sieht den hund"
    assert bleu(one.references, other.references)[0] == 100


def same(one: Arrays, other: Arrays) -> bool:
    rows = all(
        np.array_equal(a[:], b[:])
        for a, b in zip(
            (*one.inputs_train.values(), *one.inputs_test.values(), one.y_train, one.y_test),
            (*other.inputs_train.values(), *other.inputs_test.values(), other.y_train, other.y_test),
            strict=True,
        )
    )
    hashes = ("original_files_sha256",)
    about = [{name: value for name, value in data.about.items() if name not in hashes} for data in (one, other)]
    return rows and about[0] == about[1] and one.pieces == other.pieces and one.references == other.references


@pytest.mark.parametrize(
    "form", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text, lambda text: text.rstrip("\n")]
)
def test_the_same_text_in_another_form_is_the_same(tmp_path: Path, form: Callable[[str], str]) -> None:
    with pytest.raises(FramewattError, match=r"test\.de: it has the same text as test\.en"):
        made(tmp_path, test_de=form(TEXTS["test.en"]))


@pytest.mark.parametrize(
    ("twice", "other"),
    [("train.en", "train.de"), ("test.en", "test.de"), ("train.en", "test.en"), ("train.de", "test.de")],
)
def test_the_same_text_twice_is_refused(tmp_path: Path, twice: str, other: str) -> None:
    with pytest.raises(FramewattError, match=rf"{other}: it has the same text as {twice}. Use a source"):
        made(tmp_path, **{other.replace(".", "_"): TEXTS[twice]})


def test_one_file_for_two_is_refused(tmp_path: Path) -> None:
    options: dict[str, Any] = {"merges": 5, "longest": 5}
    written(tmp_path)
    with pytest.raises(FramewattError, match=r"train\.en: it has the same text as train\.en"):
        wmt.make(tmp_path, train=["train.en", "train.en"], test=NAMES["test"], **options)
    with pytest.raises(FramewattError, match=r"train\.de: it has the same text as train\.de"):
        wmt.make(tmp_path, train=NAMES["train"], test=["test.en", "train.de"], **options)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], "ab", []])
@pytest.mark.parametrize("split", NAMES)
def test_names_of_other_than_two_files_are_refused(tmp_path: Path, split: str, names: object) -> None:
    with pytest.raises(FramewattError, match=f"^{split}: .* is not possible. Use the names of a source"):
        wmt.make(tmp_path, **{**NAMES, split: names}, merges=5, longest=5)


def test_no_merges_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"^merges: 0 is not possible. Use 1 or more"):
        made(tmp_path, merges=0)


def test_files_are_found_in_the_folder_or_one_below_and_never_in_two(tmp_path: Path) -> None:
    options = {**NAMES, "merges": 5, "longest": 50}
    missing = r"it has 0 folders with train\.en, train\.de, test\.en, test\.de. Use one, it or one folder below"
    with pytest.raises(FramewattError, match=missing):
        wmt.make(tmp_path, **options)
    (tmp_path / "one").mkdir()
    written(tmp_path / "one")
    assert wmt.make(tmp_path, **options).about["original_files"] == 4
    (tmp_path / "other").mkdir()
    written(tmp_path / "other")
    with pytest.raises(FramewattError, match="it has 2 folders with"):
        wmt.make(tmp_path, **options)


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    for number in (0, 1):
        save_arrays(tmp_path / f"{number}.npz", made(tmp_path))
    assert sha256_of(tmp_path / "0.npz") == sha256_of(tmp_path / "1.npz")


def test_the_real_sample_is_whole_and_comes_back(tmp_path: Path) -> None:
    folder = sample("wmt-en-de-opennmt")
    names = {"train": ["src-train.txt", "tgt-train.txt"], "test": ["src-val.txt", "tgt-val.txt"]}
    data = wmt.make(folder, **names, merges=2000, longest=50)
    save_arrays(tmp_path / "some.npz", data)
    data = load_arrays(tmp_path / "some.npz")
    left_out = data.about["train_pairs_left_out"]
    assert sum(left_out.values()) + len(data.x_train) == 3000
    lines = [
        [line.split() for line in (folder / name).read_bytes().decode("utf-8").split("\n")[:3000]]
        for name in names["train"]
    ]
    pairs = [pair for pair in zip(*lines, strict=True) if all(pair)]
    assert left_out["empty_side"] == 3000 - len(pairs)
    merges = learnt(Counter(chain.from_iterable(chain(*pair) for pair in pairs)), 2000)
    assert data.about["merges_sha256"] == merges.sha256
    counts = Counter(piece for pair in pairs for side in pair for word in side for piece in merges.pieces(word))
    assert data.pieces == vocabulary_of(counts)
    short = [pair for pair in pairs if max(sum(len(merges.pieces(word)) for word in side) for side in pair) <= 50]
    assert texts_of(data.x_train, data) == [" ".join(source) for source, _ in short]
    assert texts_of(data.y_train, data) == [" ".join(target) for _, target in short]
    assert "\n".join(data.references) == (folder / "tgt-val.txt").read_text(encoding="utf-8").rstrip("\n")
    # What docs/datasets.md says of it.
    page = (ROOT / "docs" / "datasets.md").read_text()
    assert f"| `wmt-en-de-sample` | {data.classes} | {data.about['copy_bleu']:.2f} |" in page
    assert f"{left_out['too_long']:,} of 3,000 training pairs" in page
