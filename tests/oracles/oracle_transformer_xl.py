"""Computes with framewatt's Transformer-XL or with transformers' from given weights, in the oracles' environment."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.workloads.families.transformer_xl import Dimensions

SHARED = Dimensions(3, 32, 2, 16, 64, memory=12, embedding=32, cutoffs=(40, 120), dropout=0.0)
SIZES = {
    "shared": SHARED,
    "narrow": replace(SHARED, heads=3, head_width=12, embedding=20, shared_biases=False),
}
"""As published for PyTorch and for TensorFlow, in small: biases of all layers together, or of each; words' vectors as
wide as hidden states, or projected."""

WORDS, BATCH, LENGTH, SEGMENTS = 200, 6, 8, 4
"""The memory is empty in the first segment, not yet full in the second, and has forgotten some in the others."""


def main(implementation: str, folder: str, size: str, *cases: str) -> None:
    """For each case take `<case>.npz`, and write `<implementation>-<case>.npz`.

    Args:
        implementation: `framewatt` or `transformers`, whose memory is empty in the first segment; or
            `transformers-with-zeros`, which attends then to a memory full of zeros, as it does where it is given none,
            and `framewatt-with-zeros`, which is told to do so, too.
            `draw` writes the weights of the cases instead, drawn by chance.
        folder: with the weights of the cases by framewatt's names and in torch's axes, and `text.npz`: tokens
            (BATCH, SEGMENTS * LENGTH + 1).
        size: of `SIZES`.
        cases: names of files of weights.
    """
    if implementation == "draw":
        for case in cases:
            np.savez(Path(folder) / f"{case}.npz", **drawn(size))
        return
    with np.load(Path(folder) / "text.npz") as content:
        text = content["tokens"]
    name, _, zeros = implementation.partition("-with-")
    compute = {"framewatt": with_framewatt, "transformers": with_transformers}[name]
    for case in cases:
        with np.load(Path(folder) / f"{case}.npz") as content:
            weights = dict(content)
        np.savez(Path(folder) / f"{implementation}-{case}.npz", **compute(size, weights, text, bool(zeros)))


def drawn(size: str) -> dict[str, Any]:
    """Weights larger than a model begins with, so that every part of it weighs."""
    from framewatt.workloads.torch.transformer_xl import build_transformer_xl

    draw = np.random.default_rng(0)
    found = {}
    for name, weight in build_transformer_xl(SIZES[size], WORDS, (LENGTH,)).state_dict().items():
        # Weights of a layer norm are around 1.
        found[name] = draw.normal(float("norm.weight" in name), 0.3, tuple(weight.shape)).astype(np.float32)
    return found


def with_framewatt(size: str, weights: dict[str, Any], text: Any, zeros: bool) -> dict[str, Any]:
    """By segment, from 0: `likelihoods/<segment>`, negative log-likelihoods (BATCH, LENGTH) of targets;
    `memory/<segment>`, layers' inputs that the next segment attends to (layers, BATCH, as many as there are, width);
    `gradient/<segment>/<weight>`, of the mean. And `loss`, the mean of the first segment without its last target.
    """
    import torch

    from framewatt.workloads.torch.transformer_xl import build_transformer_xl

    dimensions = SIZES[size]
    model = build_transformer_xl(dimensions, WORDS, (LENGTH,)).train()
    model.load_state_dict({name: torch.from_numpy(values) for name, values in weights.items()})
    memory, known = model.fresh_state(BATCH)
    if zeros:
        known = torch.full_like(known, dimensions.memory)
    found: dict[str, Any] = {}
    for segment in range(SEGMENTS):
        tokens, targets = in_segment(text, segment)
        likelihoods, memory, known = model(tokens, targets, memory, known)
        model.zero_grad()
        likelihoods.mean().backward()
        (there,) = set(known.tolist())
        found[f"likelihoods/{segment}"] = likelihoods.detach().numpy()
        found[f"memory/{segment}"] = memory[:, :, dimensions.memory - there :].transpose(0, 1).numpy()
        for name, weight in model.named_parameters():
            found[f"gradient/{segment}/{name}"] = weight.grad.numpy().copy()
    return {**found, "loss": found["likelihoods/0"][:, :-1].mean()}


def with_transformers(size: str, weights: dict[str, Any], text: Any, zeros: bool) -> dict[str, Any]:
    """The same, from `TransfoXLLMHeadModel`."""
    import torch
    from transformers import TransfoXLLMHeadModel

    dimensions = SIZES[size]
    model = TransfoXLLMHeadModel(configuration(dimensions)).train()
    of_model = dict(model.named_parameters())
    theirs = {name: torch.from_numpy(values) for name, values in renamed(dimensions, weights).items()}
    assert {name: values.shape for name, values in theirs.items()} == {n: w.shape for n, w in of_model.items()}
    with torch.no_grad():
        for name, values in theirs.items():
            of_model[name].copy_(values)
    # Given none, it makes one of zeros; this one has no tokens.
    memory = None if zeros else [torch.zeros(0, BATCH, dimensions.width) for _ in range(dimensions.layers)]
    found: dict[str, Any] = {}
    for segment in range(SEGMENTS):
        tokens, targets = in_segment(text, segment)
        if segment == 0:
            # Its own loss, which has the tokens as labels, and predicts all but the first of them.
            found["loss"] = model(tokens, mems=memory, labels=tokens.clone()).losses.mean().detach().numpy()
        # No labels, since it would then give likelihoods in an order of its own: logarithms of all probabilities.
        answer = model(tokens, mems=memory)
        likelihoods = -answer.prediction_scores.gather(2, targets[:, :, None]).squeeze(2)
        memory = answer.mems
        model.zero_grad()
        likelihoods.mean().backward()
        found[f"likelihoods/{segment}"] = likelihoods.detach().numpy()
        found[f"memory/{segment}"] = torch.stack(memory).transpose(1, 2).numpy()
        gradients = {name: weight.grad.numpy().copy() for name, weight in of_model.items()}
        for name, values in renamed_back(dimensions, gradients).items():
            found[f"gradient/{segment}/{name}"] = values
    return found


def in_segment(text: Any, segment: int) -> Any:
    """Tokens (BATCH, LENGTH) of a segment, and the ones that follow them."""
    import torch

    first = segment * LENGTH
    return torch.from_numpy(text[:, first : first + LENGTH]), torch.from_numpy(text[:, first + 1 : first + LENGTH + 1])


def configuration(dimensions: Dimensions) -> Any:
    """What transformers calls these dimensions, and all that framewatt does not offer turned off."""
    from transformers import TransfoXLConfig

    made = TransfoXLConfig(
        vocab_size=WORDS,
        cutoffs=list(dimensions.cutoffs),
        d_model=dimensions.width,
        d_embed=dimensions.embedding,
        n_head=dimensions.heads,
        d_head=dimensions.head_width,
        d_inner=dimensions.hidden,
        div_val=1,
        pre_lnorm=False,
        n_layer=dimensions.layers,
        mem_len=dimensions.memory,
        clamp_len=-1,
        same_length=False,
        untie_r=not dimensions.shared_biases,
        dropout=0.0,
        dropatt=0.0,
    )
    # Its own default leaves out the first, by which the head's hidden states get a projection of their own.
    made.tie_projs = [True] * (len(dimensions.cutoffs) + 1)
    return made


def renamed(dimensions: Dimensions, weights: dict[str, Any]) -> dict[str, Any]:
    """Weights by transformers' names, from those by framewatt's."""
    by_head = (dimensions.heads, dimensions.head_width)
    found = {
        "transformer.word_emb.emb_layers.0.weight": weights["words.vectors"],
        "crit.out_layers.0.bias": weights["words.bias"],
        "crit.cluster_weight": weights["words.cluster_vectors"],
        "crit.cluster_bias": weights["words.cluster_bias"],
    }
    if "words.projection" in weights:
        found["transformer.word_emb.emb_projs.0"] = weights["words.projection"]
    for layer in range(dimensions.layers):
        block = f"blocks.{layer}"
        found[f"{_layer(layer)}.dec_attn.qkv_net.weight"] = np.concatenate(
            [weights[f"{block}.query.weight"], weights[f"{block}.keys.weight"]]
        )
        found |= {there: weights[here] for here, there in _alike(layer).items()}
    for layer, (of_content, of_position) in enumerate(weights["biases"]):
        place = "transformer" if dimensions.shared_biases else f"{_layer(layer)}.dec_attn"
        found[f"{place}.r_w_bias"] = of_content.reshape(by_head)
        found[f"{place}.r_r_bias"] = of_position.reshape(by_head)
    return found


def renamed_back(dimensions: Dimensions, weights: dict[str, Any]) -> dict[str, Any]:
    """Weights by framewatt's names, from those by transformers'."""
    found = {
        "words.vectors": weights["transformer.word_emb.emb_layers.0.weight"],
        "words.bias": weights["crit.out_layers.0.bias"],
        "words.cluster_vectors": weights["crit.cluster_weight"],
        "words.cluster_bias": weights["crit.cluster_bias"],
    }
    if "transformer.word_emb.emb_projs.0" in weights:
        found["words.projection"] = weights["transformer.word_emb.emb_projs.0"]
    for layer in range(dimensions.layers):
        together = weights[f"{_layer(layer)}.dec_attn.qkv_net.weight"]
        found[f"blocks.{layer}.query.weight"] = together[: dimensions.attention]
        found[f"blocks.{layer}.keys.weight"] = together[dimensions.attention :]
        found |= {here: weights[there] for here, there in _alike(layer).items()}
    places = [f"{_layer(layer)}.dec_attn" for layer in range(dimensions.layers)]
    pairs = [
        [weights[f"{place}.{name}"].reshape(-1) for name in ("r_w_bias", "r_r_bias")]
        for place in (["transformer"] if dimensions.shared_biases else places)
    ]
    return {**found, "biases": np.array(pairs)}


def _layer(number: int) -> str:
    return f"transformer.layers.{number}"


def _alike(layer: int) -> dict[str, str]:
    """Weights of a layer that are the same arrays in both, framewatt's name to transformers'."""
    names = {
        "position.weight": "dec_attn.r_net.weight",
        "out.weight": "dec_attn.o_net.weight",
        "norm.weight": "dec_attn.layer_norm.weight",
        "norm.bias": "dec_attn.layer_norm.bias",
        "dense_in.weight": "pos_ff.CoreNet.0.weight",
        "dense_in.bias": "pos_ff.CoreNet.0.bias",
        "dense_out.weight": "pos_ff.CoreNet.3.weight",
        "dense_out.bias": "pos_ff.CoreNet.3.bias",
        "dense_norm.weight": "pos_ff.layer_norm.weight",
        "dense_norm.bias": "pos_ff.layer_norm.bias",
    }
    return {f"blocks.{layer}.{here}": f"{_layer(layer)}.{there}" for here, there in names.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
