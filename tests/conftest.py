"""What every test shares: helpers' assertions show their values, long files start first, a part of the thorough tests."""

import os
import sys
from pathlib import Path

import pytest

LONG = ("workflow", "conformance", "faults")
"""Folders of files that take minutes each."""

# Else every process that a test starts would compile the whole library anew: a sixth of what a small study takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest.register_assert_rewrite("package_tools", "checkout")


@pytest.fixture
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process may use processors 0 and 1, whatever the machine has."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files begin first, so that no processor waits at the end for one that another has just begun."""
    items.sort(key=lambda item: item.path.relative_to(Path(__file__).parent).parts[0] not in LONG)
