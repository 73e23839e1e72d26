"""Published weights of BERT, put into each framework's model as the start of its fine-tuning."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from checkout import Checkout
from stages import end_of

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of_files
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads.families.bert import BASE, CONFIGURATION, TINY, WEIGHTS

APPROXIMATE_GELU = 2e-3
"""How far KerasHub's may be from the others', which are exact."""


def ask(framework: str, task: str, folder: Path) -> list[dict[str, Any]]:
    """What a framework's process printed."""
    script = Path(__file__).with_name("published_body.py")
    ended = end_of(environment_of(framework, "cpu"), script, task, folder, HF_HUB_OFFLINE="1")
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    ask("torch", "publish", folder)
    return folder


@pytest.fixture(scope="module")
def of_torch(published: Path) -> Any:
    """What torch's head is given, from transformers' own loader."""
    return np.array(ask("torch", "torch", published)[0]["pooled"])


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_framework_starts_at_the_same_weights(framework: str, published: Path, of_torch: Any) -> None:
    allowed = APPROXIMATE_GELU if framework == "tensorflow" else 1e-5
    assert np.abs(of_torch).max() > 0.3
    *whole, short = ask(framework, framework, published)
    assert len(whole) == 2
    for found in whole:
        assert np.abs(np.array(found["pooled"]) - of_torch).max() < allowed
        assert found["scores"] == [2, 3]
    assert "encoder.layer.1.output.dense.bias" in short["refused"]


def test_weights_of_another_bert_are_refused(published: Path) -> None:
    TINY.check_published(published / "new")
    with pytest.raises(FramewattError, match=r"config\.json: num_hidden_layers is 2, and the model has 12"):
        BASE.check_published(published / "new")


def test_a_study_fine_tunes_what_the_users_folder_holds(published: Path, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.share_environment("mxnet/cpu")
    path = tmp_path / "config/datasets.yaml"
    datasets = yaml.safe_load(path.read_text())
    datasets["sources"]["bert_base"]["body_of"] = "bert_tiny"
    texts = {"module": "synthetic", "shape": [8], "vocabulary": 30522, "classes": 2, "seed": 0}
    datasets["datasets"]["synthetic-texts"] = {**texts, "train_samples": 8, "test_samples": 4}
    path.write_text(yaml.safe_dump(datasets))
    factors = {"phase": ["infer"], "workload": ["bert_tiny"], "dataset": ["synthetic-texts"], "batch_size": [1]}
    training = {"epochs": 2, "batch_size": 4, "optimizer": "adam", "learning_rate": 2e-5}
    checkout.write_study(
        "tuned",
        factors=[{**factors, "runtime": ["mxnet"]}],
        weights={"bert_tiny": "fine-tuned"},
        training=training,
        instruments={"meters": ["estimate"]},
    )
    folder = "results/tuned/train/bert_tiny-synthetic-texts-mxnet"
    (published / "new" / "tokenizer").mkdir()  # a hub's folder holds more than what is read
    answer = checkout.snakemake(folder, config=f"study=tuned data_bert_base={published / 'new'}")
    assert answer.code == 0, answer.text
    record = read_json(tmp_path / folder / "train.json")
    assert record["status"] == "ok", record["reason"]
    assert (record["weights"], len(record["epochs"])) == ("fine-tuned", 2)
    assert record["workload"]["in_force"]["optimizer"] == "Adam"
    used = [published / "new" / name for name in (CONFIGURATION, WEIGHTS)]
    assert record["body_sha256"] == sha256_of_files(used, published / "new")
