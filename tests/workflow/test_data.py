"""Data sets as the workflow makes them: from the user's folder, from a download, a variant for each model."""

import json
import shutil
from pathlib import Path

import pytest
from checkout import Checkout
from samples import sample

from framewatt.datasets.storing import load_arrays


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_users_folder_comes_before_a_download(checkout: Checkout) -> None:
    planned = checkout.snakemake("--dry-run", "--quiet", "host", "--", "resources/data/svhn.npz")
    assert "downloading svhn" in planned.text
    answer = checkout.snakemake("resources/data/svhn.npz", config=f"data_svhn={sample('svhn-tiny')}")
    assert answer.code == 0, answer.text
    assert "downloading" not in answer.text
    arrays = load_arrays(checkout.root / "resources/data/svhn.npz")
    record = json.loads((checkout.root / "resources/data/svhn.json").read_text())
    assert (record["train_samples"], record["test_samples"], record["synthetic"]) == (6, 5, False)
    assert record["test_samples_per_class"] == [int((arrays.y_test == digit).sum()) for digit in range(10)]
    assert record["origins"][0]["from"] == "local folder"
    assert str(sample("svhn-tiny")) not in json.dumps(record)


def test_ratings_of_a_users_folder_are_pairs_to_be_ranked(checkout: Checkout) -> None:
    ratings = f"data_movielens_small={sample('movielens-ml-latest-small')}"
    answer = checkout.snakemake("resources/data/ml-latest-small.npz", config=ratings)
    assert answer.code == 0, answer.text
    record = json.loads((checkout.root / "resources/data/ml-latest-small.json").read_text())
    assert (record["users"], record["items"], record["ratings"], record["users_left_out"]) == (610, 9724, 100836, 0)
    assert record["test_samples_per_class"] == [61000, 610]
    assert record["train_samples_per_class"] == [4 * (100836 - 610), 100836 - 610]
    # Far above chance, 10 of 101: popularity is what a model has to beat.
    assert 0.5 < record["popularity_hit_rate_10"] < 0.7


def test_a_text_of_a_users_folder_is_a_stream_that_is_judged_by_what_counting_reaches(checkout: Checkout) -> None:
    answer = checkout.snakemake("resources/data/wikitext-2-valid.npz", config=f"data_wikitext_2={sample('wikitext-2')}")
    assert answer.code == 0, answer.text
    record = json.loads((checkout.root / "resources/data/wikitext-2-valid.json").read_text())
    assert (record["task"], record["classes"], record["longest"]) == ("language_modelling", 13_777, 64)
    assert (record["train_units"], record["test_units"]) == (3400 * 64, 245_568)
    assert 200 < record["trigram_perplexity"] < record["unigram_perplexity"] < 600
    assert load_arrays(checkout.root / "resources/data/wikitext-2-valid.npz").segment == 64


def test_photographs_of_a_users_folder_have_their_objects(checkout: Checkout) -> None:
    photographs = f"data_coco2017={sample('coco2017-ccby')}"
    answer = checkout.snakemake("resources/data/coco2017-few-masks.npz", config=photographs)
    assert answer.code == 0, answer.text
    record = json.loads((checkout.root / "resources/data/coco2017-few-masks.json").read_text())
    assert (record["task"], record["classes"], record["input_shape"]) == ("segmentation", 80, [3, 320, 320])
    assert (sum(record["train_objects_per_class"]), sum(record["test_objects_per_class"])) == (466, 403)
    assert load_arrays(checkout.root / "resources/data/coco2017-few-masks.npz").y_test.masked


def test_a_damaged_original_is_one_line_and_leaves_nothing(checkout: Checkout) -> None:
    folder = checkout.root / "mine"
    shutil.copytree(sample("svhn-tiny"), folder)
    (folder / "test_32x32.mat").write_bytes((folder / "test_32x32.mat").read_bytes()[:1000])
    answer = checkout.snakemake("resources/data/svhn.npz", config="data_svhn=mine")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert line.startswith("framewatt: data set svhn: mine/test_32x32.mat: it is not a readable .mat file")
    assert "Traceback" not in answer.text
    assert not list((checkout.root / "resources").rglob("*svhn*"))


def test_a_folder_that_is_not_there_is_one_line(checkout: Checkout) -> None:
    answer = checkout.snakemake("resources/data/svhn.npz", config="data_svhn=nowhere")
    assert answer.code != 0
    assert answer.lines("framewatt: ") == [
        "framewatt: data_svhn: there is no folder nowhere. Use the folder of the original files."
    ]
    assert "Traceback" not in answer.text


def test_data_that_cannot_be_downloaded_say_where_they_are_got(checkout: Checkout) -> None:
    answer = checkout.snakemake("resources/data/imagenet-val-few-torch.npz")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "imagenet: it cannot be downloaded. Get the files from " in line
    assert "use --config data_imagenet=<folder>" in line


def test_every_model_reads_the_variant_that_its_weights_expect(checkout: Checkout) -> None:
    factors = {"phase": ["infer"], "workload": ["resnet50"], "dataset": ["imagenet-val-few"], "batch_size": [1]}
    runtimes = ["torch", "mxnet", "tensorflow", "tf2onnx"]
    checkout.write_study("photos", factors=[{**factors, "runtime": runtimes}], repetitions=1)
    answer = checkout.snakemake("--dry-run", "--quiet", "host", "--", "all", config="study=photos")
    assert answer.code == 0, answer.text
    made = {line.partition("making the data set ")[2] for line in answer.text.splitlines() if "making the data" in line}
    assert made == {"imagenet-val-few-torch", "imagenet-val-few-caffe"}


def test_a_model_without_a_variant_is_one_line(checkout: Checkout) -> None:
    path = checkout.root / "config" / "datasets.yaml"
    path.write_text(path.read_text().replace("tensorflow/resnet50", "tensorflow/resnet101"))
    factors = {"phase": ["infer"], "workload": ["resnet50"], "dataset": ["imagenet-val-few"], "batch_size": [1]}
    checkout.write_study("photos", factors=[{**factors, "runtime": ["tensorflow"]}], repetitions=1)
    answer = checkout.snakemake("--dry-run", "--quiet", "host", "--", "all", config="study=photos")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "imagenet-val-few: it has no variant for tensorflow/resnet50. Use torch, mxnet" in line


def test_a_wrong_option_of_a_data_set_is_one_line_before_anything_is_made(checkout: Checkout) -> None:
    path = checkout.root / "config" / "datasets.yaml"
    path.write_text(path.read_text().replace("segment: 64", "segment: 3.5"))
    factors = {"phase": ["infer"], "workload": ["transformer_xl_small"], "dataset": ["wikitext-2"], "batch_size": [1]}
    checkout.write_study("texts", factors=[{**factors, "runtime": ["torch"]}], repetitions=1)
    answer = checkout.snakemake("--dry-run", "--quiet", "host", "--", "all", config="study=texts")
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert "data set wikitext-2: segment: 3.5 is not possible. Use a whole number, 1 to 1000000000" in line
    assert "Traceback" not in answer.text
