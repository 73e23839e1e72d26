"""What the kernel keeps in memory of files: told, and forgotten where it may be."""

import mmap
import os
from pathlib import Path

import numpy as np
import pytest

from framewatt.host.memory import files_below, forget, in_memory_b

SIZE_B = 4 << 20


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file of 4 MiB that was just written, so that all of it is in memory."""
    path = tmp_path / "data.bin"
    path.write_bytes(os.urandom(SIZE_B))
    return path


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    """Stands in for the kernel's switch for all files, which this test leaves alone."""
    return tmp_path / "drop_caches"


def test_a_file_is_in_memory_until_it_is_forgotten(large: Path, switch: Path) -> None:
    assert in_memory_b([large]) == (SIZE_B, SIZE_B)
    assert forget([large], switch)
    assert in_memory_b([large]) == (0, SIZE_B)
    assert switch.read_text() == "3\n"
    large.read_bytes()
    assert in_memory_b([large]) == (SIZE_B, SIZE_B)


def test_asking_does_not_read_the_file(large: Path, switch: Path) -> None:
    forget([large], switch)
    assert [in_memory_b([large]) for _ in range(3)] == [(0, SIZE_B)] * 3


def test_what_a_process_has_mapped_stays(large: Path, switch: Path) -> None:
    with large.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert int(np.frombuffer(mapped[:], np.uint8).sum(dtype=np.int64)) > 0
        forget([large], switch)
        assert in_memory_b([large])[0] > SIZE_B / 2


def test_who_may_not_turn_the_switch_forgets_the_files_alone(large: Path, tmp_path: Path) -> None:
    assert not forget([large], tmp_path / "no such folder" / "drop_caches")
    assert in_memory_b([large])[0] == 0


def test_files_that_are_empty_or_gone_are_nothing(tmp_path: Path, switch: Path) -> None:
    (tmp_path / "empty").touch()
    nothing = [tmp_path / "empty", tmp_path / "gone"]
    assert forget(nothing, switch)
    assert in_memory_b(nothing) == (0, 0)


def test_a_page_that_holds_one_byte_is_counted_whole(tmp_path: Path) -> None:
    (tmp_path / "byte").write_bytes(b"x")
    assert in_memory_b([tmp_path / "byte"]) == (mmap.PAGESIZE, mmap.PAGESIZE)


def test_files_are_those_of_folders_and_named_ones(tmp_path: Path) -> None:
    (tmp_path / "folder" / "below").mkdir(parents=True)
    named, inside = tmp_path / "named", tmp_path / "folder" / "below" / "inside"
    for path in (named, inside):
        path.touch()
    assert sorted(files_below([named, tmp_path / "folder", tmp_path / "gone"])) == sorted([named, inside])
