"""What images are built from, and what is said where they cannot be."""

import os
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.environments.images import apptainer, base_arguments, build_image, debian_mirror, image_sha256

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "envs").rglob("requirements.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=[lock.parent.relative_to(ROOT / "envs").as_posix() for lock in LOCKS])
def test_every_lock_has_its_container_definition(lock: Path) -> None:
    definition = (lock.parent / "container.def").read_text()
    assert f"framewatt.lock-sha256 {sha256_of(lock)}\n" in definition
    assert "--require-hashes" in definition
    # Else pip would build packages without a wheel by what is installed, and look for the rest on an index.
    assert "--use-pep517" in definition
    assert "From: {{ from }}" in definition


@pytest.mark.parametrize(
    ("base", "arguments"),
    [
        ("python:3.11-slim-bookworm", ["bootstrap=docker", "from=python:3.11-slim-bookworm"]),
        ("debootstrap", ["bootstrap=localimage", "from=/images/base.sif"]),
        ("/mine/base.sif", ["bootstrap=localimage", "from=/mine/base.sif"]),
    ],
)
def test_the_base_is_a_build_argument(base: str, arguments: list[str]) -> None:
    assert base_arguments(base, Path("/images/base.sif")) == arguments


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("sources.list", "deb http://mirror.test/debian bookworm main\n"),
        ("sources.list", "# a comment\ndeb [signed-by=/k] http://mirror.test/debian bookworm main\n"),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\n"),
    ],
)
def test_the_mirror_is_this_machines_own(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / file).write_text(text)
    assert debian_mirror(tmp_path) == "http://mirror.test/debian"


def test_a_machine_without_a_mirror_says_so(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"container_base: .* names no Debian mirror"):
        debian_mirror(tmp_path)


def test_without_apptainer_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FramewattError, match=r"apptainer is not on PATH\. Install .* apt install apptainer"):
        apptainer()


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An image as `build_image` leaves it, by a program that copies the definition in Apptainer's place."""
    program = tmp_path / "bin" / "apptainer"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\ncp "$2" "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    definition, image = tmp_path / "container.def", tmp_path / "torch.sif"
    definition.write_text("all that is in the image")
    build_image(definition, image, [], [], tmp_path / "log")
    return image


def test_an_image_is_hashed_when_it_is_built(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = sha256_of(built)
    monkeypatch.setattr("framewatt.environments.images.sha256_of", lambda path: pytest.fail(f"{path} was read again"))
    assert image_sha256(built) == expected


def test_an_image_that_was_swapped_is_hashed_anew(built: Path) -> None:
    times = built.stat()
    other = built.with_name("other.sif")
    other.write_text("something else of its size"[: times.st_size].ljust(times.st_size))
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(built)
    assert image_sha256(built) == sha256_of(built)
