"""Computes with framewatt's NeuMF or with cornac's from given weights, in the oracles' environment."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.workloads.families.neumf import AS_PUBLISHED, FULL, SMALL

USERS, ITEMS = 50, 70
SIZES = {"small": SMALL, "full": replace(FULL, dropout=0.0), "as_published": replace(AS_PUBLISHED, dropout=0.0)}
"""Every size of framewatt's, without dropout, which cornac has not."""


def main(implementation: str, folder: str, size: str, *cases: str) -> None:
    """For each case take `<case>.npz`, and write `<implementation>-<case>.npz`.

    Args:
        implementation: `framewatt` or `cornac`; `draw` writes the weights of the cases instead, drawn by chance.
        folder: with the weights of the cases by framewatt's names and in torch's axes, and `pairs.npz`: pairs (n, 2) of
            a user and an item, and labels (n,), 0 or 1.
        size: of `SIZES`.
        cases: names of files of weights.
    """
    if implementation == "draw":
        for case in cases:
            np.savez(Path(folder) / f"{case}.npz", **drawn(size))
        return
    with np.load(Path(folder) / "pairs.npz") as content:
        pairs, labels = content["pairs"], content["labels"]
    for case in cases:
        with np.load(Path(folder) / f"{case}.npz") as content:
            weights = dict(content)
        compute = {"framewatt": with_framewatt, "cornac": with_cornac}[implementation]
        np.savez(Path(folder) / f"{implementation}-{case}.npz", **compute(size, weights, pairs, labels))


def drawn(size: str) -> dict[str, Any]:
    """Weights larger than a model begins with, so that every part of it weighs, yet logits of about 1."""
    from framewatt.workloads.torch.neumf import build_neumf

    # A seed with which no unit of the smallest size is 0 for every pair.
    draw = np.random.default_rng(6)
    found = {}
    for name, weight in build_neumf(SIZES[size], (USERS, ITEMS)).state_dict().items():
        vectors = name.startswith(("user", "item"))
        scale = 1.0 if vectors else 0.3 if name.endswith("bias") else (2 / weight.shape[1]) ** 0.5
        found[name] = draw.normal(scale=scale, size=tuple(weight.shape)).astype(np.float32)
    return found


def with_framewatt(size: str, weights: dict[str, Any], pairs: Any, labels: Any) -> dict[str, Any]:
    """Logits (n,), the loss, and its gradients by names of weights."""
    import torch

    from framewatt.workloads.torch.losses import LOSSES
    from framewatt.workloads.torch.neumf import build_neumf

    model = build_neumf(SIZES[size], (USERS, ITEMS)).train()
    model.load_state_dict({name: torch.from_numpy(values) for name, values in weights.items()})
    logits = model(torch.from_numpy(pairs))
    loss = LOSSES["recommendation"](logits, torch.from_numpy(labels))
    loss.backward()
    gradients = {f"gradient/{name}": weight.grad.numpy() for name, weight in model.named_parameters()}
    return {"logits": logits.detach().numpy().reshape(-1), "loss": loss.detach().numpy(), **gradients}


def with_cornac(size: str, weights: dict[str, Any], pairs: Any, labels: Any) -> dict[str, Any]:
    """The same, from the module and the loss with which cornac's `NeuMF(backend="pytorch")` is trained."""
    import torch
    from cornac.models.ncf.backend_pt import NeuMF

    dimensions = SIZES[size]
    model = NeuMF(USERS, ITEMS, dimensions.factors, dimensions.layers, act_fn="relu").train()
    there = {name: model.get_parameter(cornac_name(name)) for name in weights}
    # Scores of its two halves alone, from which a NeuMF of its own can begin; nothing else computes with them.
    alone = {f"{half}.logit.{kind}" for half in ("gmf", "mlp") for kind in ("weight", "bias")}
    assert {cornac_name(name) for name in weights} | alone == {name for name, _ in model.named_parameters()}
    with torch.no_grad():
        for name, weight in there.items():
            assert weight.shape == weights[name].shape, name
            weight.copy_(torch.from_numpy(weights[name]))
    # It returns probabilities; the layer before says the logits.
    logits = []
    model.logit.register_forward_hook(lambda layer, inputs, output: logits.append(output))
    user, item = torch.from_numpy(pairs).unbind(1)
    loss = torch.nn.BCELoss()(model(user, item), torch.from_numpy(labels).float())
    loss.backward()
    gradients = {f"gradient/{name}": weight.grad.numpy() for name, weight in there.items()}
    return {"logits": logits[0].detach().numpy().reshape(-1), "loss": loss.detach().numpy(), **gradients}


def cornac_name(name: str) -> str:
    """What cornac calls a weight of framewatt's."""
    place, _, kind = name.rpartition(".")
    if place.startswith("mlp."):
        # Each dense layer is followed by its activation there, and here by a dropout, too.
        return f"mlp.mlp_model.{int(place.removeprefix('mlp.')) // 3 * 2}.{kind}"
    side, _, half = place.partition("_")
    return f"logit.{kind}" if place == "head" else f"{'gmf' if half == 'factors' else 'mlp'}.{side}_embedding.{kind}"


if __name__ == "__main__":
    main(*sys.argv[1:])
