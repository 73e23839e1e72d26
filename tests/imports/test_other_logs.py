"""Logs of perf stat and codecarbon, plain watts, epochs of a training; well-formed and not."""

from pathlib import Path

import numpy as np
import pytest
from published_data import raw_data

from framewatt.base.errors import FramewattError
from framewatt.imports.contract import Log, Options
from framewatt.imports.readers import READERS

PERF = """
 Performance counter stats for 'system wide':

        188,753.25 Joules power/energy-pkg/
         25,541.41 Joules power/energy-ram/

    2575.763113276 seconds time elapsed

"""
CODECARBON = """timestamp,run_id,duration,emissions,cpu_power,cpu_energy,gpu_energy,ram_energy,energy_consumed
2026-01-01T00:01:40,a,100.0,0.01,42.5,0.001,0.002,0.0,0.003
"""
EPOCHS = """epoch;precision;recall;accuracy;f1;timestamp
0;0.2;0.3;0.25;0.1;2026-01-01 00:00:20
1;0.4;0.5;0.45;0.3;2026-01-01 00:00:30
"""
NAMES = {"precision_macro": "precision", "recall_macro": "recall", "f1_macro": "f1"}


def read(folder: Path, reader: str, text: str, **options: object) -> Log:
    path = folder / "log"
    path.write_text(text)
    return READERS[reader](path, Options(**options))


def told(folder: Path, reader: str, text: str, **options: object) -> str:
    with pytest.raises(FramewattError) as error:
        read(folder, reader, text, **options)
    assert str(error.value).startswith(f"{folder / 'log'}: ")
    return str(error.value)


def counters(log: Log) -> dict[str, list[float]]:
    return {c.domain: log.trace.read_channel(i)[1].tolist() for i, c in enumerate(log.trace.channels)}


def test_a_total_of_perf_is_a_counter_with_two_readings(tmp_path: Path) -> None:
    log = read(tmp_path, "perf", PERF)
    assert counters(log) == {"cpu:package": [0, 188753.25], "cpu:dram": [0, 25541.41]}
    assert log.trace.read_channel(0)[0].tolist() == [0, 2_575_763_113_276]
    assert log.duration_s == 2575.763113276


def test_perf_tells_sockets_apart(tmp_path: Path) -> None:
    text = (
        "S0 18 1,000.50 Joules power/energy-pkg/\nS1 18 2000.25 Joules power/energy-pkg/\n 10.0 seconds time elapsed\n"
    )
    assert counters(read(tmp_path, "perf", text)) == {"cpu:package-0": [0, 1000.5], "cpu:package-1": [0, 2000.25]}


def test_what_perf_did_not_count_is_unknown(tmp_path: Path) -> None:
    text = PERF.replace("25,541.41 Joules", "<not counted> Joules")
    assert np.isnan(counters(read(tmp_path, "perf", text))["cpu:dram"][1])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("188,753.25", "188753,25", "line 4: found '188753,25' (a comma as decimal mark?)"),
        ("188,753.25", "188.753,25", "line 4: found '188.753,25' (a comma as decimal mark?)"),
        ("2575.763113276 seconds time elapsed", "2575.7631", "found no seconds time elapsed"),
        ("Joules", "W", "found no joules"),
        ("energy-ram", "energy-pkg", "line 5: found power/energy-pkg/ a second time"),
    ],
)
def test_perf_that_is_not_whole_is_told(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in told(tmp_path, "perf", PERF.replace(old, new))


def test_watts_come_with_or_without_their_unit(tmp_path: Path) -> None:
    for text in ("5.24 W\n27.25 W\n", "5.24\n27.25\n", "5240 mW\n27250 mW\n", "5.24 W\n\n27.25 W\n"):
        log = read(tmp_path, "watts", text, interval_s=2)
        assert log.trace.value == pytest.approx([5.24, 27.25])
        assert log.trace.monotonic_ns.tolist() == [0, 2_000_000_000]
        assert log.paced


def test_watts_that_were_not_read_are_unknown(tmp_path: Path) -> None:
    log = read(tmp_path, "watts", "5 W\n[N/A]\n6 W\n", interval_s=1)
    assert np.isnan(log.trace.value[1])


def test_watts_cut_short(tmp_path: Path) -> None:
    log = read(tmp_path, "watts", "5.24 W\n5.25 W\n5.", interval_s=1)
    assert log.trace.value.tolist() == [5.24, 5.25]
    assert log.flags == ("line 3 of log is cut short and left out",)
    log = read(tmp_path, "watts", "5.24\n5.25\n5.2", interval_s=1)
    assert log.flags == ("line 3 of log has no end, and may be cut short",)


@pytest.mark.parametrize("line", ["5,24 W", "5240 mW", "5.24", "5 MiB", "watts"])
def test_a_line_that_is_no_power_is_named(tmp_path: Path, line: str) -> None:
    assert f"line 2: found '{line}'" in told(tmp_path, "watts", f"5.24 W\n{line}\n5.24 W\n", interval_s=1)


def test_watts_need_an_interval_and_readings(tmp_path: Path) -> None:
    assert "state the seconds" in told(tmp_path, "watts", "5 W\n")
    assert "empty" in told(tmp_path, "watts", "\n", interval_s=1)
    with pytest.raises(FramewattError, match="cannot be read: No such file"):
        READERS["watts"](tmp_path / "absent", Options(interval_s=1))


def test_codecarbon_estimates_what_the_study_does_not_say_it_measured(tmp_path: Path) -> None:
    log = read(tmp_path, "codecarbon", CODECARBON)
    assert counters(log) == {"cpu:package": [0, pytest.approx(3600)], "gpu:all": [0, pytest.approx(7200)]}
    assert {c.domain: c.estimated for c in log.trace.channels} == {"cpu:package": True, "gpu:all": False}
    assert log.duration_s == 100
    assert log.trace.monotonic_ns.min() == 1_767_225_600_000_000_000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.001", '"0,001"', "line 2: found cpu_energy '0,001' (a comma as decimal mark?)"),
        (",0.003\n", "", "line 2: found 8 fields (cut short?)"),
        ("0.001,0.002", "0,0", "line 2: found no energy above 0"),
        ("duration", "seconds", "line 1: found no column duration"),
    ],
)
def test_a_bad_row_of_codecarbon_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in told(tmp_path, "codecarbon", CODECARBON.replace(old, new))


def test_one_row_of_codecarbon_is_one_run(tmp_path: Path) -> None:
    two = CODECARBON + CODECARBON.splitlines()[1].replace("0.002", "0.004") + "\n"
    assert "found 2 rows" in told(tmp_path, "codecarbon", two)
    assert counters(read(tmp_path, "codecarbon", two, drop_head=1))["gpu:all"][1] == pytest.approx(14400)


def test_epochs_at_whole_seconds_are_told(tmp_path: Path) -> None:
    told_of = ("epochs end at whole seconds, so that their edges may be up to a second off",)
    assert read(tmp_path, "epochs", EPOCHS, columns=NAMES).flags == told_of
    assert read(tmp_path, "epochs", EPOCHS.replace(":30", ":30.5"), columns=NAMES).flags == ()


def test_epochs_end_and_have_metrics(tmp_path: Path) -> None:
    log = read(tmp_path, "epochs", EPOCHS, columns=NAMES)
    assert [e.end_ns for e in log.epochs] == [1_767_225_620_000_000_000, 1_767_225_630_000_000_000]
    assert log.epochs[1].metrics == {"accuracy": 0.45, "precision_macro": 0.4, "recall_macro": 0.5, "f1_macro": 0.3}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("00:00:30", "00:00:10", "line 3: found 2026-01-01 00:00:10, not after the epoch above"),
        ("0.45", "0,45", "line 3: found accuracy '0,45' (a comma as decimal mark?)"),
        ("0.25;", "", "line 2: found 5 fields; allowed: 6"),
        ("timestamp", "time", "line 1: found no column 'timestamp'"),
    ],
)
def test_a_bad_row_of_epochs_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in told(tmp_path, "epochs", EPOCHS.replace(old, new), columns=NAMES)


def test_reads_the_logs_of_a_published_study() -> None:
    folder = raw_data("prengdl", "measurements_train") / "measurements_train"
    perf = [READERS["perf"](path, Options()) for path in sorted(folder.glob("*_perf_*.txt"))]
    watts = [READERS["watts"](path, Options(interval_s=1)) for path in sorted(folder.glob("*_nvidia_smi_*.txt"))]
    assert len(perf) == len(watts) == 120
    assert all(set(counters(log)) == {"cpu:package", "cpu:dram"} for log in perf)
    assert sum(len(log.trace.value) for log in watts) == 410_947
