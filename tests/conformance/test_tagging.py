"""A task that is not classification, of sequences: the same in all frameworks, from its loss to its export."""

import json
from pathlib import Path

import numpy as np
import pytest
from stages import run_program, run_stages

from framewatt.datasets import make_arrays
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.tasks import TASKS

NUMBERS = {"module": "numbers", "longest": 8, "test_fraction": 0.2, "seed": 0}
LOSS = """
import json, sys
import numpy as np
from framewatt.workloads.{framework}.losses import LOSSES
scores, labels = np.array(json.loads(sys.argv[1]), np.float32), np.array(json.loads(sys.argv[2]))
{give}
print(json.dumps([float(loss), sorted(LOSSES)]))
"""
GIVE = {
    "torch": "import torch; loss = LOSSES['tagging'](torch.tensor(scores), torch.tensor(labels))",
    "tensorflow": "import tensorflow as tf; loss = LOSSES['tagging'](tf.constant(scores), tf.constant(labels))",
    "mxnet": "import mxnet as mx; "
    "loss = LOSSES['tagging'][0](mx.nd.array(scores), mx.nd.array(labels, dtype='int64')).asscalar()",
}


@pytest.fixture(scope="module", params=FRAMEWORKS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, dict]:
    """The data, and the records of weights and of their export after ten epochs."""
    folder = tmp_path_factory.mktemp(request.param)
    save_arrays(folder / "data.npz", make_arrays(NUMBERS))
    training = {"epochs": 10, "learning_rate": 0.05, "momentum": 0.9}
    model = {"model": "digit_tagger", "weights": "trained", "training": training, "batch_size": 8}
    return folder, *run_stages(request.param, model, folder)


def test_numbers_are_read_far_better_than_by_chance(trained: tuple[Path, dict, dict]) -> None:
    _, weights, _ = trained
    errors = [epoch["quality"]["token_error_rate"]["value"] for epoch in weights["epochs"]]
    assert len(errors) == 10
    # Ten digits, each as frequent: guessing errs in 0.9.
    assert errors[-1] < 0.15
    assert errors[-1] < errors[0]


def test_the_export_reads_them_as_its_source_does(trained: tuple[Path, dict, dict]) -> None:
    _, weights, check = trained
    assert (check["status"], check["reason"], check["equal_predictions_share"]) == ("ok", None, 1)
    assert check["quality"] == check["source_quality"] == weights["epochs"][-1]["quality"]


def test_outputs_for_padding_change_nothing(trained: tuple[Path, dict, dict]) -> None:
    folder, _, check = trained
    data, outputs = load_arrays(folder / "data.npz"), np.load(folder / "export" / "reference.npy")
    outputs[np.arange(8) >= data.lengths_test[:, None]] = 1e9
    judged = TASKS["tagging"].judge(outputs, data)
    assert judged.values["token_error_rate"] == check["quality"]["token_error_rate"]["value"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_loss_is_the_mean_over_tokens_and_not_over_padding(framework: str, tmp_path: Path) -> None:
    scores = np.random.default_rng(1).normal(size=(2, 3, 4))
    labels = np.array([[3, 0, 1], [2, IGNORED, IGNORED]])
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    tokens = [(0, 0, 3), (0, 1, 0), (0, 2, 1), (1, 0, 2)]
    expected = -np.mean([np.log(probabilities[token]) for token in tokens])
    program = tmp_path / "loss.py"
    program.write_text(LOSS.format(framework=framework, give=GIVE[framework]))
    given = [json.dumps(values.tolist()) for values in (scores, labels)]
    printed = run_program(environment_of(framework, "cpu"), program, *given)
    loss, losses = json.loads(printed.splitlines()[-1])
    assert loss == pytest.approx(expected, rel=1e-5)
    # Detectors work out their own.
    without = {"detection", "segmentation"} | {"mxnet": {"language_modelling", "translation"}}.get(framework, set())
    assert losses == sorted(TASKS.keys() - without), "every task has a loss in every framework that has models for it"


def test_a_model_on_a_data_set_for_another_task_is_refused_in_one_line(tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", make_arrays({**NUMBERS, "train_samples": 8, "test_samples": 4}))
    with pytest.raises(
        AssertionError, match="workload resnet50 is for classification, and the data set is for tagging"
    ):
        run_stages("torch", {"model": "resnet50", "weights": "seeded"}, tmp_path)
