"""framewatt's Transformer-XL in PyTorch against that of transformers (`make parity`).

`TransfoXLLMHeadModel` is the authors' PyTorch code, carried on by Hugging Face. Both get the same weights, which are
drawn, and the same text in four segments. Compared are, segment by segment, the negative log-likelihood of every token,
what the layers hand on to the next segment, and the gradients by all weights; and the first segment's loss as
transformers itself works it out.

The version is 4.37.2: from 4.38.0 on, 4.57.6 included, the model's forward ends with a TypeError (issue 29650 of
transformers), and 5 has it no more.

What differs by design:

- The memory where a text begins. By default, transformers' model then attends to a memory full of zeros, as the
  authors' and the reference's code for TensorFlow do; framewatt's to none, as their code for PyTorch does. Given a
  memory of no tokens, transformers' does that as well; told that its zeros are known, framewatt's does what
  transformers' does by default. Both ways are compared.
- Masks: transformers puts the smallest number in place of a score that is left out, framewatt minus infinity. Every
  token attends to itself at least, so both give the others no weight.
- transformers returns the logarithms of the probabilities of all words, from which the targets' are taken here. Given
  labels it returns theirs sorted by cluster, shifted by one, and without the last.
- Where words' vectors are projected, framewatt projects back by the same weights before it scores words. transformers
  does so by other weights for the words that are scored always, as the reference does, unless `tie_projs` says
  otherwise, as it does here.
- transformers can clamp positions and use one length of attention for all tokens: turned off, since framewatt does
  neither.
- First weights and dropout (0 here).

The column of a cluster in the head: the first cluster's is the first in framewatt's, in transformers' and in the
authors' code for TensorFlow. In their code for PyTorch it is the last.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from comparing import Arrays, compute, content_of, differences, largest, too_large
from oracle_transformer_xl import BATCH, LENGTH, SEGMENTS, SIZES, WORDS

pytestmark = pytest.mark.oracles

TOLERANCES = {"likelihoods": 1e-5, "memory": 5e-5, "loss": 1e-5, "gradient": 1e-3}
"""In standard deviations of what is compared; of the loss, in itself."""

SCRIPT = "oracle_transformer_xl.py"
BEGINNINGS = ("", "-with-zeros")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where text and weights are, and what both make of them."""
    made = tmp_path_factory.mktemp("transformer_xl")
    draw = np.random.default_rng(1)
    odds = 1 / np.arange(1, WORDS + 1)
    np.savez(made / "text.npz", tokens=draw.choice(WORDS, (BATCH, SEGMENTS * LENGTH + 1), p=odds / odds.sum()))
    for size in SIZES:
        compute(SCRIPT, "draw", made, size, [size])
        for beginning in BEGINNINGS:
            for implementation in ("framewatt", "transformers"):
                compute(SCRIPT, f"{implementation}{beginning}", made, size, [size])
    return made


@pytest.mark.parametrize("beginning", BEGINNINGS, ids=["no memory", "zeros"])
@pytest.mark.parametrize("size", SIZES)
def test_likelihoods_memory_and_gradients_are_those_of_transformers(
    folder: Path, size: str, beginning: str, record_property: Callable[[str, object], None]
) -> None:
    ours, theirs = (content_of(folder / f"{name}{beginning}-{size}.npz") for name in ("framewatt", "transformers"))
    weights, memory = content_of(folder / f"{size}.npz"), SIZES[size].memory
    remembered = [ours[f"memory/{segment}"].shape[2] for segment in range(SEGMENTS)]
    assert remembered == ([memory] * SEGMENTS if beginning else [LENGTH, memory, memory, memory])
    assert {name for name in ours if name.startswith("gradient/")} == {
        f"gradient/{segment}/{name}" for segment in range(SEGMENTS) for name in weights
    }
    found = differences(ours, theirs)
    for kind, value in largest(found).items():
        record_property(f"Transformer-XL {size}{beginning}, {kind}", value)
    assert too_large(found, TOLERANCES) == {}


@pytest.mark.parametrize("size", SIZES)
def test_a_memory_of_zeros_is_another_beginning(folder: Path, size: str) -> None:
    """So the two beginnings are two comparisons; the tolerance would not hide one in the other."""
    first = [content_of(folder / f"framewatt{name}-{size}.npz")["likelihoods/0"] for name in BEGINNINGS]
    assert differences({"likelihoods": first[0]}, {"likelihoods": first[1]})["likelihoods"] > 0.1


def test_a_hundredth_more_of_any_weight_is_noticed(folder: Path) -> None:
    """Each weight in turn is larger in transformers' model than in framewatt's."""
    weights = content_of(folder / "shared.npz")
    altered = {f"more-{name}": {**weights, name: values * np.float32(1.01)} for name, values in weights.items()}
    for found in of_altered(folder, altered).values():
        assert "likelihoods/3" in too_large(found, TOLERANCES)


def test_columns_and_halves_in_another_order_are_noticed(folder: Path) -> None:
    weights = content_of(folder / "shared.npz")
    clusters = {name: weights[name][::-1] for name in ("words.cluster_vectors", "words.cluster_bias")}
    keys, values = np.split(weights["blocks.0.keys.weight"], 2)
    altered = {
        "clusters": {**weights, **clusters},
        "biases": {**weights, "biases": weights["biases"][:, ::-1]},
        "values": {**weights, "blocks.0.keys.weight": np.concatenate([values, keys])},
    }
    for name, found in of_altered(folder, altered).items():
        assert {f"likelihoods/{segment}" for segment in range(SEGMENTS)} <= too_large(found, TOLERANCES).keys(), name


def of_altered(folder: Path, altered: dict[str, Arrays]) -> dict[str, dict[str, float]]:
    """How far framewatt's model of the size `shared` is from transformers' with other weights, by their name."""
    for name, weights in altered.items():
        np.savez(folder / f"{name}.npz", **weights)
    compute(SCRIPT, "transformers", folder, "shared", list(altered))
    ours = content_of(folder / "framewatt-shared.npz")
    return {name: differences(ours, content_of(folder / f"transformers-{name}.npz")) for name in altered}
