"""A meter of its own, by the file it appends to."""

import math
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.meters.external import External, Log

S = 1_000_000_000


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """This machine's clocks: 100 s monotonic is 2026-01-01T00:00:00 UTC."""
    now = {"monotonic": 100 * S, "wall": 1_767_225_600 * S}
    monkeypatch.setattr("time.monotonic_ns", lambda: now["monotonic"])
    monkeypatch.setattr("time.time_ns", lambda: now["wall"])
    return now


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


def meter(path: Path, **change: object) -> External:
    path.write_text("time,power_w\n")
    meter = External(Log(path, **{"lag_s": 0.0, "period_s": 0.01, **change}))
    meter.open()
    return meter


def test_its_clock_is_aligned_by_the_stated_offset(clocks: dict[str, int], tmp_path: Path) -> None:
    wall = meter(tmp_path / "log.csv", offset_s=-60.0)
    append(tmp_path / "log.csv", "1767225661.5,42.5", "2026-01-01T00:01:02,43")
    assert wall.read() == [(round(101.5 * S), 0, 42.5), (102 * S, 0, 43.0)]


def test_setting_the_wall_clock_moves_nothing(clocks: dict[str, int], tmp_path: Path) -> None:
    wall = meter(tmp_path / "log.csv")
    clocks["wall"] += 3600 * S
    append(tmp_path / "log.csv", "1767225601,42")
    assert wall.read() == [(101 * S, 0, 42.0)]


def test_half_a_line_waits_for_its_other_half(clocks: dict[str, int], tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    wall = meter(path)
    path.write_text(path.read_text() + "176722560")
    assert wall.read() == []
    path.write_text(path.read_text() + "1,42\n")
    assert wall.read() == [(101 * S, 0, 42.0)]


def test_a_value_that_is_none_is_a_failed_read(clocks: dict[str, int], tmp_path: Path) -> None:
    wall = meter(tmp_path / "log.csv")
    append(tmp_path / "log.csv", "1767225601,OVERLOAD", "1767225602,")
    assert [math.isnan(value) for _, _, value in wall.read()] == [True, True]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["yesterday,1"], r"'yesterday' is not a time\. Use seconds since 1970, or ISO 8601"),
        (
            ["1767225602,1", "1767225601,1"],
            r"the time 1767225601 is after a later time\. Use a log with ascending times",
        ),
    ],
)
def test_times_that_make_no_sense_are_errors(
    clocks: dict[str, int], tmp_path: Path, lines: list[str], message: str
) -> None:
    wall = meter(tmp_path / "log.csv")
    append(tmp_path / "log.csv", *lines)
    with pytest.raises(FramewattError, match=message):
        wall.read()


def test_what_is_missing_is_reported_by_its_key(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    assert External(Log(path)).available()[1].startswith("instruments.external.path: ")
    path.write_text("when,watts\n")
    assert External(Log(path)).available() == (
        False,
        f"instruments.external.time_column: 'time' is not a column of {path}. Use one of: when, watts.",
    )
