"""What every test shares: helpers' assertions tell the values that they found."""

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files begin first, so that no processor waits at the end for one that another has just begun."""
    items.sort(key=lambda item: item.path.relative_to(Path(__file__).parent).parts[0] not in LONG)
