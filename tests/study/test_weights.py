"""Weights as a setting of a study: trained, or random with an accuracy that is not told."""

from pathlib import Path

import pytest
import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml
from framewatt.planning import jobs
from framewatt.runs.worker import without_quality
from framewatt.study.study import MeasuredStudy
from framewatt.study.study_file import load_study
from framewatt.study.training import weights_of
from framewatt.tasks.quality import described
from framewatt.workloads.families.bert import BASE, TINY

SCHEMA = Path(__file__).parents[2] / "config" / "schemas" / "study.schema.yaml"
FACTORS = {"workload": ["bert_tiny"], "runtime": ["torch"], "dataset": ["texts"], "batch_size": [1]}


def study(tmp_path: Path, **keys: object) -> MeasuredStudy:
    path = tmp_path / "study.yaml"
    factors = [{"phase": ["train", "infer"], **FACTORS}]
    path.write_text(yaml.safe_dump({"study": "trial", "title": "A trial", "factors": factors, **keys}))
    known = {"dataset": ["texts"], "workload/torch": ["bert_tiny"]}
    return load_study(path, load_yaml(path), load_yaml(SCHEMA), known, "cpu", 2)


def test_weights_are_trained_unless_the_study_says_otherwise(tmp_path: Path) -> None:
    assert study(tmp_path).settings["weights"] == "trained"


def test_seeded_weights_are_a_matter_of_inference_alone(tmp_path: Path) -> None:
    seeded = study(tmp_path, weights="seeded")
    train, infer = seeded.cells
    assert jobs.measure_job(seeded, infer, 1, 1)["weights"] == "seeded"
    assert jobs.measure_job(seeded, train, 1, 1)["weights"] is None
    assert jobs.train_job(seeded, infer, 1)["weights"] == "seeded"


def test_other_weights_are_refused_with_those_that_are_allowed(tmp_path: Path) -> None:
    with pytest.raises(
        FramewattError, match=r"'official' is not allowed[.] Use trained, seeded, pretrained, fine-tuned or"
    ):
        study(tmp_path, weights="official")


def test_models_of_one_study_may_have_their_weights_from_elsewhere(tmp_path: Path) -> None:
    said = study(tmp_path, weights={"bert_tiny": "seeded"})
    assert jobs.train_job(said, said.cells[1], 1)["weights"] == "seeded"
    assert weights_of({"weights": {"resnet50": "pretrained"}}, "resnet50") == "pretrained"
    assert weights_of({"weights": {"resnet50": "pretrained"}}, "bert_tiny") == "trained"


def test_weights_of_a_model_that_the_study_has_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"weights: 'bert_tyny' is not a zoo's model of the study\. Use bert_tiny"):
        study(tmp_path, weights={"bert_tyny": "seeded"})


def test_accuracy_of_random_weights_is_unknown_with_the_reason() -> None:
    result = {"quality": described({"accuracy": 0.1}, None), "right": [True], "latency": None}
    told = without_quality(result, "weights are random")
    assert told == {"quality": described({"accuracy": None}, "weights are random"), "right": None, "latency": None}


def test_outputs_that_are_not_numbers_stay_the_reason() -> None:
    result = {"quality": described({"accuracy": None}, "outputs are not numbers")}
    assert without_quality(result, "weights are random")["quality"] == result["quality"]


@pytest.mark.parametrize("shape", [(513,), (3, 32, 32)])
def test_bert_reads_texts_of_at_most_512_tokens(shape: tuple[int, ...]) -> None:
    for dimensions in (BASE, TINY):
        dimensions.check((512,))
        with pytest.raises(
            FramewattError, match=r"BERT: it does not take samples of shape .*\. Use texts of at most 512"
        ):
            dimensions.check(shape)
