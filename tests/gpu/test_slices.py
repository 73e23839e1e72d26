"""A slice of time ends what runs in it, so that nothing is lost but the job that runs at the very end."""

import json
import math
import time
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.gpu.slices import FIRST_S, PACKING_S, Slice, longest_run_s, seconds_of

STUBBORN = """
import pathlib, signal, sys, time
heard = pathlib.Path("heard")
def hear(number, frame):
    with heard.open("a") as file:
        file.write(signal.Signals(number).name + " ")
    if number == signal.SIGINT or sys.argv[-1] == "obedient":
        sys.exit(1)
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, hear)
pathlib.Path("began").touch()
while True:
    signal.pause()
"""
"""A module in place of Snakemake: it ends after SIGTERM where it is `obedient`, else only when it is interrupted."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with such a module."""
    (tmp_path / "snakemake.py").write_text(STUBBORN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("text", "seconds"), [("8m", 480), ("90s", 90), ("1.5h", 5400), ("10 min", 600)])
def test_a_length_of_time_is_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "8", "0m", "-1m", "soon", "8m30s"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(FramewattError, match=r"SLICE: .* is not a length of time\. Use 8m, 90s or 1h\."):
        seconds_of(text)


def test_a_call_that_ends_in_time_has_its_exit_code(folder: Path) -> None:
    (folder / "snakemake.py").write_text("import sys; sys.exit(7)")
    assert Slice(math.inf).run([], lambda: 0.0) == 7


def test_where_no_run_fits_any_more_none_is_started_and_the_last_one_ends(folder: Path) -> None:
    def longest_s() -> float:
        # Begun, so that its handlers are there; from then on the longest run is longer than what is left.
        return math.inf if (folder / "began").exists() else 0.0

    end = Slice(time.monotonic() + 3600)
    assert end.run(["obedient"], longest_s) is None
    assert (folder / "heard").read_text() == "SIGTERM "


def test_a_run_that_does_not_end_in_time_is_interrupted(folder: Path) -> None:
    def longest_s() -> float:
        return math.inf if (folder / "began").exists() else 0.0

    end = Slice(time.monotonic() + PACKING_S + 15)
    assert end.run(["stubborn"], longest_s) is None
    assert (folder / "heard").read_text() == "SIGTERM SIGINT "


def test_before_any_run_a_long_one_is_expected(tmp_path: Path) -> None:
    assert longest_run_s(tmp_path, "a") == FIRST_S + 2
    for study, took_s in (("b", 7), ("a", 5)):
        record = tmp_path / study / "measure/cell/1/run.json"
        record.parent.mkdir(parents=True)
        record.write_text("{}")
        assert longest_run_s(tmp_path, "a") > 2 + 5, "a record that cannot be read says nothing"
        record.write_text(json.dumps(run_of(took_s)))
        assert longest_run_s(tmp_path, "a") == took_s + 2


def run_of(took_s: float) -> dict:
    """The part of a run record that says how long the run took."""
    clock = {"utc": "2026-11-27T12:00:00+00:00", "monotonic_ns": 5}
    window = {"end_monotonic_ns": 5 + round(took_s * 1e9)}
    return {"status": "ok", "windows": {"process": window}, "clock": clock, "cool_down_s": 0.0}
