"""Small real samples of data sets in their original formats, beside the checkout."""

from pathlib import Path

import pytest
from checkout import ROOT

SAMPLES = ROOT.parent / "shared" / "data"


def sample(name: str) -> Path:
    """The folder of a sample; a test that needs one that is not there is skipped."""
    if not (SAMPLES / name).is_dir():
        pytest.skip(f"no sample: put {name}/ (see its README) into shared/data/ beside the checkout")
    return SAMPLES / name
