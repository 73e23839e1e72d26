"""A good package, somebody who changes it, and a server to deposit one on."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from drafts import stub
from forger import Forger
from package_factory import make_package
from zenodo import Zenodo, serving

from framewatt.package.deposit import Package
from framewatt.package.unpack import unpack


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good package, unpacked. Tests only read it: who changes a package takes a copy, as `forger` has."""
    root = tmp_path_factory.mktemp("good")
    return unpack(make_package(root / "made"), root / "out")


@pytest.fixture
def forger(good: Path, tmp_path: Path) -> Forger:
    """Somebody with a copy of it."""
    return Forger(shutil.copytree(good, tmp_path / good.name))


@pytest.fixture
def zenodo() -> Iterator[Zenodo]:
    """A server like Zenodo's, on this machine."""
    with serving() as server:
        yield server


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """One that need not be verified again for each test."""
    return stub(tmp_path / "framewatt-trial-0.1.0.zip", b"a package")
