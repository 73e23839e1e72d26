"""Paths become runs."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml
from framewatt.frames.frames import PLACES, epochs_columns, runs_columns
from framewatt.imports.file_study import load_file_study
from framewatt.imports.importing import import_run
from framewatt.package.write import source_files
from framewatt.papers.schemas import study_schema
from framewatt.statistics.cells import cells_columns
from framewatt.study.factors import RESERVED
from framewatt.study.study import FileStudy
from framewatt.tasks import METRICS

SCHEMA = study_schema(load_yaml(Path(__file__).parents[2] / "config" / "schemas" / "study.schema.yaml"))
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
    return [(run.cell.id, run.repetition) for run in study.available]


def test_fields_become_factors_and_repetitions(load) -> None:
    study = load("big/gpu-1.csv", "big/gpu-2.csv", "small/gpu-1.csv", "small/notes.txt")
    assert ids(study) == [("big", 1), ("big", 2), ("small", 1)]
    assert study.cells[0].to_dict() == {"model": "big"}
    assert [file.path for file in study.available[0].files] == ["big/gpu-1.csv"]


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
    assert [run.missing for run in study.available] == [(), ("m/gpu-2.csv",), ()]


def test_as_many_repetitions_are_expected_as_the_study_says(load) -> None:
    study = load("m/gpu-1.csv", repetitions=3)
    assert [run.missing for run in study.available] == [(), ("m/gpu-2.csv",), ("m/gpu-3.csv",)]


def test_a_run_has_a_file_of_every_kind(load) -> None:
    study = load("m/gpu-1.csv", "m/cpu-1.txt", "m/gpu-2.csv", logs=[GPU, CPU])
    assert [file.path for file in study.available[0].files] == ["m/gpu-1.csv", "m/cpu-1.txt"]
    assert study.available[1].missing == ("m/cpu-2.txt",)


def test_a_kind_of_file_belongs_to_runs_that_share_its_constants(load) -> None:
    train = {"pattern": "train/{model}-{run}.csv", "reader": "nvidia-smi", "constants": {"phase": "train"}}
    infer = {"pattern": "infer/{model}-{run}.csv", "reader": "nvidia-smi", "constants": {"phase": "infer"}}
    study = load("train/m-1.csv", "infer/m-1.csv", logs=[train, infer])
    assert [(run.cell.id, run.missing) for run in study.available] == [("infer-m", ()), ("train-m", ())]
    assert len(load(logs=[train, infer | {"pattern": "none/{model}-{run}.csv", "may_be_absent": True}]).available) == 1


def missing(study: FileStudy) -> list[str]:
    return [path for run in study.available for path in run.missing]


def test_kinds_of_one_reader_may_divide_the_cells_by_a_fields_expression(load) -> None:
    old = {"pattern": "{model,resnet50|vgg16}-{run}.csv", "reader": "nvidia-smi", "columns": {"power.draw": "Power"}}
    new = {"pattern": "{model,vit|bert}-{run}.csv", "reader": "nvidia-smi"}
    study = load("resnet50-1.csv", "vgg16-1.csv", "vgg16-3.csv", "vit-1.csv", "bert-1.csv", logs=[old, new])
    assert missing(study) == ["vgg16-2.csv"]
    assert {run.cell.id: [file.log for file in run.files] for run in study.available if run.repetition == 1} == {
        "bert": [1],
        "resnet50": [0],
        "vgg16": [0],
        "vit": [1],
    }


def test_kinds_may_divide_the_repetitions(load) -> None:
    before = {"pattern": "{model}-{run,0[1-2]}.csv", "reader": "nvidia-smi", "columns": {"power.draw": "Power"}}
    after = {"pattern": "{model}-{run,0[3-5]}.csv", "reader": "nvidia-smi"}
    study = load("m-01.csv", "m-02.csv", "m-03.csv", "m-05.csv", logs=[before, after])
    assert missing(study) == ["m-04.csv"]


def test_two_kinds_that_read_one_file_alike_would_count_it_twice(load) -> None:
    first = {"pattern": "{model,resnet50}-{run}.csv", "reader": "nvidia-smi"}
    with pytest.raises(FramewattError, match=r"logs\.1\.pattern matches resnet50-1\.csv, and so does files\.logs\.0;"):
        load("resnet50-1.csv", "vit-1.csv", logs=[first, first | {"pattern": "{model}-{run}.csv"}])
    domains = [first | {"reader": "watts", "domain": domain} for domain in ("cpu:package", "cpu:dram")]
    assert missing(load("resnet50-1.csv", logs=domains)) == []


def test_a_level_may_have_another_text_in_each_kind_of_path(load) -> None:
    long = {"pattern": "gpu/{model,resnet50|vgg16}-{run}.csv", "reader": "nvidia-smi"}
    short = {"pattern": "cpu/{model,rn50|vgg}-{run}.txt", "reader": "perf"}
    levels = {"model": {"rn50": "ResNet", "resnet50": "ResNet", "vgg": "VGG", "vgg16": "VGG"}}
    study = load("gpu/resnet50-1.csv", "cpu/rn50-1.txt", "gpu/vgg16-1.csv", logs=[long, short], levels=levels)
    assert missing(study) == ["cpu/vgg-1.txt"]


def test_a_missing_path_is_written_as_those_that_are_there(load) -> None:
    assert missing(load("m/gpu-0.csv", "m/gpu-2.csv")) == ["m/gpu-1.csv"]
    log = {"pattern": "n/{model}-{run}.log", "reader": "perf"}
    assert missing(load("n/a-08.log", "n/a-10.log", logs=[log]))[-1] == "n/a-09.log"


def test_kinds_that_write_a_repetition_otherwise_are_of_one_run(load) -> None:
    study = load("m/gpu-1.csv", "m/gpu-2.csv", "m/cpu-01.txt", "m/cpu-02.txt", logs=[GPU, CPU])
    assert [(run.repetition, len(run.files), run.missing) for run in study.available] == [(1, 2, ()), (2, 2, ())]
    with pytest.raises(FramewattError, match=r"matches m/gpu-02\.csv and m/gpu-2\.csv for the same run"):
        load("m/gpu-02.csv")


def test_cells_that_count_from_zero_agree_on_what_is_the_first(load) -> None:
    study = load("m/gpu-0.csv", "m/gpu-1.csv", "n/gpu-1.csv")
    assert [(run.cell.id, run.repetition, run.missing) for run in study.available] == [
        ("m", 1, ()),
        ("m", 2, ()),
        ("n", 1, ("n/gpu-0.csv",)),
        ("n", 2, ()),
    ]


def test_dates_are_in_order_and_no_twenty_million_runs_are_missing_before_them(load) -> None:
    study = load("m/gpu-20230508.csv", "m/gpu-20230101.csv", repetitions=3)
    assert [(run.repetition, [file.path for file in run.files]) for run in study.available] == [
        (1, ["m/gpu-20230101.csv"]),
        (2, ["m/gpu-20230508.csv"]),
        (3, []),
    ]
    assert missing(study) == ["m/gpu-*.csv"]


def test_a_constant_is_the_level_that_a_path_of_another_kind_has(load) -> None:
    eight = {"pattern": "eight/{model}-{run}.csv", "reader": "nvidia-smi", "constants": {"batch_size": 8}}
    others = {"pattern": "b{batch_size}/{model}-{run}.txt", "reader": "perf"}
    study = load("eight/m-1.csv", "b8/m-1.txt", logs=[eight, others])
    assert [(run.cell.id, len(run.files), run.missing) for run in study.available] == [("b8-m", 2, ())]


def test_an_expression_may_refer_to_another_field(load) -> None:
    log = {"pattern": "{model}/{model_again,(?P=model)}-{run}.csv", "reader": "nvidia-smi"}
    assert missing(load("m/m-1.csv", "m/n-1.csv", "m/m-3.csv", logs=[log])) == ["m/m-2.csv"]


def test_a_file_that_is_there_is_not_said_to_be_missing(load, tmp_path: Path) -> None:
    kinds = [GPU, {"pattern": "{model}/cpu-{run}.txt", "reader": "perf"}]
    study = load("m/gpu-1.csv", "m/cpu-2.txt", logs=kinds)
    (tmp_path / "m" / "cpu-1.txt").write_text("")
    record = import_run(study, study.available[0], {}).record
    assert record["reasons"] == ["m/cpu-1.txt: there, but its pattern takes it for another run's"]


@pytest.mark.parametrize(
    ("paths", "files", "told"),
    [
        ([], {}, "files.logs.0.pattern: '{model}/gpu-{run}.csv' matches no file below"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "{run}/gpu-{run}.csv"}]}, "the field {run} is twice in"),
        (
            ["m/gpu-1.csv"],
            {"logs": [GPU | {"pattern": "../{model}/gpu-{run}.csv"}]},
            "is not a pattern. Use",
        ),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "{model}/{run,[}.csv"}]}, "is not a regular expression"),
        (["m/gpu-1.csv"], {"repetition": "number"}, "has no field {number}"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"constants": {"model": "x"}}]}, "model is also a field of the pattern"),
        (["m/gpu-1.csv"], {"logs": [GPU | {"pattern": "m/gpu-{run}.csv"}]}, "has only the field of the repetition"),
        (
            ["m/gpu-1.csv"],
            {"logs": [GPU, CPU | {"constants": {"phase": "a"}}]},
            "files.logs.1 has the factors model, phase",
        ),
        (
            ["m/gpu-1.csv"],
            {"logs": [GPU | {"pattern": "{mean}/gpu-{run}.csv"}]},
            "the factor mean has the name of a result",
        ),
        (
            ["m/gpu-1.csv", "n/gpu-1.csv"],
            {"levels": {"model": {"m": "same", "n": "same"}}},
            "matches m/gpu-1.csv and n/gpu-1.csv for the same run",
        ),
        (["m/gpu-1.csv", "M/gpu-1.csv"], {}, "two cells have the same name m."),
        (["m/gpu-1.csv"], {"root": "nowhere"}, "files.root: '"),
        (["m/gpu-1.csv"], {"root_config": "published_itu2023"}, "--config published_itu2023=<folder>"),
    ],
)
def test_what_is_wrong_is_one_line(load, paths: list[str], files: dict, told: str) -> None:
    with pytest.raises(FramewattError) as error:
        load(*paths, **files)
    assert told in str(error.value)
    assert "trial.yaml: " in str(error.value)


def test_what_is_compared_is_a_factor(load) -> None:
    with pytest.raises(FramewattError, match=r"compare: 'runtime' is not a factor of the study\. Use one of model"):
        load("m/gpu-1.csv", compare="runtime")


def test_independent_runs_are_the_default(load) -> None:
    assert load("m/gpu-1.csv").settings["statistics"]["test"] == "welch"


def test_a_study_of_files_says_nothing_about_measuring(tmp_path: Path, load) -> None:
    content = load_yaml(load("m/gpu-1.csv").path) | {"instruments": {}}
    with pytest.raises(FramewattError, match="instruments is not a known key"):
        load_file_study(tmp_path / "x.yaml", content, SCHEMA, {}, tmp_path)


def test_no_factor_has_the_name_of_a_result() -> None:
    # Logs may tell of machines and sessions, and studies have had such factors: the factor is then the column.
    assert {*runs_columns([]), *epochs_columns([]), *cells_columns([])} - {*PLACES} <= RESERVED | METRICS.keys()
    assert RESERVED.isdisjoint(PLACES)


def test_logs_go_into_the_package_only_where_the_study_says_that_they_may(load, tmp_path: Path) -> None:
    assert source_files(load("m/gpu-1.csv")) == {}
    path = tmp_path / "m" / "gpu-1.csv"
    assert source_files(load(archive="files")) == {"logs/trial/m/gpu-1.csv": path}


def test_a_study_without_its_files_can_go_on_from_its_results_and_reads_nothing(load, tmp_path: Path) -> None:
    (tmp_path / "results" / "trial" / "plan").mkdir(parents=True)
    (tmp_path / "results" / "trial" / "plan" / "plan.json").write_text("{}")
    study = load(root="nowhere")
    assert study.source_files() == []
    with pytest.raises(FramewattError, match=r"files\.root: no folder of logs is named"):
        study.runs()
