"""framewatt's NeuMF in PyTorch against cornac's (`make parity`).

cornac 3.0.1 is another implementation of the same paper. Both get the same weights, which are drawn, and the same
pairs; compared are logits, the loss and its gradients by all weights, at every size that framewatt has.

What differs by design, and is not compared:

- cornac has no dropout, so framewatt's is 0 here. The reference has one, and so have framewatt's sizes `full` and
  `as_published`.
- cornac returns probabilities and takes the cross-entropy of these; framewatt returns logits and takes that of logits.
  The function is the same, until a probability in fp32 is 0 or 1. Logits here are far from that.
- cornac's two halves have a score layer each, for training them alone first. A NeuMF does not use them.
- cornac draws the score layer's first weights from N(0, 0.01), framewatt from LeCun's uniform, as the reference does.
- Optimizers, and the choice of pairs that nobody chose, are no part of the model.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from comparing import Arrays, compute, content_of, differences, largest, too_large
from oracle_neumf import ITEMS, SIZES, USERS

pytestmark = pytest.mark.oracles

TOLERANCES = {"logits": 1e-6, "loss": 1e-6, "gradient": 1e-4}
"""In standard deviations of what is compared; of the loss, in itself."""

SCRIPT = "oracle_neumf.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pairs and weights are, and what both make of them."""
    made = tmp_path_factory.mktemp("neumf")
    draw = np.random.default_rng(1)
    pairs = np.stack([draw.integers(USERS, size=512), draw.integers(ITEMS, size=512)], axis=1)
    np.savez(made / "pairs.npz", pairs=pairs, labels=draw.integers(2, size=512))
    for size in SIZES:
        for implementation in ("draw", "framewatt", "cornac"):
            compute(SCRIPT, implementation, made, size, [size])
    return made


@pytest.mark.parametrize("size", SIZES)
def test_logits_loss_and_gradients_are_cornacs(
    folder: Path, size: str, record_property: Callable[[str, object], None]
) -> None:
    ours, theirs = (content_of(folder / f"{name}-{size}.npz") for name in ("framewatt", "cornac"))
    # Neither so small that the sigmoid is a line, nor so large that it is flat.
    assert 0.5 < ours["logits"].std() < 2
    assert np.abs(ours["logits"]).max() < 10
    assert {name for name in ours if name.startswith("gradient/")} == {
        f"gradient/{name}" for name in content_of(folder / f"{size}.npz")
    }
    found = differences(ours, theirs)
    for kind, value in largest(found).items():
        record_property(f"NeuMF {size}, {kind}", value)
    assert too_large(found, TOLERANCES) == {}


def test_a_thousandth_more_of_any_weight_is_noticed(folder: Path) -> None:
    """Each weight in turn is larger in cornac's model than in framewatt's."""
    weights = content_of(folder / "small.npz")
    for name, values in weights.items():
        save(folder / f"more-{name}.npz", {**weights, name: values * np.float32(1.001)})
    compute(SCRIPT, "cornac", folder, "small", [f"more-{name}" for name in weights])
    ours = content_of(folder / "framewatt-small.npz")
    for name in weights:
        found = differences(ours, content_of(folder / f"cornac-more-{name}.npz"))
        assert "logits" in too_large(found, TOLERANCES), name


def test_halves_in_another_order_are_noticed(folder: Path) -> None:
    """Of what the score layer sees, the factors come first, and then the dense layers."""
    weights = content_of(folder / "small.npz")
    factors, dense = np.split(weights["head.weight"], 2, axis=1)
    save(folder / "swapped.npz", {**weights, "head.weight": np.concatenate([dense, factors], axis=1)})
    compute(SCRIPT, "cornac", folder, "small", ["swapped"])
    found = differences(*(content_of(folder / f"{name}.npz") for name in ("framewatt-small", "cornac-swapped")))
    assert too_large(found, TOLERANCES).keys() >= {"logits", "loss", "gradient/head.weight"}


def save(file: Path, weights: Arrays) -> None:
    np.savez(file, **weights)
