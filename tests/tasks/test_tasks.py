"""Tasks: the steps that every framework takes, and how answers are judged."""

import numpy as np
import pytest
from records_factory import as_then, run_record, without_errors

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.sequences import Sequences
from framewatt.runs.records import as_now
from framewatt.runs.verdict import unknown_quality
from framewatt.tasks import METRICS, PRIMARY, TASKS, task_of
from framewatt.tasks.classification import Classification
from framewatt.tasks.contract import TEST, TRAIN, Metric
from framewatt.tasks.quality import described, primary_of, quality_of
from framewatt.tasks.tagging import Tagging

LENGTHS = np.array([3, 1, 2])
TAGS = np.array([[0, 1, 2], [1, IGNORED, IGNORED], [2, 2, IGNORED]])
SEQUENCES = Sequences(
    *(np.zeros((3, 3, 4), np.float32), TAGS) * 2,
    main="tokens",
    task="tagging",
    lengths_train=LENGTHS,
    lengths_test=LENGTHS,
)
IMAGES = Images(*(np.zeros((10, 1, 2, 2), np.float32), np.arange(10) % 3) * 2)


def scores(tags: np.ndarray) -> np.ndarray:
    """Outputs by which each token, padding too, has a tag."""
    return np.eye(3, dtype=np.float32)[np.where(tags == IGNORED, 0, tags)]


def test_no_two_tasks_share_a_metric_and_each_is_compared_by_its_first() -> None:
    names = [name for task in TASKS.values() for name in task.names]
    assert len(names) == len(set(names)) == len(METRICS)
    first = [task.names[0] for task in TASKS.values()]
    others = ["token_error_rate", "hit_rate_10", "perplexity", "bleu"]
    assert list(PRIMARY) == first == ["accuracy", *others, "box_ap", "mask_ap"]
    allowed = "classification, tagging, recommendation, language_modelling, translation, detection, segmentation"
    with pytest.raises(FramewattError, match=f"task: there is no 'chess'. Use one of: {allowed}"):
        task_of("chess")


def test_the_test_set_is_taken_in_its_order_to_the_last_sample() -> None:
    steps = list(Classification().plan(TEST, IMAGES, batch_size=4))
    assert [step.indices.tolist() for step in steps] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [step.units for step in steps] == [4, 4, 2]
    assert [step.rows for step in steps] == [slice(0, 4), slice(4, 8), slice(8, 10)]


def test_the_training_set_is_shuffled_by_seed_and_epoch_without_its_incomplete_batch() -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        return [step.indices.tolist() for step in Classification().plan(TRAIN, IMAGES, 3, seed, epoch)]

    # The order in which all studies so far were trained, written out.
    expected = np.random.default_rng([7, 2]).permutation(10)
    assert order(7, 2) == [expected[:3].tolist(), expected[3:6].tolist(), expected[6:9].tolist()]
    assert order(7, 2) == order(7, 2)
    assert order(7, 2) != order(7, 1)
    assert order(7, 2) != order(8, 2)


def test_a_batch_larger_than_the_training_set_is_all_of_it() -> None:
    (step,) = Classification().plan(TRAIN, IMAGES, batch_size=64)
    assert sorted(step.indices) == list(range(10))


def test_units_of_sequences_are_tokens_without_padding() -> None:
    assert [step.units for step in Tagging().plan(TEST, SEQUENCES, batch_size=2)] == [4, 2]
    assert sum(step.units for step in Tagging().plan(TRAIN, SEQUENCES, batch_size=1)) == 6


def test_error_rates_by_hand() -> None:
    # The second token of the first sequence is wrong, and what lies in the padding does not matter.
    found = Tagging().judge(scores(np.array([[0, 0, 2], [1, 2, 2], [2, 2, 1]])), SEQUENCES)
    assert found.values == {"token_error_rate": pytest.approx(1 / 6), "sequence_error_rate": pytest.approx(1 / 3)}
    assert found.right.tolist() == [True, False, True, True, True, True]
    assert Tagging().recount(found.right) == found.values["token_error_rate"]


def test_answers_all_right_are_no_error() -> None:
    assert set(Tagging().judge(scores(TAGS), SEQUENCES).values.values()) == {0.0}


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        (np.zeros((3, 3)), r"outputs of shape (3, 3) are no scores of 3 classes a token"),
        (np.zeros((3, 2, 3)), r"outputs of shape (3, 2, 3) are no scores of 3 classes a token"),
        (np.zeros((3, 3, 2)), r"outputs of shape (3, 3, 2) are no scores of 3 classes a token"),
        (np.full((3, 3, 3), np.nan), "outputs are not numbers"),
    ],
)
def test_outputs_that_are_no_tags_make_the_metrics_unknown(outputs: np.ndarray, reason: str) -> None:
    found = Tagging().judge(outputs, SEQUENCES)
    assert (set(found.values.values()), found.unknown, found.right) == ({None}, reason, None)


def test_numbers_that_are_missing_in_the_padding_alone_do_no_harm() -> None:
    outputs = scores(TAGS)
    outputs[1, 1:] = np.nan
    assert Tagging().judge(outputs, SEQUENCES).values["token_error_rate"] == 0


def test_a_record_says_of_each_metric_which_values_are_better_and_why_one_is_unknown() -> None:
    quality = quality_of(Tagging().judge(np.zeros((3, 3)), SEQUENCES))
    told = quality["token_error_rate"]
    assert (told["value"], told["unit"], told["better"]) == (None, "", "lower")
    assert primary_of(quality) == "token_error_rate"
    flag = "outputs of shape (3, 3) are no scores of 3 classes a token, so token error rate is unknown"
    assert unknown_quality(quality) == [flag]
    assert unknown_quality(described({"accuracy": 0.5}, None)) == []


def test_bounds_tell_what_values_a_metric_can_have() -> None:
    perplexity = Metric("perplexity", "Perplexity", "lower", lowest=1.0, highest=None)
    assert [perplexity.is_possible(value) for value in (0.5, 1.0, 1e9)] == [False, True, True]
    assert not perplexity.is_share()
    assert METRICS["accuracy"].is_share()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_earlier_records_are_told_in_the_words_of_now(version: int) -> None:
    record = run_record(epochs=[{"epoch": 1, "units": 50, "loss_mean": 0.5, "quality": run_record()["quality"]}])
    assert as_now(as_then(record, version)) == {**without_errors(record), "schema_version": version}


def test_why_an_earlier_record_knows_no_accuracy_stands_in_its_flag() -> None:
    quality = described(dict.fromkeys(without_errors(run_record())["quality"]), "weights are random")
    record = run_record(quality=quality, flags=["weights are random, so accuracy is unknown"])
    assert as_now(as_then(record, 3))["quality"] == quality
