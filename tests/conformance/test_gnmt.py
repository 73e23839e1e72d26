"""GNMT: the same model in PyTorch and TensorFlow, from its weights to its steps and its translations."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carry_gnmt import ALONE, CASES, TINY, TINY_WORDS, WORDS, all_prefixes
from same_steps import assert_gradients_alike, assert_ten_steps_alike
from stages import run_program, run_stages

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import BOS, EOS, FIRST, PAD, UNK
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.storing import save_arrays
from framewatt.study.cell import environment_of
from framewatt.workloads.families.gnmt import (
    AS_PUBLISHED,
    COVERAGE,
    FULL,
    LEAST_COVERED,
    LENGTH_BEGIN,
    LENGTH_NORM,
    SMALL,
    SMOOTHING,
    Dimensions,
)

FRAMEWORKS = ("torch", "tensorflow")
SENTENCES = 100
VOCABULARY = 32_320
"""Of the reference, padded."""


def shapes_of(dimensions: Dimensions, words: int) -> dict[str, tuple[int, ...]]:
    """Shapes of all trained weights, by PyTorch's names."""
    hidden = dimensions.hidden
    found: dict[str, tuple[int, ...]] = {"encoder.embedding.weight": (words, hidden)}
    for name, width in dimensions.inputs().items():
        found |= {f"{name}.weight_ih_l0": (4 * hidden, width), f"{name}.weight_hh_l0": (4 * hidden, hidden)}
        found[f"{name}.bias_ih_l0"] = (4 * hidden,)
    return {
        **found,
        "decoder.attention.vector": (hidden,),
        "decoder.attention.scale": (1,),
        "decoder.attention.bias": (hidden,),
        "decoder.attention.query.weight": (hidden, hidden),
        "decoder.attention.keys.weight": (hidden, hidden),
        "decoder.classifier.weight": (words, hidden),
        "decoder.classifier.bias": (words,),
    }


def drawn(
    draw: np.random.Generator, dimensions: Dimensions, words: int, spread: float, ends: float
) -> dict[str, np.ndarray]:
    """Weights larger than a model begins with, so that every part of it weighs; `ends` is added to the score of EOS."""
    weights = {
        name: draw.normal(0, spread, shape).astype(np.float32) for name, shape in shapes_of(dimensions, words).items()
    }
    weights["decoder.attention.scale"][:] = 3
    weights["decoder.classifier.bias"][EOS] += ends
    weights["encoder.embedding.weight"][PAD] = 0
    return weights


def sentences(draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Pairs of sentences of 1 to 11 words, the target apart from the source."""
    source, target_ids = np.full((SENTENCES, 12), PAD), np.full((SENTENCES, 10), PAD)
    labels = np.full((SENTENCES, 10), IGNORED)
    for row in range(SENTENCES):
        one, other = (draw.integers(FIRST, WORDS, draw.integers(1, most)) for most in (12, 10))
        source[row, : len(one) + 1] = [*one, EOS]
        target_ids[row, : len(other) + 1] = [BOS, *other]
        labels[row, : len(other) + 1] = [*other, EOS]
    tiny = draw.choice([UNK, FIRST, FIRST + 1], (12, 4))
    tiny[:, 3] = EOS
    tiny[6:, 2:] = [EOS, PAD]
    return {"source": source, "target_ids": target_ids, "labels": labels, "tiny": tiny}


def carry(framework: str, folder: Path, what: str) -> dict[str, Any]:
    script = Path(__file__).with_name("carry_gnmt.py")
    printed = run_program(environment_of(framework, "cpu"), script, framework, folder, what)
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights and sentences that both frameworks get."""
    folder = tmp_path_factory.mktemp("carried")
    draw = np.random.default_rng(0)
    np.savez(folder / "data.npz", **sentences(draw))
    for case, dimensions in CASES.items():
        np.savez(folder / f"{case}.npz", **drawn(draw, dimensions, WORDS, spread=0.4, ends=0.2))
    # Chosen among some 130 drawn: with these, coverage, ends and the width of the beam all change translations.
    np.savez(folder / "tiny.npz", **drawn(np.random.default_rng(19), TINY, TINY_WORDS, spread=1.2, ends=-1.5))
    return folder


@pytest.fixture(scope="module")
def carried(given: Path) -> Path:
    """What both frameworks compute from the same weights."""
    for framework in FRAMEWORKS:
        for case, begin in carry(framework, given, "parity").items():
            assert begin["alike"] == 0, (framework, case)
            # Attention's scale and bias are constants at first.
            assert begin["weights"] == len(shapes_of(CASES[case], WORDS)) - 2
    return given


def found(folder: Path, framework: str, case: str, what: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{framework}-{case}-{what}.npz") as content:
        return dict(content)


def test_sizes_are_those_of_the_fact_sheet() -> None:
    assert FULL.parameters(VOCABULARY) == 160_634_433
    assert FULL.parameters(VOCABULARY, biases=2) == 160_671_297
    assert {round(one.parameters(VOCABULARY, biases=2) / 1e6, 2) for one in AS_PUBLISHED.values()} == {2.2}
    assert {name: one.from_encoder for name, one in AS_PUBLISHED.items()} == {"torch": False, "tensorflow": True}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_models_have_as_many_weights_as_they_say(framework: str, tmp_path: Path) -> None:
    sizes = {"gnmt": FULL, "gnmt_as_published": AS_PUBLISHED[framework], "gnmt_small": SMALL}
    biases = 2 if framework == "torch" else 1
    assert carry(framework, tmp_path, "counts") == {
        name: [one.parameters(VOCABULARY), one.parameters(VOCABULARY, biases), one.beam] for name, one in sizes.items()
    }


@pytest.mark.parametrize("case", CASES)
class TestParity:
    def test_the_same_weights_give_the_same_scores(self, carried: Path, case: str) -> None:
        ours, theirs = (found(carried, name, case, "others")["scores"] for name in FRAMEWORKS)
        assert ours.shape == (SENTENCES, 10, WORDS)
        assert ours.std() > 0.5
        assert np.abs(ours - theirs).max() < 1e-4 * np.abs(ours).max()

    def test_the_same_weights_and_batch_give_the_same_gradients(self, carried: Path, case: str) -> None:
        with np.load(carried / f"{case}.npz") as content:
            before = dict(content)
        ours, theirs = (found(carried, name, case, "sgd") for name in FRAMEWORKS)
        assert_gradients_alike(before, ours, theirs)

    @pytest.mark.parametrize("optimizer", ["sgd", "adam"])
    def test_ten_steps_have_the_same_losses(self, carried: Path, case: str, optimizer: str) -> None:
        ours, theirs = (found(carried, name, case, optimizer) for name in FRAMEWORKS)
        assert_ten_steps_alike(ours, theirs)

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_the_loss_is_that_of_smoothed_labels(self, carried: Path, case: str, framework: str) -> None:
        with np.load(carried / "data.npz") as content:
            labels = content["labels"][:8]
        one = found(carried, framework, case, "sgd")
        scores = one["before"].astype(float)
        odds = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
        smooth = np.full(odds.shape, SMOOTHING / WORDS) + (1 - SMOOTHING) * (labels[:, :, None] == np.arange(WORDS))
        wanted = -(smooth * odds).sum(axis=2)[labels != IGNORED].mean()
        assert one["losses"][0] == pytest.approx(wanted, rel=1e-5)

    @pytest.mark.parametrize("beam", [1, 4])
    def test_translations_are_the_same(self, carried: Path, case: str, beam: int) -> None:
        ours, theirs = (found(carried, name, case, "others")[f"beam_{beam}"] for name in FRAMEWORKS)
        assert (ours == theirs).all(axis=1).mean() >= 0.99
        # Of different lengths, and not all as long as they may be.
        with np.load(carried / "data.npz") as content:
            limit = 2 * (content["source"] != PAD).sum(axis=1) + 10
        lengths = (ours != IGNORED).sum(axis=1)
        assert (lengths <= limit).all()
        assert (lengths < limit - 1).mean() > 0.1
        assert len({tuple(row) for row in ours}) > SENTENCES / 2

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_a_translation_is_one_of_its_sentence_alone(self, carried: Path, case: str, framework: str) -> None:
        others = found(carried, framework, case, "others")
        for beam in (1, 4):
            together = others[f"beam_{beam}"][:ALONE]
            assert np.array_equal(others[f"beam_{beam}_alone"], together)
            assert np.array_equal(others[f"beam_{beam}_wider"], together)

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_a_beam_of_one_is_the_best_token_each_time(self, carried: Path, case: str, framework: str) -> None:
        others = found(carried, framework, case, "others")
        assert np.array_equal(others["stepwise"], others["beam_1"][:ALONE])

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_translations_are_tokens_and_then_nothing(self, carried: Path, case: str, framework: str) -> None:
        for beam in (1, 4):
            ids = found(carried, framework, case, "others")[f"beam_{beam}"]
            assert ids.dtype == np.int64
            assert not np.isin(ids, [PAD, BOS, EOS]).any()
            ended = ids == IGNORED
            assert np.array_equal(np.maximum.accumulate(ended, axis=1), ended)

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_scores_know_no_future_and_no_padding(self, carried: Path, case: str, framework: str) -> None:
        others = found(carried, framework, case, "others")
        scores, scale = others["scores"][:ALONE], np.abs(others["scores"]).max()
        assert np.abs(others["wider"] - scores).max() < 1e-5 * scale
        assert np.abs(others["other_future"] - scores)[:, :4].max() < 1e-5 * scale
        assert np.abs(others["other_future"] - scores)[:, 4].max() > 0.01 * scale

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_nothing_moves_the_vector_of_padding(self, carried: Path, case: str, framework: str) -> None:
        for optimizer in ("sgd", "adam"):
            assert not found(carried, framework, case, optimizer)["pad"].any()


Tokens = tuple[int, ...]


def enumerated(content: dict[str, np.ndarray], row: int) -> tuple[dict[Tokens, np.ndarray], dict[Tokens, np.ndarray]]:
    """Of one source, by what has been said: log-likelihoods of the next token, and attention when it is asked for."""
    longest = TINY.longest[1]
    full = [prefix for prefix in all_prefixes() if len(prefix) == longest]
    scores = content[f"scores_{row}"].astype(float)
    odds = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
    odds_of, attention_of = {}, {}
    for number, prefix in enumerate(full):
        for place in range(longest):
            odds_of[prefix[:place]] = odds[number, place]
            attention_of[prefix[:place]] = content[f"attention_{row}"][number, place].astype(float)
    return odds_of, attention_of


def ratio(said: Tokens, odds: dict[Tokens, np.ndarray]) -> float:
    """Log-likelihood of tokens, EOS among them, over their length penalty."""
    likely = sum(odds[said[:place]][token] for place, token in enumerate(said))
    return float(likely / ((LENGTH_BEGIN + len(said)) / (LENGTH_BEGIN + 1)) ** LENGTH_NORM)


def worth(
    said: Tokens, odds: dict[Tokens, np.ndarray], attention: dict[Tokens, np.ndarray], there: np.ndarray
) -> float:
    """What the search ranks translations by at its end."""
    covered = sum(attention[said[:place]] for place in range(len(said)))
    return ratio(said, odds) + COVERAGE * float(np.log(np.clip(covered, LEAST_COVERED, 1))[there].sum())


def searched(odds: dict[Tokens, np.ndarray], beam: int) -> list[Tokens]:
    """Hypotheses that are left at the end of a search, written down plainly."""
    kept: list[Tokens] = [()]
    while not all(is_whole(said) for said in kept):
        going = [said for said in kept if not is_whole(said)]
        ways = [(*said, token) for said in going for token in range(TINY_WORDS) if token not in (PAD, BOS)]
        ways += [said for said in kept if is_whole(said)]
        kept = sorted(ways, key=lambda said: -ratio(said, odds))[:beam]
    return kept


def is_whole(said: Tokens) -> bool:
    return len(said) == TINY.longest[1] or said[-1:] == (EOS,)


def ids_of(row: np.ndarray) -> Tokens:
    return tuple(int(token) for token in row if token != IGNORED)


@pytest.mark.parametrize("framework", FRAMEWORKS)
class TestSearch:
    def results(self, carried: Path, framework: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
        with np.load(carried / f"{framework}-tiny.npz") as content, np.load(carried / "data.npz") as data:
            return dict(content), data["tiny"]

    def test_as_wide_as_all_hypotheses_it_finds_the_best_of_all(self, carried: Path, framework: str) -> None:
        content, sources = self.results(carried, framework)
        prefixes = list(all_prefixes())
        whole = [said for said in prefixes if len(said) == TINY.longest[1]]
        whole += [(*said, EOS) for said in prefixes if len(said) < TINY.longest[1]]
        assert len(whole) == len(prefixes) == 121
        best, by_ratio = [], []
        for row, source in enumerate(sources):
            odds, attention = enumerated(content, row)
            there = source != PAD
            best.append(max(whole, key=lambda said: worth(said, odds, attention, there)))
            by_ratio.append(max(whole, key=lambda said: ratio(said, odds)))
        assert [ids_of(row) for row in content["beam_121"]] == [without_end(said) for said in best]
        # Coverage decides some, and so do the ends of translations.
        assert best != by_ratio
        assert len({len(said) for said in best}) > 1

    @pytest.mark.parametrize("beam", [1, 2, 3])
    def test_a_narrow_one_keeps_the_best_of_each_step(self, carried: Path, framework: str, beam: int) -> None:
        content, sources = self.results(carried, framework)
        wanted = []
        for row, source in enumerate(sources):
            odds, attention = enumerated(content, row)
            there = source != PAD
            left = searched(odds, beam)
            wanted.append(max(left, key=lambda said: worth(said, odds, attention, there)))
        assert [ids_of(row) for row in content[f"beam_{beam}"]] == [without_end(said) for said in wanted]


def without_end(said: Tokens) -> Tokens:
    return said[:-1] if said[-1:] == (EOS,) else said


# TensorFlow's steps are PyTorch's, see TestParity.
@pytest.mark.parametrize("framework", ["torch", pytest.param("tensorflow", marks=pytest.mark.thorough)])
def test_it_learns_to_turn_sentences(framework: str, tmp_path: Path) -> None:
    """Of 20 words in a row of 3 to 6 that it has not seen: right by chance once in 8,000 at most."""
    learnt = carry(framework, tmp_path, "learns")
    assert learnt["last"] < learnt["first"] / 2
    assert min(learnt["right"].values()) > 0.5, learnt


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_half_precision_gives_numbers(framework: str, given: Path) -> None:
    for case, one in carry(framework, given, "halves").items():
        assert "bfloat16" in one["kind"], case
        assert one["finite"], case
        assert one["losses"][-1] < one["losses"][0]
        assert one["ids"][0] >= IGNORED
        assert one["ids"][1] < WORDS


@pytest.fixture(scope="module")
def pairs() -> Arrays:
    """A language of forty words, with sentences of four to eight."""
    drawn = {"vocabulary": 40, "train_pairs": 64, "test_pairs": 70, "longest": 8, "seed": 0}
    return make_arrays({"module": "synthetic_language", **drawn})


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_exported_encoder_gives_what_its_source_gives_of_sentences_of_all_lengths(
    framework: str, pairs: Arrays, tmp_path: Path
) -> None:
    """In two batches, the second of another size and width; and what it gives is no translation."""
    save_arrays(tmp_path / "data.npz", pairs)
    weights, check = run_stages(framework, {"model": "gnmt_encoder_small", "weights": "seeded"}, tmp_path)
    assert weights["workload"]["parameters"] == SMALL.encoder_parameters(pairs.classes)
    assert (check["status"], check["reason"], check["samples"]) == ("ok", None, 70)
    assert check["largest_score"] > 0.05
    assert check["max_abs_difference"] < 1e-6
    assert check["quality"] is None
    assert (check["flops"], check["flops_reason"]) == (None, "recurrent layers (LSTM) are not counted")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_search_is_not_exported_and_a_part_of_a_model_not_trained(
    framework: str, pairs: Arrays, tmp_path: Path
) -> None:
    for model, weights, essence in (
        ("gnmt_small", "seeded", "model: gnmt_small makes its answers token by token"),
        ("gnmt_encoder_small", "trained", "gnmt_encoder_small is a part of a model and cannot be trained"),
    ):
        folder = tmp_path / model
        folder.mkdir()
        save_arrays(folder / "data.npz", pairs)
        with pytest.raises(AssertionError) as told:
            run_stages(framework, {"model": model, "weights": weights}, folder)
        assert essence in str(told.value)
