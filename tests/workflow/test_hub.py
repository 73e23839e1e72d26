"""Where no hub of images is reached, one line says so before anything is built, and names the base that needs none."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT, Answer, Checkout, run_snakemake

from framewatt.base.errors import FramewattError
from framewatt.workflow.session import check_hub


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address on loopback at which nobody listens, since somebody holds it who does not either."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """A checkout on a machine whose Apptainer can nothing but be there."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "apptainer").write_text("#!/bin/sh\necho apptainer version 1.4.0\n")
    (programs / "apptainer").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "checkout").mkdir()
    return Checkout(tmp_path / "checkout")


def in_containers(checkout: Checkout, hub: str, *words: str) -> Answer:
    """Run the smoke study in containers on a base of that hub."""
    config = f"study=smoke container_base={hub}/python:3.11"
    return run_snakemake(checkout.root, "--use-singularity", *words, "all", config=config)


def test_a_hub_that_is_not_reached_is_one_line(checkout: Checkout, nobody: str) -> None:
    told = in_containers(checkout, nobody)
    assert told.code != 0
    (line,) = told.lines("framewatt: ")
    assert f"container_base: the hub {nobody} of {nobody}/python:3.11 does not answer" in line
    assert "Use --config container_base=debootstrap" in line
    assert told.text.splitlines()[-1] == line
    assert not (checkout.root / "resources/images").exists()


def test_a_dry_run_asks_nobody(checkout: Checkout, nobody: str) -> None:
    told = in_containers(checkout, nobody, "--dry-run")
    assert told.code == 0, told.text


@pytest.mark.parametrize("base", ["debootstrap", "/mine/base.sif"])
def test_bases_of_this_machine_need_none(base: str) -> None:
    check_hub(base, [])


def test_a_machine_with_mirrors_is_not_asked(tmp_path: Path, nobody: str) -> None:
    settings = tmp_path / "registries.conf"
    settings.write_text('[[registry]]\nlocation = "docker.io"\n[[registry.mirror]]\nlocation = "mirror.test"\n')
    check_hub(f"{nobody}/python", [settings])
    settings.write_text("# [[registry]]\nunqualified-search-registries = []\n")
    with pytest.raises(FramewattError, match="does not answer"):
        check_hub(f"{nobody}/python", [settings])


def test_one_handler_says_what_comes_before_the_first_job() -> None:
    """Of several, Snakemake would take the last one, and say nothing."""
    texts = [path.read_text() for path in (ROOT / "rules").glob("*.smk")]
    assert sum(text.count("\nonstart:") for text in texts) == 1
