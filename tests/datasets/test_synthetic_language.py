"""A drawn language: its translation is its own sentence turned round, word by word, and can be learnt."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets import make_arrays, synthetic_language
from framewatt.datasets.catalogue import load_catalogue
from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import BOS, EOS, UNK, text_of
from framewatt.datasets.ragged import Ragged
from framewatt.datasets.storing import load_arrays, save_arrays

FEW = {"vocabulary": 40, "train_pairs": 300, "test_pairs": 50, "longest": 8}
CATALOGUE = load_catalogue(ROOT / "config/datasets.yaml", ROOT / "config/schemas/datasets.schema.yaml")


def few(**changed: Any) -> Arrays:
    return synthetic_language.make(**{**FEW, "seed": 0, **changed})


def words_of(rows: Ragged, data: Arrays) -> list[list[str]]:
    """Sentences as words, without BOS, EOS and padding."""
    return [
        text_of([one for one in row if one not in (-1, 0, BOS, EOS)], data.pieces).split() for row in rows[:].tolist()
    ]


def pairs_of(data: Arrays) -> list[tuple[list[str], list[str]]]:
    """All pairs, of training and test."""
    return [
        pair
        for x, y in ((data.x_train, data.y_train), (data.x_test, data.y_test))
        for pair in zip(words_of(x, data), words_of(y, data), strict=True)
    ]


def test_a_translation_is_the_sentence_turned_round_by_one_lexicon() -> None:
    pairs = pairs_of(few())
    lexicon: dict[str, set[str]] = {}
    for source, target in pairs:
        for word, other in zip(reversed(source), target, strict=True):
            lexicon.setdefault(word, set()).add(other)
    assert all(len(others) == 1 for others in lexicon.values())
    assert len({other for others in lexicon.values() for other in others}) == len(lexicon) == 40
    assert sum(word in others for word, others in lexicon.items()) < 10


def test_no_sentence_comes_twice_and_lengths_are_as_asked() -> None:
    sources = [tuple(source) for source, _ in pairs_of(few())]
    assert len(set(sources)) == len(sources) == 350
    assert {len(source) for source in sources} == {4, 5, 6, 7, 8}


def test_words_are_as_frequent_as_1_over_their_rank() -> None:
    data = few(vocabulary=50, train_pairs=4000)
    counts = [count for _, count in Counter(word for source, _ in pairs_of(data) for word in source).most_common()]
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.25)
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.25)


def test_training_and_test_are_alike() -> None:
    """Sentences that are drawn late are longer, since short ones came already: they must not all be in one split."""
    data = few(vocabulary=4, train_pairs=1500, test_pairs=1000, longest=7)
    means = [np.mean(rows.lengths) for rows in (data.x_train, data.x_test)]
    assert means[0] == pytest.approx(means[1], abs=0.2)


def test_the_same_seed_draws_the_same_and_another_another(tmp_path: Path) -> None:
    hashes = []
    for number, seed in enumerate((0, 0, 1)):
        save_arrays(tmp_path / f"{number}.npz", few(seed=seed))
        hashes.append(sha256_of(tmp_path / f"{number}.npz"))
    assert hashes[0] == hashes[1] != hashes[2]
    assert words_of(few().x_test, few()) != words_of(few(seed=1).x_test, few(seed=1))


@pytest.mark.parametrize(
    ("name", "train", "test", "classes", "longest"),
    [("synthetic-language", 20000, 500, 224, 12), ("synthetic-language-few", 512, 64, 64, 8)],
)
def test_data_sets_of_this_project(
    tmp_path: Path, name: str, train: int, test: int, classes: int, longest: int
) -> None:
    data = make_arrays(CATALOGUE.definitions[name])
    save_arrays(tmp_path / "some.npz", data)
    data = load_arrays(tmp_path / "some.npz")
    assert (len(data.x_train), len(data.x_test), data.classes) == (train, test, classes)
    assert data.x_train.shape[1] == data.y_train.shape[1] == longest + 1
    assert data.more_test["target_ids"][:1][0, 0] == BOS
    assert (data.about["synthetic"], data.about["seed"]) == (True, 0)
    assert data.about["unknown_test_pieces"] == {"source": 0, "target": 0}
    # The source is no translation, and a model that hands it out has learnt nothing.
    assert data.about["copy_bleu"] < 1
    assert f"| `{name}` | {classes} | {data.about['copy_bleu']:.2f} |" in (ROOT / "docs/datasets.md").read_text()


def test_more_pairs_than_there_are_sentences_are_told() -> None:
    """Two words give 16 sentences of four."""
    reason = "^pairs: there are 16 different sentences of 2 words, and 17 pairs are wanted"
    with pytest.raises(FramewattError, match=reason):
        few(vocabulary=2, longest=4, train_pairs=16, test_pairs=1)


def test_all_sentences_that_there_are_can_be_drawn() -> None:
    data = few(vocabulary=2, longest=4, train_pairs=15, test_pairs=1)
    assert len({tuple(source) for source, _ in pairs_of(data)}) == 16


def test_test_words_that_training_lacks_are_unknown() -> None:
    data = few(vocabulary=2000, train_pairs=5, test_pairs=200)
    known = {word for source, target in pairs_of(data)[:5] for word in (*source, *target)}
    assert data.about["unknown_test_pieces"] == {
        "source": (data.x_test[:] == UNK).sum(),
        "target": sum(word not in known for text in data.references for word in text.split()),
    }
    assert data.about["unknown_test_pieces"]["source"] > 100
