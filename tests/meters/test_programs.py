"""Meters that are other programs: what they print, line by line, and what is missing where they cannot run."""

import math
import os
import time
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.meters.nvidia_smi import NvidiaSmi, parse_value
from framewatt.meters.perf import IntervalParser, Perf

S = 1_000_000_000
HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""


CSV = "     {second:.9f},S{socket},4,{value},Joules,power/energy-pkg/,100123456,100.00,,"
JSON = (
    '{{"interval" : {second:.9f}, "socket" : "S{socket}", "aggregate-number" : 4, "counter-value" : "{value}", '
    '"unit" : "Joules", "event" : "power/energy-pkg/", "event-runtime" : 100123456, "pcnt-running" : 100.00}}'
)


def perf_lines(second: float, *joules: str) -> list[str]:
    """An interval of two sockets, as perf 6.1 prints it; in both of its forms in turns, so that each test sees both."""
    return [
        form.format(second=second, socket=socket, value=value)
        for (socket, value), form in zip(enumerate(joules), (CSV, JSON), strict=False)
    ]


@pytest.fixture
def parser() -> IntervalParser:
    parser = IntervalParser()
    assert parser.learn([*perf_lines(0.1, "5.00", "2.00"), *perf_lines(0.2, "5.00", "2.00")])
    return parser


def test_the_first_interval_shows_the_sockets() -> None:
    parser = IntervalParser()
    assert not parser.learn(perf_lines(0.1, "5.00", "2.00"))
    assert parser.learn([*perf_lines(0.1, "5.00", "2.00"), *perf_lines(0.2, "5.00", "2.00")])
    assert parser.domains == ["cpu:package-0", "cpu:package-1"]


def test_intervals_add_up_to_a_counter(parser: IntervalParser) -> None:
    lines = [*perf_lines(0.1, "5.00", "2.00"), *perf_lines(0.2, "7.50", "2.00")]
    assert parser.readings(lines, now_ns=10 * S) == [
        (round(9.9 * S), 0, 5.0),
        (round(9.9 * S), 1, 2.0),
        (10 * S, 0, 12.5),
        (10 * S, 1, 4.0),
    ]


def test_lines_that_come_late_are_not_later_than_they_are(parser: IntervalParser) -> None:
    (first, _) = parser.readings(perf_lines(0.1, "5.00", "2.00"), now_ns=10 * S)
    (late, _) = parser.readings(perf_lines(0.2, "5.00", "2.00"), now_ns=12 * S)
    assert late[0] - first[0] == pytest.approx(0.1 * S)


def test_a_better_guess_of_the_start_does_not_set_time_back(parser: IntervalParser) -> None:
    (late, _) = parser.readings(perf_lines(0.1, "5.00", "2.00"), now_ns=12 * S)
    (prompt, _) = parser.readings(perf_lines(0.2, "5.00", "2.00"), now_ns=round(10.2 * S))
    assert prompt[0] >= late[0]


@pytest.mark.parametrize("value", ["<not counted>", "<not supported>", "-1.00"])
def test_an_interval_that_was_not_counted_sets_the_counter_back(parser: IntervalParser, value: str) -> None:
    lines = [*perf_lines(0.1, "5.00", "2.00"), *perf_lines(0.2, value, "2.00"), *perf_lines(0.3, "5.00", "2.00")]
    first, _, broken, other, after, _ = (joules for _, _, joules in parser.readings(lines, now_ns=S))
    assert broken < first
    assert after - broken == pytest.approx(5)
    assert other == 4


def test_what_is_no_reading_is_left_out(parser: IntervalParser) -> None:
    assert parser.readings(["", "# started on …", "0.1,S0,4,1.00,Joules,power/energy-gpu/,1,1,,"], now_ns=S) == []


def test_perf_states_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Perf(events=tmp_path / "events", paranoid=tmp_path / "paranoid")
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert "is not installed (Debian: apt install linux-perf)" in meter.available()[1]
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/perf")
    assert "lists no energy-pkg" in meter.available()[1]
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "energy-pkg").touch()
    (tmp_path / "paranoid").write_text("2\n")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert meter.available() == (
        False,
        "only root may count system-wide; grant it with: sudo sysctl kernel.perf_event_paranoid=0",
    )
    (tmp_path / "paranoid").write_text("0\n")
    assert meter.available() == (True, "perf stat counts energy-pkg")


def program(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name, before all others on the path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_perf_that_refuses_is_an_error_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "perf", "echo 'event syntax error: no such thing'; exit 129", monkeypatch)
    (tmp_path / "energy-pkg").touch()
    (tmp_path / "paranoid").write_text("0\n")
    meter = Perf(events=tmp_path, paranoid=tmp_path / "paranoid")
    with pytest.raises(FramewattError, match="meter perf: perf stat printed 'event syntax error: no such thing'"):
        meter.open()


@pytest.mark.parametrize(("newer", "digit_j"), [(True, 1e-6), (False, 0.01)])
def test_a_line_has_as_many_digits_as_perf_can_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newer: bool, digit_j: float
) -> None:
    # It is first tried on the program `true`, to see whether it knows the option -j.
    form, tried = (JSON, "*true) exit 0") if newer else (CSV, "*-j*) exit 129")
    lines = " ".join(f"'{form.format(second=s, socket=0, value='0.04')}'" for s in (0.1, 0.2, 0.3))
    program(tmp_path, "perf", f"case \"$*\" in {tried};; esac; printf '%s\\n' {lines}; exec sleep 86400", monkeypatch)
    (tmp_path / "energy-pkg").touch()
    (tmp_path / "paranoid").write_text("0\n")
    meter = Perf(events=tmp_path, paranoid=tmp_path / "paranoid")
    monkeypatch.setattr("framewatt.meters.perf._FIRST_LINES_S", HANGS_S)
    # A program that ignores Ctrl-C, as one that a background shell started does, is killed.
    monkeypatch.setattr("framewatt.meters.subprocess_lines._STOP_TIMEOUT_S", 0.1)
    (channel,) = meter.open()
    meter.end()
    assert (channel.resolution, channel.rounds_each) == (digit_j, True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("56.10 W", 56.1),
        ("1500 mW", 1.5),
        ("80 %", 80),
        ("1024 MiB", 2.0**30),
        ("55", 55),
        ("1980 MHz", 1980),
        ("[N/A]", math.nan),
        ("[GPU is lost]", math.nan),
        ("12 furlongs", math.nan),
        ("", math.nan),
    ],
)
def test_values_are_parsed_with_their_units(text: str, value: float) -> None:
    assert parse_value(text) == pytest.approx(value, nan_ok=True)


LIST = "\\n".join(
    (
        "GPU 0: NVIDIA H100 (UUID: GPU-aaa)",
        "  MIG 1g.10gb     Device  0: (UUID: MIG-bbb)",
        "GPU 1: NVIDIA H100 (UUID: GPU-ccc)",
    )
)


@pytest.mark.parametrize(
    ("visible", "domains"), [(None, ["gpu:0", "gpu:1"]), ("1", ["gpu:1"]), ("MIG-bbb", ["gpu:0"]), ("GPU-c", ["gpu:1"])]
)
def test_nvidia_smi_reads_only_the_gpus_that_the_run_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, domains: list[str]
) -> None:
    program(
        tmp_path,
        "nvidia-smi",
        f'if [ "$1" = -L ]; then printf \'{LIST}\\n\'; else echo "$*" > {tmp_path}/asked; exec sleep 86400; fi',
        monkeypatch,
    )
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    meter = NvidiaSmi(period_s=0.01)
    channels = meter.open()
    assert list(dict.fromkeys(channel.domain for channel in channels)) == domains
    asked, deadline = tmp_path / "asked", time.monotonic() + HANGS_S
    while not (asked.exists() and asked.read_text().endswith("\n")):
        assert time.monotonic() < deadline, "the program was not started"
        time.sleep(0.01)
    meter.end()
    assert f"--id={','.join(domain.removeprefix('gpu:') for domain in domains)} " in asked.read_text()
    assert "--loop-ms=10" in asked.read_text()
    assert {channel.note != "" for channel in channels if channel.domain == "gpu:0"} <= {True}


def test_a_driver_that_does_not_answer_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9", monkeypatch)
    assert NvidiaSmi().available() == (False, "nvidia-smi failed (NVIDIA-SMI has failed). Check NVIDIA's driver.")
