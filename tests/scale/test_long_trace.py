"""`make scale TRACE=…`: one long trace, counted a channel at a time and in memory."""

import sys
from pathlib import Path

import pytest

from scale import long_trace
from scale.stages import Cost


def test_a_trace_is_counted_both_ways_and_both_are_told(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["long_trace", "--readings", "40000"])
    long_trace.main()
    *steps, same = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in steps] == list(long_trace._STEPS)
    assert same.startswith("the same 50 windows both ways: ")


def test_too_few_readings_for_fifty_windows_are_refused(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["long_trace", "--readings", "3"])
    with pytest.raises(SystemExit, match="2"):
        long_trace.main()
    assert "found 3; allowed: at least 40000" in capsys.readouterr().err


def test_other_windows_by_another_way_are_an_error(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["long_trace", "--readings", "40000"])
    monkeypatch.setattr(long_trace, "cost_of", _of_its_own)
    with pytest.raises(SystemExit, match="found other windows by another way of reading"):
        long_trace.main()


def _of_its_own(words: list[str], folder: Path, **variables: str) -> Cost:
    (folder / f"{len(list(folder.iterdir()))}.sha256").write_text(words[-1])
    return Cost(0, 0, 0)
