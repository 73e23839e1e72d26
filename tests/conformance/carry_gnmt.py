"""Computes with GNMTs of given weights in their framework's environment, and writes what came out."""

import importlib
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets.pairs import BOS, EOS, FIRST, PAD, UNK
from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.contract import Facts, Spec
from framewatt.workloads.families.gnmt import Dimensions
from framewatt.workloads.models import build

ZEROS = Dimensions(24, layers=3, dropout=0.0)
CASES = {"zeros": ZEROS, "from_encoder": replace(ZEROS, from_encoder=True)}
"""Both ways in which a decoder begins."""

WORDS = 60
BATCH, STEPS = 8, 10
ALONE = 8
"""Sentences that are also translated without others."""

TINY = Dimensions(6, layers=2, dropout=0.0, longest=(0, 4))
TINY_WORDS = FIRST + 2
"""A search so small that all translations can be enumerated."""

REVERSED_WORDS = 20
LEARNS = Dimensions(64, layers=2, dropout=0.0)
LEARNT = {"steps": 1000, "batch": 64, "rate": 0.005, "held_out": 200}

PUBLISHED_WORDS = 32_320
MODELS = ("gnmt", "gnmt_as_published", "gnmt_small")


class Model:
    """A GNMT of a framework: all from numpy to numpy."""

    def __init__(self, framework: str, dimensions: Dimensions, words: int) -> None:
        self.torch = framework == "torch"
        self.framework = framework
        parts = importlib.import_module(f"framewatt.workloads.{framework}.gnmt")
        self.model = parts.build_gnmt(dimensions, words)
        self.loss = importlib.import_module(f"framewatt.workloads.{framework}.losses").LOSSES["translation"]
        self.sequence = parts._sequence
        self.graph: Any = None

    def tensor(self, values: Any) -> Any:
        if self.torch:
            import torch

            return torch.from_numpy(np.ascontiguousarray(values))
        import tensorflow as tf

        return tf.constant(values)

    def forced(self, source: Any, target_ids: Any) -> tuple[Any, Any]:
        """Scores and attention for given translations."""
        source, target_ids = self.tensor(source), self.tensor(target_ids)
        outputs, states = self.model.encoder.through(source)
        there = self.model.decoder.attention.source(outputs, source)
        if self.torch:
            vectors = self.model.encoder.embedding(target_ids)
            found = self.model.decoder(vectors, there, states, self.sequence)
            return tuple(one.detach().numpy() for one in found[:2])
        found = self.model.decoder.through(self.model.encoder.vectors(target_ids), there, states, self.sequence)
        return tuple(one.numpy() for one in found[:2])

    def scores(self, source: Any, target_ids: Any) -> Any:
        source, target_ids = self.tensor(source), self.tensor(target_ids)
        if self.torch:
            return self.model(source, target_ids).detach().float().numpy()
        if self.graph is None:
            # A graph of any lengths: without one, a model's loops take a second a call.
            import tensorflow as tf

            ids = tf.TensorSpec((None, None), tf.int64)
            self.graph = tf.function(lambda *given: self.model(list(given), training=False), input_signature=[ids] * 2)
        return np.array(self.graph(source, target_ids)).astype(np.float32)

    def decoded(self, source: Any, beam: int) -> Any:
        return self.model.decode(self.tensor(source), beam).numpy()

    def trainer(self, optimizer: str, rate: float) -> Any:
        """A function of source, target_ids and labels that takes a step of training and returns its loss."""
        settings = {"epochs": 1, "batch_size": BATCH, "learning_rate": rate, "momentum": 0.0}
        options = {"optimizer": optimizer} if optimizer != "sgd" else {}
        spec = Spec("gnmt_small", BATCH, "cpu", "native", 1, 0, None, settings, options)
        module = importlib.import_module(f"framewatt.workloads.{self.framework}.optimizer")
        return self._torch_trainer(module, spec) if self.torch else self._tensorflow_trainer(module, spec)

    def _torch_trainer(self, module: Any, spec: Spec) -> Any:
        made = module.Optimizer(spec, self.model.parameters(), np.zeros(0), scaled=False)

        def step(source: Any, target_ids: Any, labels: Any) -> float:
            made.zero_grad()
            loss = self.loss(self.model(self.tensor(source), self.tensor(target_ids)), self.tensor(labels))
            made.step(loss)
            return float(loss.detach())

        return step

    def _tensorflow_trainer(self, module: Any, spec: Spec) -> Any:
        import tensorflow as tf

        variables = self.model.trainable_variables
        made = module.Optimizer(spec, variables, np.zeros(0))

        @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int64)] * 3)
        def graph(source: Any, target_ids: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = self.loss(self.model([source, target_ids], training=True), labels)
            made.apply(tape.gradient(loss, variables), variables)
            return loss

        return lambda *arrays: float(graph(*(self.tensor(values) for values in arrays)))

    def put(self, weights: dict[str, Any]) -> None:
        """Give the model all its weights, by torch's names and in torch's axes; torch's second biases stay 0."""
        places = self.places()
        assert places.keys() == weights.keys()
        for name, place in places.items():
            place.write(weights[name])

    def taken(self) -> dict[str, Any]:
        """All weights, as `put` takes them."""
        return {name: place.read() for name, place in self.places().items()}

    def places(self) -> Any:
        """Where the trained weights lie, by torch's names."""
        return importlib.import_module(f"framewatt.workloads.{self.framework}.inspection").places(self.model)


def main(framework: str, folder: str, what: str) -> None:
    """Write what came out to `<framework>-….npz` of a folder, and print a line of JSON."""
    if framework == "torch":
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
    else:
        import keras
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        keras.utils.set_random_seed(0)
    actions = {"parity": parity, "learns": learns, "halves": halves, "counts": counts}
    print(json.dumps(actions[what](framework, Path(folder))))


def content_of(path: Path) -> dict[str, Any]:
    with np.load(path) as content:
        return dict(content)


def parity(framework: str, folder: Path) -> dict[str, Any]:
    """Every case of the same weights: scores, steps and translations."""
    data = content_of(folder / "data.npz")
    begin_alike = {}
    for case, dimensions in CASES.items():
        fresh = Model(framework, dimensions, WORDS)
        drawn = [values.tobytes() for values in fresh.taken().values() if values.std() > 0]
        begin_alike[case] = {"weights": len(drawn), "alike": len(drawn) - len(set(drawn))}
        weights = content_of(folder / f"{case}.npz")
        # Such steps of SGD stay close enough to each other that rounding does not grow.
        for optimizer, rate in (("sgd", 0.05), ("adam", 0.001)):
            model = Model(framework, dimensions, WORDS)
            model.put(weights)
            np.savez(folder / f"{framework}-{case}-{optimizer}.npz", **trained(model, data, optimizer, rate))
        model.put(weights)
        np.savez(folder / f"{framework}-{case}-others.npz", **others(model, data))
    tiny(framework, folder)
    return begin_alike


def trained(model: Model, data: dict[str, Any], optimizer: str, rate: float) -> dict[str, Any]:
    """Scores before and after ten steps, losses, and weights after the first and the last step."""
    asked = (data["source"][:BATCH], data["target_ids"][:BATCH])
    found: dict[str, Any] = {"before": model.scores(*asked)}
    step, losses = model.trainer(optimizer, rate), []
    for number in range(STEPS):
        rows = slice(number * BATCH, (number + 1) * BATCH)
        losses.append(step(*(data[name][rows] for name in ("source", "target_ids", "labels"))))
        if number == 0:
            found |= {f"first/{name}": values for name, values in model.taken().items()}
    pads = {"pad": model.taken()["encoder.embedding.weight"][PAD]}
    return found | pads | {"losses": np.array(losses), "after": model.scores(*asked)}


def others(model: Model, data: dict[str, Any]) -> dict[str, Any]:
    """Translations with and without other sentences, and scores with another future and without padding."""
    source, target_ids = data["source"], data["target_ids"]
    lengths = (source != PAD).sum(1)
    wider = np.pad(source[:ALONE], ((0, 0), (0, 9)))
    found: dict[str, Any] = {
        "scores": model.scores(source, target_ids),
        "wider": model.scores(wider, target_ids[:ALONE]),
    }
    changed = target_ids[:ALONE].copy()
    changed[:, 4:] = np.where(changed[:, 4:] == FIRST, FIRST + 1, FIRST)
    found["other_future"] = model.scores(source[:ALONE], changed)
    for beam in (1, 4):
        found[f"beam_{beam}"] = padded(model.decoded(source, beam))
        found[f"beam_{beam}_wider"] = padded(model.decoded(wider, beam))
        each = [padded(model.decoded(source[row : row + 1, : lengths[row]], beam)) for row in range(ALONE)]
        found[f"beam_{beam}_alone"] = np.concatenate(each)
    found["stepwise"] = np.concatenate([padded(stepwise(model, source[row : row + 1])) for row in range(ALONE)])
    return found


def padded(ids: Any) -> Any:
    """Translations of any width in one that all fit in."""
    return np.pad(ids, ((0, 0), (0, 64 - ids.shape[1])), constant_values=IGNORED)


def stepwise(model: Model, source: Any) -> Any:
    """The best token after those before, one by one, of the model that is told the translation."""
    times, more = model.model.dimensions.longest
    said = [BOS]
    while len(said) <= times * int((source != PAD).sum()) + more:
        scores = model.scores(source, np.array([said]))[0, -1]
        scores[[PAD, BOS]] = -np.inf
        said.append(int(scores.argmax()))
        if said[-1] == EOS:
            return np.array([said[1:-1]], np.int64).reshape(1, -1)
    return np.array([said[1:]], np.int64)


def all_prefixes() -> Iterator[tuple[int, ...]]:
    """Every beginning of a translation that the tiny search allows, and its ends without EOS."""
    words = (UNK, *range(FIRST, TINY_WORDS))
    for length in range(TINY.longest[1] + 1):
        yield from itertools.product(words, repeat=length)


def tiny(framework: str, folder: Path) -> None:
    """What a model says of every translation there is, and the search's choices among them."""
    model = Model(framework, TINY, TINY_WORDS)
    model.put(content_of(folder / "tiny.npz"))
    longest = TINY.longest[1]
    prefixes = list(all_prefixes())
    full = [prefix for prefix in prefixes if len(prefix) == longest]
    targets = np.array([(BOS, *prefix) for prefix in full])
    found = {}
    sources = content_of(folder / "data.npz")["tiny"]
    for row, source in enumerate(sources):
        scores, attention = model.forced(np.tile(source, (len(full), 1)), targets)
        found |= {f"scores_{row}": scores, f"attention_{row}": attention}
    for beam in (1, 2, 3, len(prefixes)):
        found[f"beam_{beam}"] = padded(model.decoded(sources, beam))
    np.savez(folder / f"{framework}-tiny.npz", **found)


def reversals(draw: np.random.Generator, count: int) -> tuple[Any, Any, Any]:
    """Sentences of 3 to 6 words, and as their translations the same from end to begin."""
    lengths = draw.integers(3, 7, count)
    source, labels = np.full((count, 7), PAD), np.full((count, 7), IGNORED)
    for row, length in enumerate(lengths):
        words = draw.integers(FIRST, FIRST + REVERSED_WORDS, length)
        source[row, : length + 1] = [*words, EOS]
        labels[row, : length + 1] = [*words[::-1], EOS]
    told = np.where(labels[:, :-1] == IGNORED, PAD, labels[:, :-1])
    told[told == EOS] = PAD
    return source, np.concatenate([np.full((count, 1), BOS), told], axis=1), labels


def learns(framework: str, folder: Path) -> dict[str, Any]:
    """Train a model to turn sentences, and ask it of others."""
    draw = np.random.default_rng(0)
    model = Model(framework, LEARNS, FIRST + REVERSED_WORDS)
    step = model.trainer("adam", LEARNT["rate"])
    losses = [step(*reversals(draw, int(LEARNT["batch"]))) for _ in range(int(LEARNT["steps"]))]
    source, _, labels = reversals(np.random.default_rng(1), int(LEARNT["held_out"]))
    wanted = padded(np.where(labels == EOS, IGNORED, labels))
    shares = {beam: float((padded(model.decoded(source, beam)) == wanted).all(axis=1).mean()) for beam in (1, 3)}
    return {"first": losses[0], "last": float(np.mean(losses[-10:])), "right": shares}


def halves(framework: str, folder: Path) -> dict[str, Any]:
    """In bfloat16, as the engines mix it: the type of the scores, and whether all numbers are finite."""
    data = content_of(folder / "data.npz")
    arrays = [data[name][:BATCH] for name in ("source", "target_ids", "labels")]
    found = {}
    if framework == "torch":
        import torch

        context: Any = torch.autocast("cpu", torch.bfloat16)
    else:
        from contextlib import nullcontext

        import keras

        context = nullcontext()
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
    # The decoder begins in one of its two ways; neither has numbers of its own.
    for case, dimensions in [next(iter(CASES.items()))]:
        model = Model(framework, dimensions, WORDS)
        with context:
            scores = (
                model.model(*(model.tensor(values) for values in arrays[:2]))
                if model.torch
                else model.model([model.tensor(values) for values in arrays[:2]])
            )
            step = model.trainer("adam", 0.001)
            losses = [step(*arrays) for _ in range(3)]
            translated = model.decoded(arrays[0], 3)
        finite = all(np.isfinite(values).all() for values in model.taken().values())
        found[case] = {
            "kind": str(scores.dtype),
            "finite": bool(finite and np.isfinite(model.scores(*arrays[:2])).all()),
            "losses": losses,
            "ids": [int(translated.min()), int(translated.max())],
        }
    return found


def counts(framework: str, folder: Path) -> dict[str, Any]:
    """Trained weights, and all, of the models as they are registered."""
    found = {}
    for name in MODELS:
        model = build(framework, name, Facts("translation", PUBLISHED_WORDS, (1,)))
        if framework == "torch":
            sizes = [(values.numel(), values.requires_grad) for values in model.parameters()]
            found[name] = [sum(size for size, trained in sizes if trained), sum(size for size, _ in sizes)]
        else:
            found[name] = [
                int(sum(np.prod(one.shape) for one in some)) for some in (model.trainable_weights, model.weights)
            ]
        found[name].append(model.beam)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
