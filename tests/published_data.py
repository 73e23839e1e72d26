"""The authors' raw data, where this checkout has it beside it."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"


def raw_data(name: str, holds: str) -> Path:
    """A folder of raw data, or the test is skipped.

    Args:
        name: folder in ../shared/data.
        holds: what must be in it.
    """
    folder = DATA / name
    if not (folder / holds).is_dir():
        pytest.skip(f"put the raw data there: {DATA / name} must hold {holds}")
    return folder
