"""What builds packages without a wheel is held to hashes, like the packages themselves."""

import re
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.environments.framework import build_locked
from framewatt.environments.images import fetch_packages
from framewatt.environments.uv import BUILD_LOCK

ROOT = Path(__file__).parents[2]


def lock_of(package: str, folder: Path) -> Path:
    """A lock that holds nothing but a package of the orchestrator's."""
    text = (ROOT / "envs/orchestrator/requirements.txt").read_text()
    lock = folder / "requirements.txt"
    lock.write_text(re.search(rf"^{package}==(.*\\\n)*.*\n", text, re.MULTILINE)[0])
    return lock


@pytest.fixture
def forged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's environments, in which the tools have other hashes than those on the index."""
    text = (ROOT / BUILD_LOCK).read_text()
    (tmp_path / BUILD_LOCK).parent.mkdir(parents=True)
    (tmp_path / BUILD_LOCK).write_text(re.sub(r"sha256:.{8}", "sha256:01234567", text))
    monkeypatch.chdir(tmp_path)
    # A wheel that was built before would be taken from uv's cache.
    monkeypatch.setenv("UV_NO_CACHE", "1")
    return tmp_path


def test_every_tool_is_pinned_with_hashes() -> None:
    text = (ROOT / BUILD_LOCK).read_text()
    names = re.findall(r"^([a-z-]+)==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert len(names) == text.count("==")
    assert {"pip", "setuptools", "setuptools-scm", "wheel", "cython"} <= set(names)
    assert "://" not in text


def test_an_environment_is_not_built_by_another_tool(forged: Path) -> None:
    lock = lock_of("connection-pool", forged)
    record = build_locked("some", lock, forged / "made", forged / "log")
    assert record["status"] == "failed"
    assert "Hash mismatch for `setuptools==" in (forged / "log").read_text()


def test_an_image_gets_no_other_tool(forged: Path) -> None:
    packages = forged / "packages"
    packages.mkdir()
    with pytest.raises(FramewattError, match=r"containers: packages of .*: ended with exit code"):
        fetch_packages(lock_of("connection-pool", forged), packages, forged / "log")
    assert list(packages.iterdir()) == []


def test_an_image_gets_the_packages_and_their_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    packages = tmp_path / "packages"
    packages.mkdir()
    fetch_packages(lock_of("connection-pool", tmp_path), packages, tmp_path / "log")
    names = {re.split(r"[-_]\d", path.name)[0].lower().replace("_", "-") for path in packages.iterdir()}
    assert names >= {"connection-pool", "cython", "packaging", "pip", "setuptools", "setuptools-scm", "wheel"}


def test_a_definition_builds_with_these_tools_only() -> None:
    for definition in (ROOT / "envs").rglob("container.def"):
        if definition.parent.name == "base":
            continue
        text = definition.read_text()
        file = re.search(r"^    (\S+) /opt/framewatt/build-requirements.txt$", text, re.MULTILINE)[1]
        assert (definition.parent / file).resolve() == ROOT / BUILD_LOCK
        installed = [
            line for line in text.replace("\\\n", " ").splitlines() if "pip install" in line or "$install" in line
        ]
        assert len(installed) == 3
        assert "--no-build-isolation" in installed[2]
