"""What a user calls with braces, which are Snakemake's, is refused where it is named."""

from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.base.paths import usable
from framewatt.datasets.sources import folder_of
from framewatt.imports.pattern import parse_pattern
from framewatt.study.own_models import OwnModel
from framewatt.workflow.setup import study_path

SAID = r"\{study\}.*: '\{' in the name would be a wildcard of Snakemake"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder called as a wildcard."""
    made = tmp_path / "{study}"
    made.mkdir()
    return made


def test_a_study_file(folder: Path) -> None:
    with pytest.raises(FramewattError, match=SAID):
        study_path(f"{folder}/mine.yaml")


def test_the_files_of_an_own_model(folder: Path) -> None:
    (folder / "nets.py").touch()
    (folder / "net.onnx").touch()
    keys = {"onnx": "{study}/net.onnx", "folder": "{study}", "reads": [], "arrays": "{study}/nets.py"}
    model = OwnModel("net", keys, "mine", folder.parent / "mine.yaml", 0)
    for find in (model.onnx_file, model.code_files, model.arrays_files):
        with pytest.raises(FramewattError, match=SAID):
            find()


def test_a_folder_of_a_data_set(folder: Path) -> None:
    with pytest.raises(FramewattError, match=SAID):
        folder_of("svhn", {"data_svhn": str(folder)})


def test_a_log(folder: Path) -> None:
    (folder / "1.csv").touch()
    with pytest.raises(FramewattError, match=SAID):
        list(parse_pattern("{model}/{run}.csv", "study.yaml").matches(folder.parent))


def test_everything_else_is_taken() -> None:
    path = Path("m $(touch x) `y` 'z' [a]* %41 é")
    assert usable(path) is path
