"""Good packages are believed, and told how far."""

from pathlib import Path

import pytest
from forged_edits import last_words
from package_factory import make_package

from framewatt.meters import trace_file
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of


def test_a_good_package_is_believed_and_told_how_far(good: Path) -> None:
    assert list(problems_of(good)) == []
    said = last_words(good)
    assert "6 runs of 3 cells" in said
    assert "accuracy of 6 runs follows from which test samples each answered right" in said
    assert "predictions are not stored" not in said
    assert "make sign" in said


def test_a_good_package_of_long_traces_is_believed_a_channel_at_a_time(good: Path, monkeypatch) -> None:
    monkeypatch.setattr(trace_file, "_FEW_ROWS", 0)
    monkeypatch.setattr(trace_file, "_CACHE_B", 1)
    monkeypatch.setattr(trace_file, "_load_trace", None)
    assert list(problems_of(good)) == []


@pytest.mark.parametrize("how", [{"old_form": True}, {"estimated": True}])
def test_other_good_packages_are_believed(tmp_path: Path, how: dict) -> None:
    assert list(problems_of(unpack(make_package(tmp_path / "made", **how), tmp_path / "out"))) == []
