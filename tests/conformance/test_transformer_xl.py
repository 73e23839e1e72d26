"""Transformer-XL: the same model in PyTorch and TensorFlow, from its weights to its steps, its memory and export."""

import json
from pathlib import Path

import numpy as np
import pytest
from carry_transformer_xl import CASES, LENGTH
from same_steps import assert_gradients_alike, assert_ten_steps_alike
from stages import run_program, run_stages

from framewatt.datasets import make_arrays
from framewatt.datasets.segments import make_segments
from framewatt.datasets.storing import save_arrays
from framewatt.study.cell import environment_of
from framewatt.workloads.families.transformer_xl import AS_PUBLISHED, FULL, Dimensions

WIKITEXT_103 = 267_735
"""Words of its vocabulary."""
WORDS = 200
FRAMEWORKS = ("torch", "tensorflow")


def shapes_of(dimensions: Dimensions) -> dict[str, tuple[int, ...]]:
    """Shapes of all weights, by PyTorch's names."""
    width, attention, hidden = dimensions.width, dimensions.attention, dimensions.hidden
    clusters = len(dimensions.clusters(WORDS))
    block = {
        "query.weight": (attention, width),
        "keys.weight": (2 * attention, width),
        "position.weight": (attention, width),
        "out.weight": (width, attention),
        "dense_in.weight": (hidden, width),
        "dense_in.bias": (hidden,),
        "dense_out.weight": (width, hidden),
        "dense_out.bias": (width,),
        **{f"{norm}.{part}": (width,) for norm in ("norm", "dense_norm") for part in ("weight", "bias")},
    }
    narrow = dimensions.embedding != width
    return {
        "words.vectors": (WORDS, dimensions.embedding),
        "words.bias": (WORDS,),
        "words.cluster_vectors": (clusters, dimensions.embedding),
        "words.cluster_bias": (clusters,),
        **({"words.projection": (width, dimensions.embedding)} if narrow else {}),
        "biases": (1 if dimensions.shared_biases else dimensions.layers, 2, attention),
        **{f"blocks.{layer}.{name}": shape for layer in range(dimensions.layers) for name, shape in block.items()},
    }


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What both frameworks compute from the same weights."""
    folder = tmp_path_factory.mktemp("carried")
    draw = np.random.default_rng(0)
    odds = 1 / np.arange(1, WORDS + 1)
    train, test = (draw.choice(WORDS, size, p=odds / odds.sum()) for size in (1500, 1000))
    save_arrays(
        folder / "data.npz",
        make_segments(train, test, segment=LENGTH, vocabulary=WORDS, about={}, task="language_modelling"),
    )
    for case, dimensions in CASES.items():
        # Larger than a model begins with, so that every part of it weighs.
        weights = {
            name: draw.normal(float("norm.weight" in name), 0.3, shape).astype(np.float32)
            for name, shape in shapes_of(dimensions).items()
        }
        np.savez(folder / f"{case}.npz", **weights)
    script = Path(__file__).with_name("carry_transformer_xl.py")
    for framework in FRAMEWORKS:
        printed = run_program(environment_of(framework, "cpu"), script, framework, folder)
        counted = {case: dimensions.parameters(WORDS) for case, dimensions in CASES.items()}
        assert json.loads(printed.splitlines()[-1]) == counted
    return folder


def found(folder: Path, framework: str, case: str, what: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{framework}-{case}-{what}.npz") as content:
        return dict(content)


def test_sizes_are_those_of_the_fact_sheet() -> None:
    assert FULL.parameters(WIKITEXT_103) == 191_950_298
    published = {name: dimensions.parameters(WIKITEXT_103) for name, dimensions in AS_PUBLISHED.items()}
    assert {name: round(count / 1e6, 1) for name, count in published.items()} == {"torch": 74.9, "tensorflow": 33.1}


@pytest.mark.parametrize("case", CASES)
class TestParity:
    def test_the_same_weights_give_the_same_likelihoods(self, carried: Path, case: str) -> None:
        ours, theirs = (found(carried, name, case, "sgd")["before"] for name in FRAMEWORKS)
        assert ours.shape == (125, LENGTH)
        assert ours.std() > 1
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
    def test_a_text_in_pieces_is_as_likely_as_in_one(self, carried: Path, case: str, framework: str) -> None:
        """With a memory for all that was before: nothing is lost, doubled or moved between segments."""
        others = found(carried, framework, case, "others")
        assert others["whole"].shape == others["pieces"].shape == (24,)
        assert others["pieces"] == pytest.approx(others["whole"], abs=1e-4)

    @pytest.mark.parametrize("framework", FRAMEWORKS)
    def test_the_probabilities_of_all_words_are_one(self, carried: Path, case: str, framework: str) -> None:
        each = found(carried, framework, case, "others")["every_word"]
        assert each.shape == (WORDS, LENGTH)
        assert np.exp(-each.astype(float)).sum(axis=0) == pytest.approx(np.ones(LENGTH), abs=1e-5)


@pytest.mark.parametrize("framework", ["torch", pytest.param("tensorflow", marks=pytest.mark.thorough)])
def test_it_learns_a_text_and_its_export_remembers_as_much(framework: str, tmp_path: Path) -> None:
    """An export takes its memory as an input and gives it as an output; ONNX Runtime hands it on."""
    drawn = {"vocabulary": 300, "train_tokens": 8000, "test_tokens": 2000, "segment": 16, "seed": 0}
    data = make_arrays({"module": "synthetic_text", **drawn})
    save_arrays(tmp_path / "data.npz", data)
    training = {"epochs": 2, "learning_rate": 0.003, "momentum": 0.9}
    model = {"model": "transformer_xl_small", "weights": "trained", "training": training, "batch_size": 8}
    weights, check = run_stages(framework, {**model, "options": {"optimizer": "adam"}}, tmp_path)
    first, last = (epoch["quality"]["perplexity"]["value"] for epoch in weights["epochs"])
    assert last < first < 300
    assert last < data.about["unigram_perplexity"]
    assert (check["status"], check["reason"]) == ("ok", None)
    assert check["max_abs_difference"] < 1e-4
    assert check["quality"]["perplexity"]["value"] == pytest.approx(last, rel=1e-4)
