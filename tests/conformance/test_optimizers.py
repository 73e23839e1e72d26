"""Optimizers with clipping, weight decay and schedules: the same steps in PyTorch and TensorFlow, and as published."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carry_optimizers import STEPS
from numpy.typing import NDArray
from stages import run_program

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.runs.conditions import ignored
from framewatt.study.cell import environment_of
from framewatt.workloads.contract import EPSILON
from framewatt.workloads.schedule import rates

TUNED = ("torch", "tensorflow")
DRAWN = {
    "module": "synthetic_ratings",
    **{"users": 40, "items": 160, "tastes": 4, "ratings_per_user": 26, "negatives": 4, "candidates": 100, "seed": 0},
}
PLANNED = 10
"""Steps of the training; two more are made."""
COSINE = {"kind": "cosine", "warm_up_steps": 3, "final_rate": 0.001}
HALVINGS = {"kind": "halvings", "warm_up_steps": 3, "from_share": 0.667, "halvings": 3}
SCALED = {"loss_scale": 2.0**22}
"""Gradients times this are too large for fp16."""
TINY, HUGE = 0.05, 1000.0
"""Limits that every norm of a gradient here exceeds, and that none does."""


def case(optimizer: str, rate: float, options: dict[str, str] | None = None, **training: Any) -> dict[str, Any]:
    settings = {"epochs": 1, "learning_rate": rate, "momentum": 0.9, "betas": [0.9, 0.98], **training}
    level = {"optimizer": optimizer} if optimizer != "sgd" else {}
    return {"training": settings, "options": level | (options or {})}


CASES = {
    "sgd": case("sgd", 0.1),
    "sgd_clipped": case("sgd", 0.1, clip_norm=TINY),
    "sgd_unclipped": case("sgd", 0.1, clip_norm=HUGE),
    "sgd_cosine": case("sgd", 0.1, schedule=COSINE),
    "lamb": case("lamb", 0.01),
    "lamb_decay": case("lamb", 0.01, weight_decay=0.01),
    "lamb_from_0": case("lamb", 0.01) | {"last": 0.0},
    "lamb_decay_from_0": case("lamb", 0.01, weight_decay=0.01) | {"last": 0.0},
    "lamb_cosine": case("lamb", 0.01, clip_norm=TINY, weight_decay=0.01, schedule=COSINE),
    "adam_halvings": case("adam", 0.002, clip_norm=TINY, schedule=HALVINGS),
    "lamb_nan": case("lamb", 0.01, clip_norm=TINY) | {"last": float("nan")},
    "lamb_compiled": case("lamb", 0.01, {"compile": "compiled"}, clip_norm=TINY, weight_decay=0.01, schedule=COSINE),
    "lamb_fp16": case("lamb", 0.01, {"precision": "fp16"}, weight_decay=0.01, schedule=COSINE) | SCALED,
    "lamb_fp16_clipped": case("lamb", 0.01, {"precision": "fp16"}, clip_norm=TINY, schedule=HALVINGS) | SCALED,
    "adam_fp16": case("adam", 0.002, {"precision": "fp16"}, clip_norm=TINY, schedule=HALVINGS) | SCALED,
}
SKIPPING = [name for name in CASES if "fp16" in name]
COMPARED = [name for name in CASES if name not in ("lamb_nan", "lamb_compiled", *SKIPPING)]
PAIRS = [(framework, name) for framework in TUNED for name in CASES if (framework, name) != ("torch", "lamb_compiled")]
"""Every case in every framework; compiled is TensorFlow's step, of PyTorch's the model alone."""

Weights = list[NDArray[Any]]


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What both frameworks compute from the same weights in every case."""
    folder = tmp_path_factory.mktemp("optimizers")
    data = make_arrays(DRAWN)
    save_arrays(folder / "data.npz", data)
    batch_size = -(-len(data.x_train) // PLANNED)
    for framework in TUNED:
        own = {name: CASES[name] | {"batch_size": batch_size} for where, name in PAIRS if where == framework}
        (folder / "cases.json").write_text(json.dumps(own))
        script = Path(__file__).with_name("carry_optimizers.py")
        run_program(environment_of(framework, "cpu"), script, framework, folder)
    return folder


class Found:
    """What a framework computed in a case."""

    def __init__(self, folder: Path, framework: str, name: str) -> None:
        with np.load(folder / f"{framework}-{name}.npz") as content:
            self.content = {key: content[key] for key in content.files}
        self.training = CASES[name]["training"]
        self.level = CASES[name]["options"].get("optimizer", "sgd")
        self.losses, self.after = self.content["losses"], self.content["after"]
        self.in_force = json.loads(str(self.content["in_force"]))

    def weights(self, step: int) -> Weights:
        """Before a step, counted from 0."""
        return self._all(f"weights_{step}")

    def gradients(self, step: int) -> Weights:
        """Of a step, as they come from the loss, without the loss scale."""
        return [values / self.content["scales"][step] for values in self._all(f"gradient_{step}")]

    def norm(self, step: int) -> float:
        """Of all gradients of a step together."""
        return norm_of(self.gradients(step))

    def _all(self, start: str) -> Weights:
        count = sum(key.startswith(f"{start}_") for key in self.content)
        return [self.content[f"{start}_{place}"].astype(np.float64) for place in range(count)]


def norm_of(parts: Weights) -> float:
    return float(np.sqrt(sum((part**2).sum() for part in parts)))


def published(found: Found) -> Iterator[Weights | None]:
    """The weights after each step as the papers have it, from those before it and its gradients; None if skipped."""
    training = found.training
    table = rates(training, PLANNED)
    (first, second), decay = training["betas"], training.get("weight_decay", 0)
    taken = 0
    for step in range(STEPS):
        weights, gradients = found.weights(step), found.gradients(step)
        if not taken:
            means, squares = ([np.zeros_like(each) for each in weights] for _ in range(2))
        if not np.isfinite(norm_of(gradients)):
            yield None
            continue
        taken += 1
        rate = table[min(step, PLANNED - 1)]
        limit = training.get("clip_norm", np.inf)
        gradients = [each * min(1, limit / norm_of(gradients)) for each in gradients]
        if found.level == "sgd":
            means = [training["momentum"] * mean + each for mean, each in zip(means, gradients, strict=True)]
            yield [weight - rate * mean for weight, mean in zip(weights, means, strict=True)]
            continue
        means = [first * mean + (1 - first) * each for mean, each in zip(means, gradients, strict=True)]
        squares = [second * square + (1 - second) * each**2 for square, each in zip(squares, gradients, strict=True)]
        updates = [
            mean / (1 - first**taken) / (np.sqrt(square / (1 - second**taken)) + EPSILON)
            for mean, square in zip(means, squares, strict=True)
        ]
        if found.level == "lamb":
            updates = [update + decay * weight for update, weight in zip(updates, weights, strict=True)]
            updates = [trust(weight, update) * update for update, weight in zip(updates, weights, strict=True)]
        yield [weight - rate * update for weight, update in zip(weights, updates, strict=True)]


def trust(weight: NDArray[Any], update: NDArray[Any]) -> float:
    size, length = norm_of([weight]), norm_of([update])
    return size / length if size > 0 and length > 0 else 1.0


@pytest.mark.parametrize(("framework", "name"), [pair for pair in PAIRS if pair[1] != "lamb_nan"])
def test_every_step_is_the_published_one(carried: Path, framework: str, name: str) -> None:
    """From the framework's own weights and gradients, so that nothing but the optimizer differs."""
    found = Found(carried, framework, name)
    for step, wanted in enumerate(published(found)):
        now = found.weights(step + 1)
        for place, weight in enumerate(found.weights(step) if wanted is None else wanted):
            assert np.abs(now[place] - weight).max() <= 1e-6 * np.abs(weight).max(), (step, place)


@pytest.mark.parametrize("name", COMPARED)
def test_ten_steps_are_the_same_in_both(carried: Path, name: str) -> None:
    ours, theirs = (Found(carried, framework, name) for framework in TUNED)
    assert theirs.losses == pytest.approx(ours.losses, rel=1e-3)
    assert theirs.losses[0] == pytest.approx(ours.losses[0], rel=1e-5)
    assert np.abs(theirs.after - ours.after).max() < 1e-3 * np.abs(ours.after).max()
    for place, (one, other) in enumerate(zip(ours.weights(PLANNED), theirs.weights(PLANNED), strict=True)):
        assert np.abs(one - other).max() < 1e-3 * np.abs(one).max(), place


@pytest.mark.parametrize(
    ("framework", "name"), [pair for pair in PAIRS if CASES[pair[1]]["training"].get("clip_norm") == TINY]
)
def test_clipping_has_something_to_do_in_these_cases(carried: Path, framework: str, name: str) -> None:
    norms = [Found(carried, framework, name).norm(step) for step in range(STEPS)]
    assert all(not np.isfinite(norm) or norm > 1.02 * TINY for norm in norms), norms


@pytest.mark.parametrize("framework", TUNED)
class TestClipping:
    def test_a_step_is_as_long_as_the_limit(self, carried: Path, framework: str) -> None:
        clipped, plain = (Found(carried, framework, name) for name in ("sgd_clipped", "sgd"))
        steps = [
            norm_of([after - before for before, after in zip(found.weights(0), found.weights(1), strict=True)]) / 0.1
            for found in (clipped, plain)
        ]
        # PyTorch adds 1e-6 to the norm.
        assert steps == pytest.approx([TINY, plain.norm(0)], rel=2e-5)

    def test_what_no_gradient_reaches_changes_nothing(self, carried: Path, framework: str) -> None:
        clipped, plain = (Found(carried, framework, name) for name in ("sgd_unclipped", "sgd"))
        assert max(plain.norm(step) for step in range(STEPS)) < HUGE
        assert clipped.losses == pytest.approx(plain.losses, rel=1e-5)

    def test_a_loss_that_is_no_number_is_seen_in_every_loss_after_it(self, carried: Path, framework: str) -> None:
        found = Found(carried, framework, "lamb_nan")
        assert np.isnan(found.losses).all()
        assert all(np.isnan(weight).all() for weight in found.weights(1))


@pytest.mark.parametrize(("framework", "name"), [pair for pair in PAIRS if pair[1] in SKIPPING])
def test_loss_scaling_skips_steps_here(carried: Path, framework: str, name: str) -> None:
    """That these change nothing, and the others have the rates of their places, is tested above."""
    found = Found(carried, framework, name)
    skipped = [not np.isfinite(found.norm(step)) for step in range(STEPS)]
    assert 2 <= sum(skipped) < 8
    assert not any(skipped[sum(skipped) :])


def test_no_step_of_pytorch_waits_for_the_device(carried: Path) -> None:
    """But one would, if the optimizer left it to the loss scaling to skip it."""
    told = json.loads((carried / "waits.json").read_text())
    assert sorted(told) == ["adam", "lamb", "sgd"]
    assert all(each == {"plain": False, "scaled": False, "apart": True} for each in told.values()), told


@pytest.mark.parametrize("framework", TUNED)
def test_batches_have_ids_many_times(carried: Path, framework: str) -> None:
    assert Found(carried, framework, "lamb").content["repeats"][0] > 400


@pytest.mark.parametrize(("framework", "name"), PAIRS)
def test_what_is_in_force_is_what_was_requested(carried: Path, framework: str, name: str) -> None:
    options = json.loads(str(Found(carried, framework, name).content["options"]))
    assert options["optimizer"] == dict.fromkeys(
        ("requested", "in_force"), CASES[name]["options"].get("optimizer", "sgd")
    )
    assert list(ignored(options)) == []


@pytest.mark.parametrize("framework", TUNED)
def test_a_record_tells_what_is_in_force(carried: Path, framework: str) -> None:
    told = {name: Found(carried, framework, name).in_force for name in COMPARED}
    assert told["sgd"]["schedule"] is None
    assert told["sgd"]["clip_norm"] is None
    assert (told["sgd"]["weight_decay"], told["lamb_decay"]["weight_decay"]) == (0, 0.01)
    assert (told["lamb"]["optimizer"], told["lamb_decay"]["optimizer"]) == ("Lamb", "Lamb")
    assert (told["adam_halvings"]["optimizer"], told["adam_halvings"]["clip_norm"]) == ("Adam", TINY)
    ways = ("fused", "foreach") if framework == "torch" else (None, None)
    assert (told["sgd"].get("update"), told["lamb"].get("update")) == ways
    assert told["lamb_cosine"]["learning_rate"] == pytest.approx(0.01)
    schedules = {name: told[name]["schedule"] for name in ("lamb_cosine", "adam_halvings")}
    assert schedules == {
        "lamb_cosine": {
            **{"kind": "cosine", "steps": PLANNED, "first_rate": 0},
            "last_rate": pytest.approx(rates(CASES["lamb_cosine"]["training"], PLANNED)[-1]),
        },
        "adam_halvings": {
            **{"kind": "halvings", "steps": PLANNED, "first_rate": pytest.approx(0.002 * 0.01 ** (2 / 3))},
            "last_rate": pytest.approx(0.002 / 8),
        },
    }
