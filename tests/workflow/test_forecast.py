"""What a study says before it starts."""

import logging
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT, environment_record
from records_factory import run_record, window
from study_factory import loaded

from framewatt.base.files import write_json
from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import Catalogue
from framewatt.workflow.forecast import Places, forecast
from framewatt.workflow.terminal import TidyLog

SIZES = ROOT / "envs/sizes.yaml"
CATALOGUE = Catalogue(
    {"cifar": {"title": "CIFAR-10", "files": [{"size_b": 170_498_071}]}},
    {"digits": {"module": "digits"}, "cifar10": {"module": "cifar", "sources": {"archive": "cifar"}}},
    {},
)
CROSS = {"phase": ["infer"], "workload": ["resnet50"], "runtime": ["torch", "mxnet"], "batch_size": [8]}


def said(tmp_path: Path, due: dict[str, int], dataset: str = "digits", **keys: Any) -> str:
    content = {"study": "trial", "title": "A trial", "repetitions": 3, **keys}
    study = loaded(tmp_path, {**content, "factors": [{**CROSS, "dataset": [dataset]}]})
    places = Places(tmp_path / "measure", tmp_path / "environments", tmp_path / "sources", SIZES)
    return forecast(study, CATALOGUE, places, due)


def test_cells_runs_and_what_the_study_file_fixes_of_their_time(tmp_path: Path) -> None:
    words = said(tmp_path, {"measure": 6}, window={"minimum_s": 30}, cool_down={"rest_s": 60})
    assert words == (
        "study trial: 2 cells, 6 runs; a block of all cells takes 3 min for windows and rests alone, with set-up and "
        "training on top"
    )


def test_requests_that_come_seldom_take_their_time(tmp_path: Path) -> None:
    content = {"study": "trial", "title": "A trial", "repetitions": 1, "window": {"minimum_s": 1}}
    cross = {**CROSS, "runtime": ["torch"], "dataset": ["digits"], "load": ["1/min"]}
    study = loaded(tmp_path, {**content, "cool_down": {"rest_s": 0}, "factors": [cross]})
    places = Places(tmp_path / "measure", tmp_path / "environments", tmp_path / "sources", SIZES)
    assert "a block of all cells takes 20 min for windows" in forecast(study, CATALOGUE, places, {"measure": 1})


def test_earlier_runs_tell_how_long_a_block_takes(tmp_path: Path) -> None:
    for name in ("infer-resnet50-digits-torch-b8", "infer-resnet50-digits-mxnet-b8"):
        record = run_record(cool_down_s=5)
        record["windows"]["process"] = window({}, start_ns=record["clock"]["monotonic_ns"])
        folder = tmp_path / "measure" / name / "1"
        folder.mkdir(parents=True)
        write_json(folder / "run.json", record)
    assert "a block of all cells takes about 30 s, as earlier runs did" in said(tmp_path, {"measure": 6})
    (folder / "run.json").write_text("{")
    assert "windows and rests alone" in said(tmp_path, {"measure": 6})


def test_a_stopping_rule_is_told_as_a_limit(tmp_path: Path) -> None:
    rule = {"at_least": 3, "at_most": 9, "until": {"best": "energy"}, "minutes": 5}
    assert "2 cells, at most 18 runs, for 5 minutes at most; " in said(tmp_path, {"measure": 6}, repetitions=rule)


def test_what_is_built_and_downloaded_is_told_with_its_size(tmp_path: Path) -> None:
    due = {"measure": 6, "environment": 2, "source": 1}
    words = said(tmp_path, due, dataset="cifar10")
    assert "builds the environments mxnet/cpu (0.5 GB on disk), torch (5.9 GB on disk)" in words
    assert words.endswith("downloads CIFAR-10 (170 MB)")
    (tmp_path / "environments/torch").mkdir(parents=True)
    (tmp_path / "sources/cifar").mkdir(parents=True)
    words = said(tmp_path, due, dataset="cifar10")
    assert words.endswith("builds the environment mxnet/cpu (0.5 GB on disk); builds 1 environment again")


def test_the_sizes_are_those_of_environments(tmp_path: Path) -> None:
    sizes_mb = load_yaml(SIZES)
    environment_record("onnxruntime/cpu")
    built = [name for name in sizes_mb if (ROOT / "resources/environments/locked" / name).is_dir()]
    assert "onnxruntime/cpu" in built
    for name in built:
        folder = ROOT / "resources/environments/locked" / name
        found_mb = sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / 1e6
        assert sizes_mb[name] == pytest.approx(found_mb, rel=0.25), name


def test_it_is_said_once_before_the_table_of_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    tidy = TidyLog(lambda jobs: f"{jobs['measure']} runs")
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, "Job stats: ...", (), None)
    record.stats = {"measure": 3}
    assert tidy.filter(record)
    assert tidy.filter(record)
    assert capsys.readouterr().err == "3 runs\n"
