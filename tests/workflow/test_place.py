"""Folders that a tool below framewatt would misread are refused in one line, others are not."""

import shlex
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.workflow.folder import check_folders, container_mounts

FINE = 'it has blanks, "quotes", $(touch x), `touch y`; & é'.replace(",", "")


@pytest.mark.parametrize("containers", [False, True])
@pytest.mark.parametrize("name", ["a:b", "{study}", "a\nb", "a\x1bb"])
def test_what_no_tool_takes_is_refused(name: str, containers: bool) -> None:
    with pytest.raises(FramewattError, match=r"the name of the folder .* has .* in it\. Move it to a folder without :"):
        check_folders(Path("/", name), containers)


@pytest.mark.parametrize("name", ["it's", "a\\b", "a,b"])
def test_containers_take_less(name: str) -> None:
    check_folders(Path("/", name), containers=False)
    with pytest.raises(FramewattError, match=r"containers: the name of the folder .* has .* in it"):
        check_folders(Path("/", name), containers=True)


def test_blanks_quotes_and_dollars_are_taken() -> None:
    check_folders(Path("/", FINE), containers=False)
    check_folders(Path("/", FINE), containers=True)


def test_a_folder_that_a_container_sees_is_one_word(tmp_path: Path) -> None:
    folder = tmp_path / FINE
    assert shlex.split(container_mounts([folder, "", str(tmp_path)])) == [
        "--bind",
        str(folder),
        "--bind",
        str(tmp_path),
    ]


@pytest.mark.parametrize("name", ["mine:/etc", "mine,/etc"])
def test_a_folder_that_apptainer_would_divide_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FramewattError, match=r"containers: the name of the folder .*/mine[:,]/etc' has '[:,]' in it"):
        container_mounts([tmp_path / name])
