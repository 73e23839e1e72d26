"""A good package, and somebody who changes it."""

import shutil
from pathlib import Path

import pytest
from forger import Forger
from package_factory import make_package

from framewatt.package.unpack import unpack


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good package, unpacked."""
    root = tmp_path_factory.mktemp("good")
    return unpack(make_package(root / "made"), root / "out")


@pytest.fixture
def forger(good: Path, tmp_path: Path) -> Forger:
    """Somebody with a copy of it."""
    return Forger(shutil.copytree(good, tmp_path / good.name))
