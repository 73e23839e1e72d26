"""IMDB reviews, and the WordPiece tokens that they become."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets.imdb import make
from framewatt.datasets.subwords import make_tokenizer, read_vocabulary, train_vocabulary

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "good", "bad", "film", "##s", "!"]


def write_reviews(folder: Path, **texts: bytes) -> Path:
    """aclImdb with one review in each folder; `test_neg` and so on change what is in it."""
    for part in ("train", "test"):
        for name, text in (("neg", b"A bad film!"), ("pos", b"Good films")):
            path = folder / "aclImdb" / part / name / "7_5.txt"
            path.parent.mkdir(parents=True)
            path.write_bytes(texts.get(f"{part}_{name}", text))
    return folder


def write_vocabulary(folder: Path, tokens: list[str] = TOKENS) -> Path:
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens))
    return folder


def test_reviews_become_ids_mask_and_types(tmp_path: Path) -> None:
    vocabulary = write_vocabulary(tmp_path / "vocabulary")
    arrays = make(folder=write_reviews(tmp_path), vocabulary=vocabulary, length=8)
    samples = {label: index for index, label in enumerate(arrays.y_test.tolist())}
    assert [TOKENS[i] for i in arrays.x_test[samples[0]]] == [
        *("[CLS]", "a", "bad", "film", "!", "[SEP]"),
        *("[PAD]", "[PAD]"),
    ]
    assert [TOKENS[i] for i in arrays.x_test[samples[1]]][:5] == ["[CLS]", "good", "film", "##s", "[SEP]"]
    assert arrays.more_test["attention_mask"][samples[0]].tolist() == [1] * 6 + [0] * 2
    assert not arrays.more_test["token_type_ids"].any()
    assert (arrays.x_test.dtype, arrays.input_shape, arrays.classes) == (np.int64, (8,), 2)


def test_longer_reviews_are_cut_and_counted(tmp_path: Path) -> None:
    vocabulary = write_vocabulary(tmp_path / "vocabulary")
    arrays = make(folder=write_reviews(tmp_path), vocabulary=vocabulary, length=5)
    samples = {label: index for index, label in enumerate(arrays.y_test.tolist())}
    assert [TOKENS[i] for i in arrays.x_test[samples[0]]] == ["[CLS]", "a", "bad", "film", "[SEP]"]
    assert arrays.about["cut"] == {"train": 1, "test": 1}


def test_words_are_split_as_the_authors_of_bert_show() -> None:
    # The example of BERT's own tests.
    words = ["[UNK]", "[CLS]", "[SEP]", "want", "##want", "##ed", "wa", "un", "runn", "##ing", ",", "[PAD]"]
    found = make_tokenizer(words, 10).encode("UNwant\u00e9d,running")
    assert found.tokens[1:7] == ["un", "##want", "##ed", ",", "runn", "##ing"]
    assert make_tokenizer(words, 10).encode("unwantedX running").tokens[1:4] == ["[UNK]", "runn", "##ing"]


def test_real_reviews_are_read_mixed_and_balanced() -> None:
    arrays = make(folder=sample("imdb-aclImdb"), length=64, vocabulary_size=2000)
    assert (arrays.x_train.shape, arrays.x_test.shape) == ((200, 64), (200, 64))
    assert np.bincount(arrays.y_train).tolist() == [100, 100]
    assert 0.3 < arrays.y_test[:50].mean() < 0.7
    known = arrays.about["vocabulary"]
    assert (known["trained"], known["from"], known["tokens"]) == (True, "trained on the training reviews", 2000)
    unknown = (arrays.x_test == 1).sum() / arrays.more_test["attention_mask"].sum()
    assert unknown < 0.01


def test_a_vocabulary_is_trained_alike_in_every_process() -> None:
    folder = sample("imdb-aclImdb")
    code = (
        "import json, sys; from pathlib import Path; from framewatt.datasets.subwords import train_vocabulary;"
        "texts = [p.read_text() for p in sorted(Path(sys.argv[1]).glob('aclImdb/train/*/*.txt'))];"
        "print(json.dumps(train_vocabulary(texts, 3000)))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, check=True, env={"PYTHONPATH": str(ROOT / "src")}
        ).stdout
        for _ in range(3)
    ]
    assert found[0] == found[1] == found[2]
    tokens = json.loads(found[0])
    assert tokens[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert {"the", "movie", "##ing"} < set(tokens)


def test_a_trained_vocabulary_can_write_every_letter_it_saw() -> None:
    tokens = train_vocabulary(["abc abc cab", "é!"], 100)
    assert {"a", "b", "c", "##a", "##b", "##c", "e", "!"} <= set(tokens)


WRONG = b"caf\xe9 bad film"


def test_a_review_in_another_encoding_is_named(tmp_path: Path) -> None:
    write_reviews(tmp_path, test_neg=WRONG)
    with pytest.raises(FramewattError, match=r"test/neg/7_5.txt: it has a review that is not UTF-8 .*at byte 3"):
        make(folder=tmp_path, vocabulary=write_vocabulary(tmp_path / "vocabulary"), length=8)


def test_a_review_in_another_encoding_can_be_left_out_or_replaced(tmp_path: Path) -> None:
    write_reviews(tmp_path, test_neg=WRONG)
    options = {"folder": tmp_path, "vocabulary": write_vocabulary(tmp_path / "vocabulary"), "length": 8}
    without = make(**options, wrong_encoding="leave_out")
    assert without.y_test.tolist() == [1]
    assert [one["file"] for one in without.about["left_out"]] == ["test/neg/7_5.txt"]
    replaced = make(**options, wrong_encoding="replace")
    assert sorted(replaced.y_test.tolist()) == [0, 1]
    assert (replaced.about["left_out"], replaced.about["replaced"]) == ([], ["test/neg/7_5.txt"])
    with pytest.raises(FramewattError, match="wrong_encoding: latin-1 is not possible"):
        make(**options, wrong_encoding="latin-1")


def test_another_vocabulary_than_the_expected_one_is_refused(tmp_path: Path) -> None:
    write_reviews(tmp_path)
    vocabulary = write_vocabulary(tmp_path / "vocabulary")
    right = sha256_of(vocabulary / "vocab.txt")
    options = {"folder": tmp_path, "vocabulary": vocabulary, "length": 8}
    assert make(**options, expected_vocabulary_sha256=right).about["vocabulary"]["sha256"] == right
    with pytest.raises(FramewattError, match=f"vocab.txt: it has sha256 {right}. Use 0{{64}}"):
        make(**options, expected_vocabulary_sha256="0" * 64)


@pytest.mark.parametrize(
    ("tokens", "reason"), [(TOKENS[1:], r"it has no \[PAD\] in 9 lines"), ([*TOKENS, "a"], "it has a token twice")]
)
def test_what_is_no_vocabulary_is_told(tmp_path: Path, tokens: list[str], reason: str) -> None:
    with pytest.raises(FramewattError, match=reason):
        read_vocabulary(write_vocabulary(tmp_path / "vocabulary", tokens) / "vocab.txt")
    with pytest.raises(FramewattError, match=r"none.txt: it is not a vocabulary"):
        read_vocabulary(tmp_path / "none.txt")


def test_a_folder_without_reviews_is_named(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match="train/neg: it has no reviews"):
        make(folder=tmp_path, length=8)
