"""Paths become runs."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from framewatt.errors import FramewattError
from framewatt.factors import RESERVED
from framewatt.file_study import FileStudy, load_file_study
from framewatt.frames import epochs_columns, runs_columns
from framewatt.package.contents import source_files
from framewatt.statistics import cells_columns
from framewatt.validation import load_yaml

SCHEMA = load_yaml(Path(__file__).parents[2] / "config" / "schemas" / "study.schema.yaml")
GPU = {"pattern": "{model}/gpu-{run}.csv", "reader": "nvidia-smi"}
CPU = {"pattern": "{model}/cpu-{run}.txt", "reader": "perf"}


@pytest.fixture
def load(tmp_path: Path):
    """Load a study of some files; keys of `files` are replaced by those given."""

    def load_with(*paths: str, compare: str = "model", config: dict | None = None, **files: Any) -> FileStudy:
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("")
        content = {
            "study": "trial",
            "title": "A trial",
            "source": "files",
            "files": {"repetition": "run", "logs": [GPU], **files},
            "statistics": {"compare": [compare]},
        }
        path = tmp_path / "trial.yaml"
        path.write_text(yaml.safe_dump(content))
        return load_file_study(path, load_yaml(path), SCHEMA, config or {}, tmp_path / "results")

    return load_with


def ids(study: FileStudy) -> list[tuple[str, int]]:
    return [(run.cell.id, run.repetition) for run in study.found]


def test_fields_become_factors_and_repetitions(load) -> None:
    study = load("big/gpu-1.csv", "big/gpu-2.csv", "small/gpu-1.csv", "small/notes.txt")
    assert ids(study) == [("big", 1), ("big", 2), ("small", 1)]
    assert study.cells[0].to_dict() == {"model": "big"}
    assert [file.path for file in study.found[0].files] == ["big/gpu-1.csv"]


def test_levels_that_are_numbers_are_numbers(load) -> None:
    log = {"pattern": "b{batch_size}-{model}-{run}.csv", "reader": "nvidia-smi"}
    study = load("b8-m-1.csv", "b64-m-1.csv", logs=[log])
    assert [cell.to_dict() for cell in study.cells] == [
        {"batch_size": 8, "model": "m"},
        {"batch_size": 64, "model": "m"},
    ]
    assert [cell.id for cell in study.cells] == ["b8-m", "b64-m"]


def test_levels_have_the_names_that_the_study_gives_them(load) -> None:
    study = load("rn50/gpu-1.csv", levels={"model": {"rn50": "ResNet-50"}})
    assert study.cells[0].to_dict() == {"model": "ResNet-50"}
    assert study.cells[0].id == "resnet_50"


def test_a_field_may_say_what_it_matches(load) -> None:
    log = {"pattern": "{model}_{framework,PyTorch|TensorFlow}_{run,[0-9]{1,2}}.txt", "reader": "perf"}
    study = load("mask_rcnn_PyTorch_10.txt", "mask_rcnn_Other_1.txt", logs=[log], compare="framework")
    (cell,) = study.cells
    assert cell.to_dict() == {"model": "mask_rcnn", "framework": "PyTorch"}


def test_repetitions_from_zero_or_with_names_count_from_one(load) -> None:
    assert ids(load("m/gpu-0.csv", "m/gpu-1.csv")) == [("m", 1), ("m", 2)]
    assert ids(load("n/gpu-a.csv", "n/gpu-b.csv", logs=[GPU | {"pattern": "n/gpu-{run}.{model}"}])) == [
        ("csv", 1),
        ("csv", 2),
    ]


def test_a_repetition_between_others_is_missing(load) -> None:
    study = load("m/gpu-1.csv", "m/gpu-3.csv")
    assert [run.missing for run in study.found] == [(), ("m/gpu-2.csv",), ()]


def test_as_many_repetitions_are_expected_as_the_study_says(load) -> None:
    study = load("m/gpu-1.csv", repetitions=3)
    assert [run.missing for run in study.found] == [(), ("m/gpu-2.csv",), ("m/gpu-3.csv",)]


def test_a_run_has_a_file_of_every_kind(load) -> None:
    study = load("m/gpu-1.csv", "m/cpu-1.txt", "m/gpu-2.csv", logs=[GPU, CPU])
    assert [file.path for file in study.found[0].files] == ["m/gpu-1.csv", "m/cpu-1.txt"]
    assert study.found[1].missing == ("m/cpu-2.txt",)


def test_a_kind_of_file_belongs_to_runs_that_share_its_constants(load) -> None:
    train = {"pattern": "train/{model}-{run}.csv", "reader": "nvidia-smi", "constants": {"phase": "train"}}
    infer = {"pattern": "infer/{model}-{run}.csv", "reader": "nvidia-smi", "constants": {"phase": "infer"}}
    study = load("train/m-1.csv", "infer/m-1.csv", logs=[train, infer])
    assert [(run.cell.id, run.missing) for run in study.found] == [("infer-m", ()), ("train-m", ())]
    assert len(load(logs=[train, infer | {"pattern": "none/{model}-{run}.csv", "may_be_absent": True}]).found) == 1


@pytest.mark.parametrize(
    ("paths", "files", "told"),
    [
        ([], {}, "files.logs.0.pattern: '{model}/gpu-{run}.csv' matches no file below"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "{run}/gpu-{run}.csv"}]}, "found field {run} twice"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "../{model}/gpu-{run}.csv"}]}, "allowed: a relative path"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "{model}/{run,[}.csv"}]}, "files.logs.0.pattern: found"),
        (["m/gpu-1.csv"], {"repetition": "number"}, "found no field {number}"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"constants": {"model": "x"}}]}, "found model, which is a field too"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "m/gpu-{run}.csv"}]}, "found only the repetition's field"),
        (["m/gpu-1.csv"], {"logs": [GPU, CPU | {"constants": {"phase": "a"}}]}, "found the factors model, phase"),
        (
            ["m/gpu-1.csv"],
            {"logs": [GPU | {"pattern": "{mean}/gpu-{run}.csv"}]},
            "found a factor mean, which is a result",
        ),
        (
            ["m/gpu-1.csv", "n/gpu-1.csv"],
            {"levels": {"model": {"m": "same", "n": "same"}}},
            "found m/gpu-1.csv and n/gpu-1.csv for the same run",
        ),
        (["m/gpu-1.csv", "M/gpu-1.csv"], {}, "found two cells that are both called m"),
        (["m/gpu-1.csv"], {"root": "nowhere"}, "files.root: found '"),
        (["m/gpu-1.csv"], {"root_config": "published_itu2023"}, "given as --config published_itu2023=<folder>"),
    ],
)
def test_what_is_wrong_is_one_line(load, paths: list[str], files: dict, told: str) -> None:
    with pytest.raises(FramewattError) as error:
        load(*paths, **files)
    assert told in str(error.value)
    assert "trial.yaml: " in str(error.value)


def test_what_is_compared_is_a_factor(load) -> None:
    with pytest.raises(FramewattError, match=r"statistics.compare: found 'runtime'; allowed: a factor .*: model"):
        load("m/gpu-1.csv", compare="runtime")


def test_independent_runs_are_the_default(load) -> None:
    assert load("m/gpu-1.csv").settings["statistics"]["test"] == "mannwhitney"


def test_a_study_of_files_says_nothing_about_measuring(tmp_path: Path, load) -> None:
    content = load_yaml(load("m/gpu-1.csv").path) | {"instruments": {}}
    with pytest.raises(FramewattError, match="instruments: found an unknown key"):
        load_file_study(tmp_path / "x.yaml", content, SCHEMA, {}, tmp_path)


def test_no_factor_has_the_name_of_a_result() -> None:
    assert {*runs_columns([]), *epochs_columns([]), *cells_columns([])} <= RESERVED


def test_logs_go_into_the_package_only_where_the_study_says_that_they_may(load, tmp_path: Path) -> None:
    assert source_files(load("m/gpu-1.csv")) == {}
    path = tmp_path / "m" / "gpu-1.csv"
    assert source_files(load(archive="files")) == {"logs/trial/m/gpu-1.csv": path}


def test_a_study_without_its_files_can_go_on_from_its_results_and_reads_nothing(load, tmp_path: Path) -> None:
    (tmp_path / "results" / "trial" / "plan").mkdir(parents=True)
    (tmp_path / "results" / "trial" / "plan" / "plan.json").write_text("{}")
    study = load(root="nowhere")
    assert study.source_files() == []
    with pytest.raises(FramewattError, match=r"files\.root: found nothing; allowed: a folder"):
        study.runs()
