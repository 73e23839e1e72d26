"""Files that nothing of framewatt writes, in a package whose crate and manifests name them."""

import pytest
from forger import Forger
from package_factory import study_of

from framewatt.package.verify import problems_of

STRANGE = (
    "proof.txt",
    "notes/read-me-first.md",
    "docs/method.md",
    "envs/tensorflow/cpu/requirements.txt",
    "resources/environments/locked/tensorflow/cpu/environment.json",
    "resources/data/imagenet.json",
    "own-models/mine.json",
    "logs/trial/run.csv",
    "results/other/aggregate/runs.csv",
    "results/trial/audit.json",
    "results/trial/calibrate/idle_best.json",
    "results/trial/train/mobilenetv2-digits-torch/train.json",
    "results/trial/train/resnet50-digits-torch/history.json",
    "results/trial/export/resnet50-digits-torch/check/check.json",
    "results/trial/aggregate/better.parquet",
    "results/trial/report/better.html",
    "results/trial/statistics/deep/er/cells.csv",
)
USUAL = ("results/trial/tables/accuracy.csv", "results/trial/figures/energy_time.svg", "changes.diff")


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_that_nothing_writes_is_noticed(forger: Forger, name: str) -> None:
    write(forger, name)
    assert f"{name}: no file of a package of this study" in list(problems_of(forger.folder))


def test_files_of_a_study_are_believed(forger: Forger) -> None:
    for name in USUAL:
        write(forger, name)
    assert list(problems_of(forger.folder)) == []


def write(forger: Forger, name: str) -> None:
    path = forger.data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    forger.follow(study_of(forger.study).settings)
    forger.mend()
