"""NeuMF: the same model in every framework, from its weights to its steps, its hit rate and its export."""

from pathlib import Path

import numpy as np
import pytest
from carry_neumf import VECTORS
from same_steps import assert_gradients_alike, assert_ten_steps_alike
from stages import run_program, run_stages

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import save_arrays
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads.families.neumf import AS_PUBLISHED, FULL, SMALL

DRAWN = {
    "module": "synthetic_ratings",
    **{"users": 300, "items": 400, "tastes": 8, "ratings_per_user": 30, "negatives": 4, "candidates": 100, "seed": 0},
}
ML_20M = (138_493, 26_744)
"""Users and items of MovieLens 20M."""


@pytest.fixture(scope="module")
def data() -> Arrays:
    return make_arrays(DRAWN)


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory, data: Arrays) -> Path:
    """What every framework computes from the same weights, with either optimizer."""
    folder = tmp_path_factory.mktemp("carried")
    save_arrays(folder / "data.npz", data)
    draw = np.random.default_rng(1)
    users, items = data.categories
    shapes = {
        f"{name}.weight": (count, width)
        for name, count, width in (
            ("user_factors", users, SMALL.factors),
            ("item_factors", items, SMALL.factors),
            ("user_mlp", users, SMALL.half),
            ("item_mlp", items, SMALL.half),
        )
    }
    # ReLU and dropout are between the dense layers.
    for place, (before, units) in enumerate(zip(SMALL.layers, SMALL.layers[1:], strict=False)):
        shapes |= {f"mlp.{3 * place}.weight": (units, before), f"mlp.{3 * place}.bias": (units,)}
    shapes |= {"head.weight": (1, SMALL.factors + SMALL.layers[-1]), "head.bias": (1,)}
    # Larger than a model begins with, so that every part of it weighs.
    weights = {name: draw.normal(scale=0.3, size=shape).astype(np.float32) for name, shape in shapes.items()}
    np.savez(folder / "weights.npz", **weights)
    for framework in FRAMEWORKS:
        for optimizer, rate in (("sgd", "0.1"), ("adam", "0.0045")):
            script = Path(__file__).with_name("carry_neumf.py")
            printed = run_program(environment_of(framework, "cpu"), script, framework, folder, optimizer, rate)
            assert printed.splitlines()[-1] == str(SMALL.parameters(data.categories))
    return folder


def found(folder: Path, framework: str, optimizer: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{framework}-{optimizer}.npz") as content:
        return {name: content[name] for name in content.files}


def test_sizes_are_those_of_the_fact_sheet() -> None:
    assert FULL.parameters(ML_20M) == 31_832_577
    assert AS_PUBLISHED.parameters(ML_20M) == 330_488


def test_another_data_set_than_of_pairs_is_refused() -> None:
    with pytest.raises(
        FramewattError, match=r"NeuMF: the data set has 0 kinds of ids\. Use a data set of users and items"
    ):
        SMALL.sizes(())


@pytest.mark.parametrize("other", [name for name in FRAMEWORKS if name != "torch"])
class TestParity:
    def test_the_same_weights_give_the_same_scores(self, carried: Path, other: str) -> None:
        ours, theirs = (found(carried, name, "sgd")["before"] for name in ("torch", other))
        assert np.abs(ours).max() > 0.5
        assert np.abs(ours - theirs).max() < 5e-6

    def test_the_same_weights_and_batch_give_the_same_gradients(self, carried: Path, other: str) -> None:
        with np.load(carried / "weights.npz") as content:
            before = dict(content)
        ours, theirs = (found(carried, name, "sgd") for name in ("torch", other))
        assert_gradients_alike(before, ours, theirs)

    @pytest.mark.parametrize("optimizer", ["sgd", "adam"])
    def test_ten_steps_have_the_same_losses(self, carried: Path, other: str, optimizer: str) -> None:
        ours, theirs = (found(carried, name, optimizer) for name in ("torch", other))
        assert_ten_steps_alike(ours, theirs)

    def test_a_vector_that_a_batch_has_twice_takes_adams_step(self, carried: Path, other: str) -> None:
        """Of gradients that cancel each other all but a rest: its sign alone makes the first step."""
        ours, theirs = (found(carried, name, "adam") for name in ("torch", other))
        for name in VECTORS:
            step = f"first/{name}.weight"
            assert np.abs(theirs[step] - ours[step]).max() < 0.02 * 0.0045, name


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_it_learns_tastes_and_its_export_recommends_the_same(framework: str, data: Arrays, tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", data)
    training = {"epochs": 3, "learning_rate": 0.005, "momentum": 0.9}
    model = {"model": "neumf_small", "weights": "trained", "training": training, "batch_size": 128}
    weights, check = run_stages(framework, {**model, "options": {"optimizer": "adam"}}, tmp_path)
    rates = [epoch["quality"]["hit_rate_10"]["value"] for epoch in weights["epochs"]]
    assert max(rates) > data.about["popularity_hit_rate_10"] + 0.1 > 10 / 101 + 0.2, rates
    assert (check["status"], check["reason"]) == ("ok", None)
    assert check["equal_predictions_share"] > 0.999
    assert check["quality"]["hit_rate_10"]["value"] == pytest.approx(rates[-1], abs=2 / data.about["users"])
